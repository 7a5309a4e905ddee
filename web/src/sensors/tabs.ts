// The sensors of the selected vehicle: one tab each, with a picture or with plots beside the truth.

import { Chart } from "../charts/chart";
import { element } from "../dom";
import type { Request, Samples, SensorCard } from "../messages";
import { numbersOf } from "../state";
import { plain } from "../charts/units";
import type { TimeWindow } from "../charts/window";
import { SensorPicture } from "./pictures";
import { type Parts, truthOf } from "./truth";

const MOST_LINES = 6;
const TURN = 2 * Math.PI;

/** Components that belong together: those in one unit whose names differ by an axis or a number. */
export function groupsOf(card: SensorCard): { title: string; unit: string; components: number[] }[] {
  const found = new Map<string, { title: string; unit: string; components: number[] }>();
  card.components.forEach((name, i) => {
    if (name.startsWith("identity")) return; // a name, no quantity
    const title = name.replace(/_(x|y|z|w|north|east|down|\d+)$/, "").replace(/^(north|east|down)$/, "position");
    const key = `${title} ${card.units[i]}`;
    const group = found.get(key) ?? { title: title.replaceAll("_", " "), unit: plain(card.units[i] ?? ""), components: [] };
    if (group.components.length < MOST_LINES) group.components.push(i);
    found.set(key, group);
  });
  return [...found.values()];
}

export class SensorTabs {
  readonly root = element("section", { id: "sensors", "aria-label": "Sensors" });
  open: SensorCard | null = null;
  private vehicle = "";
  private cards: SensorCard[] = [];
  private readonly list = element("div", { role: "tablist", class: "tabs", "aria-label": "sensors" });
  private readonly body = element("div", { id: "sensor", role: "tabpanel" });
  private charts: { chart: Chart; components: number[] }[] = [];
  private picture: SensorPicture | null = null;
  private readonly state = element("p", { class: "hint" });

  constructor(
    private readonly send: (request: Request) => void,
    private readonly window: TimeWindow,
    /** The state of the watched vehicle at a time; undefined when it is not known any more. */
    private readonly partsAt: (time: number) => Parts | undefined,
    private readonly onOpen: (card: SensorCard | null) => void,
  ) {
    this.list.addEventListener("keydown", (e) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
      if (!by) return;
      const tabs = [...this.list.querySelectorAll<HTMLButtonElement>("button")];
      const at = tabs.indexOf(document.activeElement as HTMLButtonElement);
      tabs[(at + by + tabs.length) % tabs.length]?.focus();
      e.preventDefault();
      e.stopPropagation();
    });
  }

  /** Another vehicle; the sensor of the same name stays open. */
  choose(vehicle: string, cards: SensorCard[]): void {
    const name = this.open?.name;
    this.vehicle = vehicle;
    this.cards = cards;
    this.root.replaceChildren();
    if (cards.length) this.root.append(element("h2", {}, "Sensors"), this.list, this.body);
    this.list.replaceChildren(
      ...cards.map((card) => {
        const tab = element("button", { type: "button", role: "tab", title: card.type, "data-sensor": card.name }, card.name);
        tab.addEventListener("click", () => this.show(this.open === card ? null : card));
        return tab;
      }),
    );
    this.show(cards.find((card) => card.name === name) ?? null);
  }

  showByName(name: string): void {
    this.show(this.cards.find((card) => card.name === name) ?? null);
  }

  show(card: SensorCard | null): void {
    const watched = this.open !== null || card !== null;
    this.open = card;
    this.picture = null;
    for (const { chart } of this.charts) chart.destroy();
    this.charts = [];
    this.body.replaceChildren();
    for (const tab of this.list.querySelectorAll("button")) {
      tab.setAttribute("aria-selected", String(tab.dataset["sensor"] === card?.name));
    }
    if (card) {
      this.state.textContent = `${card.type.replaceAll("_", " ")}, ${card.rate} Hz: nothing heard yet`;
      this.body.append(this.state);
      if (card.payload) {
        const canvas = element("canvas", { class: "picture", "aria-label": `picture of ${card.name}` });
        this.picture = new SensorPicture(canvas, card);
        this.body.append(canvas);
      }
      for (const group of groupsOf(card).slice(0, 4)) this.addChart(card, group);
    }
    if (watched) this.watch();
    this.onOpen(card);
  }

  /** Tell the server which sensor is looked at; again after a lost connection. */
  watch(): void {
    this.send({ type: "watch", vehicle: this.vehicle, sensor: this.open?.name ?? "" });
  }

  private addChart(card: SensorCard, group: ReturnType<typeof groupsOf>[number]): void {
    const host = element("div");
    this.body.append(host);
    const names = group.components.map((i) => card.components[i]!.replaceAll("_", " "));
    const known = truthOf(card, () => [1, 0, 0, 0, 0, 0, 0]);
    const true_ = group.components.filter((i) => known[i] !== null).length;
    const truths = true_ === names.length ? names.length : 0;
    const lines = { title: group.title, unit: group.unit, names: truths ? [...names, ...names] : names };
    this.charts.push({ chart: new Chart(host, { ...lines, truths }, this.window), components: group.components });
  }

  /** What came of a sensor; of one that was closed meanwhile it is too late. */
  take(samples: Samples): boolean {
    const card = this.open;
    if (!card || samples.sensor !== card.name || samples.vehicle !== this.vehicle) return false;
    samples.times.forEach((time, i) => {
      const values = samples.values[i]!;
      const parts = this.partsAt(time);
      const told = shown(card, values);
      const truth = shown(card, parts ? truthOf(card, parts, values) : []);
      for (const { chart, components } of this.charts) {
        const own = (row: (number | null)[]) => components.map((c) => row[c]!);
        chart.push(time, chart.lines.truths ? [...own(told), ...own(truth)] : own(told));
      }
    });
    const last = samples.times[samples.times.length - 1]!;
    this.state.textContent = `${card.type.replaceAll("_", " ")}, ${card.rate} Hz, last at ${last.toFixed(2)} s`;
    const { picture } = samples;
    if (picture && this.picture) {
      if (picture.form === "photo") this.picture.photo(picture.data);
      else if (picture.form === "points") this.picture.points(new Float32Array(numbersOf(picture.data)));
      else {
        const shades = new Uint8Array(numbersOf(picture.data));
        const pings = Math.max(Math.round(shades.length / (picture.rows * picture.columns)), 1);
        this.picture.raster({ ...picture, shades }, pings, samples.values);
      }
    }
    return true;
  }

  clear(): void {
    for (const { chart } of this.charts) chart.clear();
  }

  draw(now: number): void {
    for (const { chart } of this.charts) chart.draw(now);
  }
}

/** Values as charts show them: directions from 0 to a whole turn, so that north does not split them;
 * no range where a beam met nothing, and no contact in an empty place of a list, which are told as 0. */
export function shown(card: SensorCard, row: (number | null)[]): (number | null)[] {
  return card.components.map((name, i) => {
    const value = row[i] ?? null;
    const place = /_(\d+)$/.exec(name)?.[1];
    if (value === 0 && /^range_\d+$/.test(name)) return null;
    if (place && row[card.components.indexOf(`identity_${place}`)] === 0) return null;
    return value !== null && /heading|course/.test(name) ? (value + 2 * TURN) % TURN : value;
  });
}
