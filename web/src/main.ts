// Puts the page together.

import "./style.css";

import { Bar } from "./bar";
import { addressOf, Connection } from "./connection";
import { byId } from "./dom";
import { Driver, gamepad } from "./driving";
import { readLink, writeLink } from "./link";
import type { Event, Hello, Sea } from "./messages";
import { Panel } from "./panel";
import { CAMERAS, type CameraKind } from "./scene/cameras";
import { QUALITIES, World } from "./scene/world";
import { Buffer, Layout, type State, vehicleIndex } from "./state";
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
  waypointMode = false;
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
    this.panel = new Panel(byId("panel"), hello, this.layout, send, () => {
      this.driver.forget();
      this.world.cameras.jump();
    });
    this.bar = new Bar(byId("bar"), hello, {
      send,
      camera: (kind) => this.chooseCamera(kind),
      sun: (name) => this.world.setSun(name),
      release: () => this.release(),
      waypointMode: (on) => (this.waypointMode = on),
      screenshot: () => this.screenshot(),
      link: () => this.copyLink(),
    }, this.driver);
    byId("scenario").textContent = hello.scenario;
    this.weather = hello.weather && hello.may.includes("weather") ? new WeatherDesk(hello.weather, send) : null;
    byId("weather-place").replaceChildren(...(this.weather ? [this.weather.root] : []));
    document.body.classList.toggle("inside", !hello.outside);
    byId("mode").textContent = hello.mode + (hello.role === "operator" ? "" : `, ${hello.role}`);
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
      time: this.hello.mode === "playback" ? this.world.time : null,
    });
    return `${location.pathname}${location.search}#${hash}`;
  }

  private copyLink(): void {
    history.replaceState(null, "", this.address());
    void navigator.clipboard?.writeText(location.href).catch(() => undefined);
    say("The link to this view is in the address bar.", 3);
  }

  private screenshot(): void {
    const link = document.createElement("a");
    link.download = `${this.hello.scenario}-${this.world.time.toFixed(1)}s.png`;
    link.href = (byId("view") as HTMLCanvasElement).toDataURL("image/png");
    link.click();
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
    if (!this.world.changeSea(sea)) location.reload(); // a flat sea that has waves from now on
    if (sea.weather) this.weather?.show(sea.weather);
  }

  take(state: State): void {
    if (state.run !== this.run) {
      if (this.run && this.hello.mode === "live") this.panel.clearEvents();
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
    if (this.hello.mode === "live" && this.hello.control) {
      const pad = gamepad();
      if (pad && (pad.ahead || pad.starboard || pad.dive)) this.driver.stick = pad;
      this.driver.update(now);
    }
    const shown = this.buffer.at(now / 1000);
    const last = this.buffer.last;
    if (!shown || !last) return;
    this.world.draw(shown.time, shown.numbers, this.panel.selected, seconds);
    this.panel.show(shown.numbers, now / 1000);
    this.bar.show(last, shown.time);
    byId("clock").textContent = `${shown.time.toFixed(1)} s`;
    byId("pace").textContent = last.ended ? "ended" : last.playing ? `${last.speed.toPrecision(2)}×` : "paused";
  }
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
      page.panel.clearEvents();
      return; // the same run as before the connection broke
    }
    if (page) location.reload();
    else page = new Page(hello, connection);
  },
  state: (state) => page?.take(state),
  event: (event: Event) => page?.panel.event(event),
  refused: (text) => say(text.split("\n")[0] ?? text, 6),
  sea: (sea) => page?.changeSea(sea),
  seats: (viewers) => (byId("seats").textContent = viewers > 1 ? `${viewers} watching` : ""),
  connected: (there, text) => {
    document.body.classList.toggle("lost", !there);
    if (there) byId("notice").hidden = true;
    else say(text, 0);
  },
});

function tick(): void {
  if (!shownOnDemand.on) page?.frame();
  requestAnimationFrame(tick);
}
requestAnimationFrame(tick);

window.addEventListener("resize", () => page?.world.resize());
window.addEventListener("blur", () => page?.driver.letGo());
window.addEventListener("keydown", (e) => {
  const typing = e.target instanceof HTMLInputElement || e.target instanceof HTMLSelectElement;
  if (!page || typing || e.ctrlKey || e.metaKey || e.altKey) return;
  if (page.driver.key(e.code, true)) e.preventDefault();
  else if (e.code === "Space") {
    e.preventDefault();
    page.bar.toggle();
  } else if (e.code === "Period") page.connection.send({ type: "step" });
  else if (e.code === "KeyC") page.nextCamera();
  else if (e.code === "KeyG") page.release();
  else if (e.code === "Tab" && e.target === byId("view")) {
    e.preventDefault();
    page.panel.select((page.panel.selected + 1) % page.hello.vehicles.length);
  }
});
window.addEventListener("keyup", (e) => page?.driver.key(e.code, false));
byId("view").addEventListener("click", (e) => {
  if (page && page.hello.mode === "live" && (page.waypointMode || e.shiftKey)) page.sendTo(e.clientX, e.clientY);
});

// What the browser tests and the screenshots look at.
Object.assign(window, { seatrial: { page: () => page, connection, shownOnDemand } });
