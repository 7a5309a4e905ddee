// Time charts: wheel zooms, dragging pans, a double click follows the run again; keys do the same.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

import { button, element } from "../dom";
import { units } from "./units";
import type { TimeWindow } from "./window";

const MOST = 6000;
const HEIGHT = 140;
const PALETTE = ["#ffc53d", "#40c4ff", "#ff8a80", "#7ee787", "#d2a8ff", "#ffa657"];

/** What a chart shows: lines in one unit. */
export interface Lines {
  title: string;
  unit: string;
  names: string[];
  /** The last so many of them are the truth of the first ones: dashed, in their colours. */
  truths?: number;
}

export class Chart {
  readonly lines: Lines;
  private plot: uPlot | null = null;
  private data: (number | null)[][] = [];
  private now = 0;
  private readonly title = element("div", { class: "title" });

  constructor(
    private readonly host: HTMLElement,
    lines: Lines,
    private readonly window: TimeWindow,
  ) {
    this.lines = lines;
    host.classList.add("chart");
    host.tabIndex = 0;
    host.setAttribute("role", "img");
    host.append(this.title);
    this.clear();
    this.entitle();
    this.listen();
  }

  clear(): void {
    this.data = [[], ...this.lines.names.map(() => [])];
  }

  get times(): number[] {
    return this.data[0] as number[];
  }

  /** Numbers in SI, later than all before; others are left out. */
  push(time: number, values: (number | null)[]): void {
    const times = this.times;
    if (times.length && time <= times[times.length - 1]!) return;
    times.push(time);
    this.lines.names.forEach((_, i) => this.data[i + 1]!.push(finite(values[i])));
    if (times.length > MOST) for (const column of this.data) column.splice(0, MOST / 10);
  }

  /** Everything at once: of a recording. */
  fill(times: number[], rows: number[][]): void {
    this.data = [times, ...this.lines.names.map((_, i) => rows.map((row) => finite(row[i])))];
  }

  /** Draw; `now` is the moment of the picture. */
  draw(now: number): void {
    this.plot ??= this.make();
    const plot = this.plot;
    const width = this.host.clientWidth;
    if (width && plot.width !== width) plot.setSize({ width, height: HEIGHT });
    this.now = now;
    const [min, max] = this.shown;
    const { factor } = units.of(this.lines.unit);
    const angles = this.lines.unit === "rad";
    // a gap within one column of pixels would be drawn over
    const dense = this.times.filter((t) => t >= min && t <= max).length / Math.max(plot.over.clientWidth, 1);
    const columns = this.data.slice(1).map((c) => (angles ? parted(c, Math.ceil(2 * dense)) : c));
    const scaled = [this.times, ...columns.map((c) => c.map((v) => (v === null ? null : v * factor)))];
    plot.batch(() => {
      plot.setData(scaled as uPlot.AlignedData, false);
      plot.setScale("x", { min, max });
    });
  }

  destroy(): void {
    this.plot?.destroy();
    this.host.remove();
  }

  private get shown(): [number, number] {
    const times = this.times;
    return this.window.range(times[0] ?? 0, times[times.length - 1] ?? 1, this.now);
  }

  private entitle(): void {
    const { name } = units.of(this.lines.unit);
    const unit = units.has(this.lines.unit)
      ? button(name, "another unit", () => {
          units.next(this.lines.unit);
          this.draw(this.now);
        })
      : element("span", {}, name);
    unit.classList.add("unit");
    const marks = this.lines.names.slice(0, this.drawn).map((text, i) => {
      const mark = element("span", { class: "mark" }, text);
      mark.style.setProperty("--colour", PALETTE[i % PALETTE.length]!);
      return mark;
    });
    if (this.lines.truths) marks.push(element("span", { class: "mark truth" }, "truth"));
    this.title.replaceChildren(element("strong", {}, this.lines.title), " ", unit, " ", ...marks);
    this.host.setAttribute("aria-label", `${this.lines.title} over time: arrows pan, + and − zoom, 0 follows`);
  }

  /** How many lines are no truth of another one. */
  private get drawn(): number {
    return this.lines.names.length - (this.lines.truths ?? 0);
  }

  private listen(): void {
    const { host, window: shared } = this;
    let from: number | null = null;
    const time = (x: number) => this.plot?.posToVal(x - (this.plot.over.getBoundingClientRect().left || 0), "x") ?? 0;
    host.addEventListener(
      "wheel",
      (e) => {
        if (!e.ctrlKey && !e.shiftKey && document.activeElement !== host) return; // the panel scrolls
        e.preventDefault();
        shared.zoom(Math.exp(0.002 * e.deltaY), time(e.clientX), this.shown);
      },
      { passive: false },
    );
    host.addEventListener("pointerdown", (e) => {
      if (!(e.target instanceof HTMLElement) || !this.plot?.over.contains(e.target)) return;
      host.focus();
      host.setPointerCapture(e.pointerId);
      from = e.clientX;
    });
    host.addEventListener("pointermove", (e) => {
      const width = this.plot?.over.clientWidth ?? 0;
      if (from === null || !width || e.clientX === from) return;
      shared.pan((from - e.clientX) / width, this.shown);
      from = e.clientX;
    });
    for (const end of ["pointerup", "pointercancel"]) host.addEventListener(end, () => (from = null));
    host.addEventListener("dblclick", () => shared.follow());
    host.addEventListener("keydown", (e) => {
      const [a, b] = this.shown;
      if (e.key === "ArrowLeft") shared.pan(-0.2, [a, b]);
      else if (e.key === "ArrowRight") shared.pan(0.2, [a, b]);
      else if (e.key === "+") shared.zoom(0.7, 0.5 * (a + b), [a, b]);
      else if (e.key === "-") shared.zoom(1 / 0.7, 0.5 * (a + b), [a, b]);
      else if (e.key === "0") shared.follow();
      else return;
      e.preventDefault();
      e.stopPropagation();
    });
  }

  private make(): uPlot {
    const axis = { stroke: "#9fb6c3", grid: { stroke: "#24404f", width: 1 }, ticks: { show: false } };
    const made = new uPlot(
      {
        width: this.host.clientWidth || 300,
        height: HEIGHT,
        legend: { show: false },
        cursor: { drag: { x: false, y: false }, points: { show: false } },
        scales: { x: { time: false }, y: { range: (_, low, high) => span(low, high) } },
        axes: [
          { ...axis, size: 24, values: (_, ticks) => ticks.map((t) => `${t} s`) },
          {
            ...axis,
            size: (_, ticks: string[] | null) => Math.max(58, ...(ticks ?? []).map((t) => 14 + 6.6 * t.length)),
            values: (_, ticks, __, ___, step) => ticks.map((t) => t.toFixed(decimals(step))),
          },
        ],
        hooks: { draw: [(u) => this.markNow(u)], setData: [() => this.entitle()] },
        series: [
          {},
          ...this.lines.names.map((_, i) => ({
            stroke: PALETTE[(i % this.drawn) % PALETTE.length]!,
            width: i < this.drawn ? 1.5 : 1,
            ...(i < this.drawn ? {} : { dash: [5, 4] }),
            points: { show: false },
          })),
        ],
      },
      this.data as uPlot.AlignedData,
      this.host,
    );
    return made;
  }

  private markNow(u: uPlot): void {
    if (!this.window.marked) return;
    const x = u.valToPos(this.now, "x", true);
    if (x < u.bbox.left || x > u.bbox.left + u.bbox.width) return;
    u.ctx.fillStyle = "#ffffff";
    u.ctx.fillRect(x - 1, u.bbox.top, 2, u.bbox.height);
  }
}

/** How many decimals tell ticks apart that are so far from each other. */
export function decimals(step: number): number {
  return Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
}

/** What an axis shows of values from `low` to `high`: noise of a hair's breadth is not blown up. */
export function span(low: number | null, high: number | null): [number, number] {
  if (low === null || high === null) return [0, 1];
  const [middle, half] = [0.5 * (low + high), 0.5 * (high - low)];
  const still = 0.1 * Math.abs(middle) || 1; // what does not change at all lies in the middle
  const wide = half ? Math.max(1.1 * half, 1e-4 * Math.abs(middle), 1e-6) : still;
  return [middle - wide, middle + wide];
}

/** Angles that go on beyond a whole turn: the line ends so many before it there, and begins anew. */
export function parted(angles: (number | null)[], beside: number): (number | null)[] {
  const out = [...angles];
  angles.forEach((a, i) => {
    const before = angles[i - 1];
    if (a === null || before === undefined || before === null || Math.abs(a - before) < Math.PI) return;
    out.fill(null, Math.max(i - beside, 0), i + 1);
  });
  return out;
}

function finite(value: number | null | undefined): number | null {
  return value === undefined || value === null || !Number.isFinite(value) ? null : value;
}
