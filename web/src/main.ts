// Puts the page together.

import "./style.css";

import { Quaternion, Vector3 } from "three";

import { Bar } from "./bar";
import { addressOf, Connection } from "./connection";
import { byId, element } from "./dom";
import { Driver, gamepad, REST } from "./driving";
import { readLink, writeLink } from "./link";
import type { BottomCard, Event, Hello, Samples, Sea, SensorCard } from "./messages";
import { MiniMap } from "./minimap";
import { Panel } from "./panel";
import { place, turned } from "./scene/axes";
import { CAMERAS, type CameraKind } from "./scene/cameras";
import { QUALITIES, World } from "./scene/world";
import { Buffer, Layout, numbersOf, type State, vehicleIndex } from "./state";
import { Film, save } from "./video";
import { WeatherDesk } from "./weather";

/** Everything that belongs to one greeting of the server. */
class Page {
  readonly layout: Layout;
  readonly buffer: Buffer;
  readonly world: World;
  readonly panel: Panel;
  readonly bar: Bar;
  readonly driver: Driver;
  private readonly weather: WeatherDesk | null;
  readonly map: MiniMap;
  waypointMode = false;
  private readonly film: Film;
  private allRays = false;
  private run = 0;
  private before = performance.now();

  constructor(
    readonly hello: Hello,
    readonly connection: Connection,
  ) {
    this.layout = new Layout(hello);
    this.buffer = new Buffer(this.layout);
    const canvas = byId("view") as HTMLCanvasElement;
    this.world = new World(canvas, byId("labels"), hello, this.layout, (name, steppedDown) => {
      byId("quality").textContent = `picture ${name}`;
      if (steppedDown) say(`The picture is now drawn more coarsely (${name}), to keep it fluent.`, 4);
    });
    const send = connection.send.bind(connection);
    this.driver = new Driver(send, () => this.vehicle);
    this.film = new Film(canvas, (film) => {
      this.bar.showFilm(false);
      if (!film.size) {
        say("Nothing was drawn while the film ran.", 4);
        return;
      }
      const address = URL.createObjectURL(film);
      save(`${this.name}.${film.type.includes("mp4") ? "mp4" : "webm"}`, address);
      setTimeout(() => URL.revokeObjectURL(address), 10_000);
    });
    this.map = new MiniMap(hello, this.layout);
    byId("map").replaceChildren(this.map.canvas);
    const stateAt = (time: number) => this.buffer.moment(time);
    this.panel = new Panel(byId("panel"), hello, this.layout, send, stateAt, {
      selected: () => {
        this.driver.change();
        this.world.cameras.jump();
      },
      sensor: (card) => this.chooseRays(card),
    });
    this.bar = new Bar(byId("bar"), byId("tools"), hello, {
      send,
      camera: (kind) => this.chooseCamera(kind),
      sun: (name) => this.world.setSun(name),
      release: () => this.release(),
      waypointMode: (on) => (this.waypointMode = on),
      screenshot: () => this.screenshot(),
      film: () => this.toggleFilm(),
      link: () => this.copyLink(),
      arrows: (on) => (this.world.arrows.group.visible = on),
      rays: (on) => {
        this.allRays = on;
        this.chooseRays(this.panel.sensors.open);
      },
      help: () => help(),
      panel: (on) => this.showPanel(on),
    }, this.driver);
    this.showPanel(innerWidth > 600 || !hello.outside); // on a phone the picture comes first
    byId("scenario").textContent = hello.scenario;
    const role = hello.role === "operator" ? "" : `, ${hello.role}`;
    byId("mode").textContent = hello.mode + (hello.may.length ? role : ", watching");
    this.weather = hello.weather && hello.may.includes("weather") ? new WeatherDesk(hello.weather, hello.seed, send) : null;
    byId("weather-place").replaceChildren(...(this.weather ? [this.weather.root] : []));
    document.body.classList.toggle("inside", !hello.outside || !this.world.renderer);
    if (hello.outside && !this.world.renderer) {
      say("This browser draws no WebGL: instruments, charts and map only. Its settings may have it switched off.", 0);
    }
    this.restore();
  }

  get vehicle(): string {
    return this.hello.vehicles[this.panel.selected]!.name;
  }

  private get length(): number {
    return this.hello.vehicles[this.panel.selected]!.length;
  }

  private restore(): void {
    const link = readLink(location.hash);
    if (link.vehicle) this.panel.select(vehicleIndex(this.hello.vehicles, link.vehicle));
    this.chooseCamera("chase");
    if (link.eye) {
      this.world.cameras.eye = link.eye;
      (byId("camera") as HTMLSelectElement).value = link.eye.kind;
    }
    if (link.sun) {
      this.world.setSun(link.sun);
      (byId("sun") as HTMLSelectElement).value = this.world.sun;
    }
    if (link.sensor) this.panel.sensors.showByName(link.sensor);
    if (link.time !== undefined && link.time !== null && this.hello.mode === "playback") {
      this.connection.send({ type: "seek", time: link.time });
    }
    const quality = QUALITIES.findIndex((q) => q.name === new URLSearchParams(location.search).get("quality"));
    if (quality >= 0) {
      this.world.fixed = true;
      this.world.setQuality(quality, false);
    }
  }

  private address(): string {
    const hash = writeLink({
      vehicle: this.vehicle,
      eye: this.world.cameras.eye,
      sun: this.world.sun,
      sensor: this.panel.sensors.open?.name ?? null,
      time: this.hello.mode === "playback" ? this.world.time : null,
    });
    return `${location.pathname}${location.search}#${hash}`;
  }

  /** Write the view into the address: a page that is loaded again shows it again. */
  keepView(): void {
    history.replaceState(null, "", this.address());
  }

  private copyLink(): void {
    this.keepView();
    // elsewhere than on loopback or HTTPS a page has no clipboard
    if (isSecureContext) void navigator.clipboard.writeText(location.href).catch(() => undefined);
    say("The link to this view is in the address bar.", 3);
  }

  private get name(): string {
    return `${this.hello.scenario}-${this.world.time.toFixed(1)}s`;
  }

  screenshot(): void {
    save(`${this.name}.png`, (byId("view") as HTMLCanvasElement).toDataURL("image/png"));
  }

  private toggleFilm(): boolean {
    try {
      return this.film.toggle();
    } catch (error) {
      say(error instanceof Error ? error.message : String(error), 5);
      return false;
    }
  }

  showPanel(on: boolean): void {
    document.body.classList.toggle("alone", !on);
    this.bar.showPanel(on);
    this.world.resize(); // on a phone the picture makes room
  }

  private get suite(): SensorCard[] {
    return this.hello.suites[this.hello.vehicles[this.panel.selected]!.suite] ?? [];
  }

  private chooseRays(open: SensorCard | null): void {
    this.world.rays.choose(this.allRays ? this.suite : open ? [open] : []);
  }

  /** Samples of the open sensor: to its tab, and what it met into the picture. */
  sense(samples: Samples): void {
    const card = this.panel.sensors.open;
    if (!this.panel.sensors.take(samples) || !card) return;
    this.world.rays.measured(card.name, samples.values[samples.values.length - 1] ?? []);
    if (samples.picture?.form !== "points") return;
    const numbers = this.buffer.moment(samples.times[samples.times.length - 1]!) ?? this.buffer.last?.numbers;
    if (!numbers) return;
    const of = (part: string) => this.layout.of(numbers, this.panel.selected, part);
    const cloud = new Float32Array(numbersOf(samples.picture.data));
    const [p, turn] = [place(of("position"), new Vector3()), turned(of("attitude"), new Quaternion())];
    this.world.rays.met(card, cloud, p, turn);
  }

  chooseCamera(kind: CameraKind): void {
    this.world.cameras.choose(kind, this.length);
    (byId("camera") as HTMLSelectElement).value = kind;
  }

  nextCamera(): void {
    const i = CAMERAS.indexOf(this.world.cameras.eye.kind);
    this.chooseCamera(CAMERAS[(i + 1) % CAMERAS.length]!);
  }

  release(): void {
    this.driver.forget();
    this.world.mark(null);
    this.connection.send({ type: "release", vehicle: this.vehicle });
  }

  sendTo(x: number, y: number): void {
    const at = this.world.pick(x, y);
    if (!at) return;
    this.world.mark(at);
    const surge = Math.min(0.4 * Math.sqrt(9.81 * this.length), 8);
    this.connection.send({ type: "waypoint", vehicle: this.vehicle, north: at[0], east: at[1], surge });
    this.bar.setWaypoint(false);
  }

  changeSea(sea: Sea): void {
    this.world.changeSea(sea);
    if (sea.weather) this.weather?.show(sea.weather);
  }

  changeBottom(bottom: BottomCard): void {
    this.hello.bottom = bottom;
    this.world.changeBottom(bottom);
    this.map.repaint();
  }

  take(state: State): void {
    if (state.run !== this.run) {
      if (this.run && this.hello.mode === "live") this.panel.clearEvents(state.run);
      this.run = state.run;
      this.world.clearTrails();
      this.panel.clearCharts();
    }
    this.buffer.take(state, performance.now() / 1000);
    this.panel.keep(state.time, state.numbers);
  }

  frame(): void {
    const now = performance.now();
    const seconds = Math.min((now - this.before) / 1000, 0.2);
    this.before = now;
    const flying = this.world.cameras.eye.kind === "free";
    if (flying) this.world.cameras.fly(this.driver.axes(), seconds);
    if (this.hello.mode === "live" && this.hello.may.includes("stick")) {
      this.driver.hear(gamepad());
      this.driver.update(now, flying ? REST : this.driver.axes());
    }
    const shown = this.buffer.at(now / 1000);
    const last = this.buffer.last;
    if (!shown || !last) return;
    if (this.hello.outside) {
      for (const numbers of this.buffer.passed(this.world.time, shown.time)) this.world.leave(numbers);
      this.world.draw(shown.time, shown.numbers, this.panel.selected, seconds);
    }
    this.panel.show(shown.time, shown.numbers, now / 1000);
    const track = this.world.trails[this.panel.selected]?.track ?? new Float32Array(0);
    this.map.draw(shown.numbers, this.panel.selected, track, now / 1000);
    this.bar.show(last, shown.time);
    byId("clock").textContent = `${shown.time.toFixed(1)} s`;
    byId("pace").textContent = last.ended ? "ended" : last.playing ? `${last.speed.toPrecision(2)}×` : "paused";
  }
}

const KEYS = [
  ["space, .", "play or pause; one frame"],
  ["W A S D, arrows", "ahead, astern, to port, to starboard; of a free camera: fly"],
  ["R, F", "up, down"],
  ["G", "give the vehicle back to its own autopilot"],
  ["C", "next camera"],
  ["V, B", "arrows; rays of all sensors"],
  ["I, P", "instruments; save a picture"],
  ["tab", "next control; on the picture: next vehicle, shift and tab leaves it"],
  ["on a chart", "arrows pan, + and − zoom, 0 follows the run"],
] as const;

/** Show or hide the list of keys. */
function help(): void {
  const box = byId("help") as HTMLDialogElement;
  if (box.open) {
    box.close();
    return;
  }
  const rows = KEYS.flatMap(([keys, what]) => [element("dt", {}, keys), element("dd", {}, what)]);
  box.replaceChildren(element("dl", {}, ...rows), element("p", { class: "hint" }, "Escape closes this."));
  box.showModal();
}

let page: Page | null = null;
const shownOnDemand = { on: false };
let saying = 0;

/** Whether two greetings are of the same run; its weather may have changed. */
function alike(one: Hello, other: Hello): boolean {
  const lasting = (hello: Hello) =>
    JSON.stringify({ ...hello, waves: null, weather: null, visibility: 0, wind_speed: 0 });
  return lasting(one) === lasting(other);
}

function say(text: string, seconds: number): void {
  const notice = byId("notice");
  notice.textContent = text;
  notice.hidden = false;
  clearTimeout(saying);
  if (seconds > 0) saying = window.setTimeout(() => (notice.hidden = true), 1000 * seconds);
}

const connection = new Connection(addressOf(location), {
  hello(hello: Hello) {
    if (page && alike(page.hello, hello)) {
      page.buffer.clear();
      page.world.changeSea(hello);
      page.panel.clearEvents();
      page.panel.sensors.watch();
      return; // the same run as before the connection broke
    }
    if (page) {
      page.keepView();
      location.reload();
    } else page = new Page(hello, connection);
  },
  state: (state) => page?.take(state),
  event: (event: Event) => page?.panel.event(event),
  refused: (text) => say(text.split("\n")[0] ?? text, 6),
  seats: (viewers) => (byId("seats").textContent = viewers > 1 ? `${viewers} watching` : ""),
  sea: (sea) => page?.changeSea(sea),
  bottom: (bottom) => page?.changeBottom(bottom),
  samples: (samples) => page?.sense(samples),
  history: (history) => page?.panel.recall(history),
  connected: (there, text) => {
    const back = document.body.classList.contains("lost");
    document.body.classList.toggle("lost", !there);
    if (!there) {
      page?.driver.forget();
      say(text, 0);
    } else if (back) byId("notice").hidden = true;
  },
});

function tick(): void {
  if (!shownOnDemand.on) page?.frame();
  requestAnimationFrame(tick);
}
requestAnimationFrame(tick);

const canvas = byId("view");
canvas.addEventListener("webglcontextlost", () => say("The graphics driver dropped the picture; waiting for it.", 0));
canvas.addEventListener("webglcontextrestored", () => say("The picture is back.", 3));
window.addEventListener("resize", () => page?.world.resize());
window.addEventListener("blur", () => page?.driver.letGo());
// Who used a control with the mouse goes on with the keys of the page, not with those of the control.
let pointing = false;
window.addEventListener("pointerdown", () => (pointing = true), true);
window.addEventListener("keydown", () => (pointing = false), true);
for (const [used, controls] of [["click", "button, summary"], ["change", "input, select"]] as const) {
  window.addEventListener(used, (e) => {
    const scrubs = e.target === document.getElementById("timeline"); // its keys go on from there
    if (pointing && !scrubs && e.target instanceof HTMLElement && e.target.matches(controls)) e.target.blur();
  });
}

/** Whether a key is for the control that has the focus. */
function isItsOwn({ target, code }: KeyboardEvent): boolean {
  const pressed = code === "Space" || code === "Enter" ? ", button, summary" : "";
  return target instanceof HTMLElement && target.matches(`input, select${pressed}`);
}

window.addEventListener("keydown", (e) => {
  if (!page || isItsOwn(e) || e.ctrlKey || e.metaKey || e.altKey) return;
  if (page.driver.key(e.code, true)) e.preventDefault();
  else if (e.code === "Space") {
    e.preventDefault();
    page.bar.toggle();
  } else if (e.code === "Period") page.connection.send({ type: "step" });
  else if (e.code === "KeyC") page.nextCamera();
  else if (e.code === "KeyG") page.release();
  else if (e.code === "KeyV") page.bar.push("arrows");
  else if (e.code === "KeyB") page.bar.push("rays");
  else if (e.code === "KeyI") page.bar.push("panel");
  else if (e.code === "KeyP") page.screenshot();
  else if (e.key === "?") help();
  else if (e.code === "Tab" && !e.shiftKey && e.target === canvas && page.hello.vehicles.length > 1) {
    e.preventDefault();
    page.panel.select((page.panel.selected + 1) % page.hello.vehicles.length);
  }
});
window.addEventListener("keyup", (e) => page?.driver.key(e.code, false));
canvas.addEventListener("click", (e) => {
  if (page && page.hello.mode === "live" && (page.waypointMode || e.shiftKey)) page.sendTo(e.clientX, e.clientY);
});

// What the browser tests and the screenshots look at.
Object.assign(window, { seatrial: { page: () => page, connection, shownOnDemand } });
