// The panel: one vehicle's numbers, instruments, sensors, charts, faults and events.

import { Chart } from "./charts/chart";
import { button, element } from "./dom";
import { drawCompass, drawHorizon } from "./instruments";
import type { Event, Hello, History, Request, SensorCard } from "./messages";
import { SensorTabs } from "./sensors/tabs";
import type { Parts } from "./sensors/truth";
import { type Series, seriesOf } from "./charts/series";
import { euler, type Layout, numbersOf } from "./state";
import { units } from "./charts/units";
import { TimeWindow } from "./charts/window";

const DEGREES = 180 / Math.PI;
const MOST_EVENTS = 200;

export interface PanelListener {
  selected(index: number): void;
  /** The sensor whose tab is open now. */
  sensor(card: SensorCard | null): void;
}

export class Panel {
  selected = 0;
  readonly sensors: SensorTabs;
  readonly window = new TimeWindow();
  private readonly compass = element("canvas", { class: "dial", role: "img", "aria-label": "compass" });
  private readonly horizon = element("canvas", { class: "dial", role: "img", "aria-label": "artificial horizon" });
  private readonly numbers = element("dl", { id: "numbers" });
  private readonly actuators = element("div", { id: "actuators" });
  private readonly faults = element("div", { id: "faults" });
  private readonly mission = element("p", { id: "mission" });
  private readonly chartHost = element("div", { id: "charts" });
  private readonly list = element("ol", { id: "events", "aria-label": "events" });
  private readonly chooser = element("select", { id: "vehicle", "aria-label": "vehicle" });
  private readonly span = element("select", { id: "span", "aria-label": "length of the charts" });
  private readonly values = new Map<string, HTMLElement>();
  private sliders: HTMLInputElement[] = [];
  private bars: HTMLElement[] = [];
  private faultButtons: HTMLButtonElement[] = [];
  private charts: { chart: Chart; series: Series }[] = [];
  private drawn = 0;
  private chartsDrawn = 0;
  private recalled = "";

  constructor(
    private readonly root: HTMLElement,
    private readonly hello: Hello,
    private readonly layout: Layout,
    private readonly send: (request: Request) => void,
    stateAt: (time: number) => Float32Array | undefined,
    private readonly listener: PanelListener,
  ) {
    hello.vehicles.forEach((v, i) =>
      this.chooser.append(element("option", { value: String(i) }, `${v.name} (${v.kind})`)),
    );
    this.chooser.addEventListener("change", () => this.select(Number(this.chooser.value)));
    for (const [text, value] of [
      ["30 s", "30"],
      ["2 min", "120"],
      ["10 min", "600"],
      ["all", "0"],
    ] as const) {
      this.span.append(element("option", { value }, text));
    }
    this.span.value = hello.mode === "playback" ? "0" : "120";
    this.window.span = Number(this.span.value);
    this.window.marked = hello.mode === "playback";
    this.span.addEventListener("change", () => {
      this.window.span = Number(this.span.value);
      this.window.follow();
    });
    const partsAt = (time: number): Parts | undefined => {
      const numbers = stateAt(time);
      return numbers && ((part) => this.layout.of(numbers, this.selected, part));
    };
    this.sensors = new SensorTabs(send, this.window, partsAt, (card) => listener.sensor(card));
    root.replaceChildren(
      element("div", { class: "row" }, this.chooser),
      element("div", { class: "row dials" }, this.compass, this.horizon),
      this.numbers,
      this.mission,
      element("h2", {}, "Actuators"),
      this.actuators,
      this.faults,
      this.sensors.root,
      element("h2", { class: "row" }, "Charts ", this.span),
      this.chartHost,
      element("h2", {}, "Events"),
      this.list,
    );
    this.select(0);
  }

  /** Whether this page may ask for something: its role says, and what is shown. */
  private may(request: Request["type"]): boolean {
    return this.hello.mode === "live" && this.hello.may.includes(request);
  }

  select(index: number): void {
    this.selected = index;
    this.chooser.value = String(index);
    const card = this.hello.vehicles[index]!;
    this.values.clear();
    this.numbers.replaceChildren();
    const sea = this.hello.outside ? ["wave"] : [];
    const names = ["position", "depth", "speed", "heading", "roll, pitch", ...sea, "status"];
    for (const name of names) {
      const value = element("dd", { "data-value": name });
      this.values.set(name, value);
      this.numbers.append(element("dt", {}, name), value);
    }
    this.buildActuators();
    this.buildFaults();
    for (const { chart } of this.charts) chart.destroy();
    this.charts = seriesOf(card, index, this.layout, this.hello.outside).map((series) => {
      const host = element("div");
      this.chartHost.append(host);
      return { chart: new Chart(host, series, this.window), series };
    });
    this.recalled = "";
    if (this.hello.mode === "playback") this.send({ type: "recall", vehicle: card.name });
    this.listener.selected(index);
    this.sensors.choose(card.name, this.hello.suites[card.suite] ?? []);
  }

  /** All that a recording knows of the vehicle: its charts are whole then. */
  recall(history: History): void {
    const card = this.hello.vehicles[this.selected]!;
    if (history.vehicle !== card.name) return;
    this.recalled = history.vehicle;
    const times = [...new Float64Array(numbersOf(history.times))];
    const rows = new Float32Array(numbersOf(history.numbers));
    const width = rows.length / times.length;
    // the same numbers as in a state, which holds those of the vehicles before it as well
    const whole = new Float32Array(this.layout.length);
    const first = this.layout.of(whole, this.selected, "position").byteOffset / 4;
    for (const { chart, series } of this.charts) {
      const values = times.map((_, i) => {
        whole.set(rows.subarray(i * width, (i + 1) * width), first);
        return series.of(whole);
      });
      chart.fill(times, values);
    }
  }

  private buildActuators(): void {
    const card = this.hello.vehicles[this.selected]!;
    this.sliders = [];
    this.bars = [];
    this.actuators.replaceChildren();
    for (const channel of card.channels) {
      const bar = element("i");
      const slider = element("input", {
        type: "range",
        min: String(channel.low),
        max: String(channel.high),
        step: "any",
        title: `order ${channel.name}`,
        "aria-label": `order ${channel.name}`,
      });
      slider.disabled = !this.may("channels");
      slider.addEventListener("input", () =>
        this.send({
          type: "channels",
          vehicle: card.name,
          values: { [channel.name]: Number(slider.value) },
        }),
      );
      this.sliders.push(slider);
      this.bars.push(bar);
      const value = element("span", { class: "value" });
      this.values.set(`actuator ${channel.name}`, value);
      this.actuators.append(
        element(
          "label",
          {},
          element("span", { class: "name" }, channel.name.replaceAll("_", " ")),
          value,
          element("span", { class: "gauge" }, bar),
          slider,
        ),
      );
    }
  }

  private buildFaults(): void {
    const card = this.hello.vehicles[this.selected]!;
    this.faults.replaceChildren();
    this.faultButtons = [];
    if (!card.faults.length) return;
    this.faults.append(element("h2", {}, "Faults"));
    card.faults.forEach((fault) => {
      const made = button(fault, `strike with ${fault}, or call it off`, () => {
        const on = made.getAttribute("aria-pressed") !== "true";
        this.send({ type: "fault", vehicle: card.name, fault, on });
      });
      made.disabled = !this.may("fault");
      this.faultButtons.push(made);
      this.faults.append(made);
    });
  }

  event(event: Event): void {
    const who = event.who && event.who !== "operator" ? ` (${event.who})` : "";
    const text = `${event.time.toFixed(1)} s  ${event.vehicle ? `${event.vehicle}: ` : ""}${event.text}${who}`;
    const jump = button(text, `go to ${event.time.toFixed(1)} s`, () =>
      this.send({ type: "seek", time: event.time }),
    );
    jump.disabled = this.hello.mode !== "playback";
    this.list.prepend(element("li", { "data-run": String(event.run) }, jump));
    while (this.list.children.length > MOST_EVENTS) this.list.lastElementChild?.remove();
  }

  /** Forget the events of the runs before one; of all without a number. */
  clearEvents(run = Infinity): void {
    for (const item of [...this.list.children]) {
      if (Number((item as HTMLElement).dataset["run"]) < run) item.remove();
    }
  }

  /** The run began again, or jumped: what a recording told stays true. */
  clearCharts(): void {
    this.sensors.clear();
    if (this.hello.mode === "live") for (const { chart } of this.charts) chart.clear();
  }

  /** A state came: charts keep it, unless they have everything already. */
  keep(time: number, numbers: Float32Array): void {
    if (this.recalled) return;
    for (const { chart, series } of this.charts) chart.push(time, series.of(numbers));
  }

  /** Show a moment; numbers ten times a second, charts five times. */
  show(time: number, numbers: Float32Array, now: number): void {
    if (!this.root.getClientRects().length || now - this.drawn < 0.1) return;
    this.drawn = now;
    const of = (part: string) => this.layout.of(numbers, this.selected, part);
    const card = this.hello.vehicles[this.selected]!;
    const [roll, pitch, yaw] = euler(of("attitude"));
    const velocity = of("velocity");
    const p = of("position");
    const speed = Math.hypot(velocity[0]!, velocity[1]!);
    const drift = Math.atan2(velocity[1]!, velocity[0]!);
    drawCompass(this.compass, yaw, speed > 0.05 ? yaw + drift : null);
    drawHorizon(this.horizon, roll, pitch);
    const put = (name: string, text: string) => {
      const value = this.values.get(name);
      if (value && value.textContent !== text) value.textContent = text;
    };
    put("position", `N ${p[0]!.toFixed(1)} m, E ${p[1]!.toFixed(1)} m`);
    put("depth", `${p[2]!.toFixed(2)} m`);
    put("speed", `${speed.toFixed(2)} m/s, ${(speed * 1.943844).toFixed(1)} kn`);
    put("heading", `${((yaw * DEGREES + 360) % 360).toFixed(1)}°`);
    put("roll, pitch", `${(roll * DEGREES).toFixed(1)}°, ${(pitch * DEGREES).toFixed(1)}°`);
    put("wave", `${of("elevation")[0]!.toFixed(2)} m`);
    put("status", this.hello.statuses[Math.round(of("status")[0]!)] ?? "?");
    const [states, orders] = [of("actuators"), of("command")];
    card.channels.forEach((channel, i) => {
      const { name, factor } = units.of(channel.unit);
      const shown = (states[i]! * factor).toFixed(factor > 10 && channel.unit !== "rad" ? 0 : 1);
      put(`actuator ${channel.name}`, name === "°" ? `${shown}°` : `${shown} ${name}`);
      const most = Math.max(Math.abs(channel.low), Math.abs(channel.high)) || 1;
      const share = Math.min(Math.max(states[i]! / most, -1), 1);
      this.bars[i]!.style.left = `${50 + Math.min(share, 0) * 50}%`;
      this.bars[i]!.style.width = `${Math.abs(share) * 50}%`;
      const slider = this.sliders[i]!;
      if (document.activeElement !== slider) slider.value = String(orders[i]!);
    });
    const faults = of("faults");
    this.faultButtons.forEach((b, i) => b.setAttribute("aria-pressed", String(faults[i]! > 0.5)));
    this.mission.textContent = missionText(card.legs, of("guidance"));
    if (now - this.chartsDrawn < 0.2) return;
    this.chartsDrawn = now;
    for (const { chart } of this.charts) chart.draw(time);
    this.sensors.draw(time);
  }
}

function missionText(legs: { name: string }[], guidance: Float32Array): string {
  if (!guidance.length) return "";
  const leg = legs[Math.round(guidance[0]!)];
  if (!leg) return "mission done";
  return `${leg.name}: ${guidance[3]!.toFixed(0)} m to go, ${guidance[2]!.toFixed(1)} m off the track`;
}
