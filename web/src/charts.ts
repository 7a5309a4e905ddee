// Time charts of the selected vehicle.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

import type { VehicleCard } from "./messages";
import { euler, type Layout } from "./state";

const DEGREES = 180 / Math.PI;
const MOST = 3000;
const PALETTE = ["#ffc53d", "#40c4ff", "#ff8a80", "#7ee787", "#d2a8ff", "#ffa657"];

export interface Series {
  title: string;
  unit: string;
  names: string[];
  of(numbers: Float32Array): number[];
}

/** What can be drawn of a vehicle: its motion, its actuators, and its estimate beside the truth. */
export function seriesOf(card: VehicleCard, index: number, layout: Layout): Series[] {
  const part = (n: Float32Array, name: string) => layout.of(n, index, name);
  const found: Series[] = [
    {
      title: "speed",
      unit: "m/s",
      names: ["u", "v", "w"],
      of: (n) => [...part(n, "velocity").subarray(0, 3)],
    },
    {
      title: "attitude",
      unit: "°",
      names: ["roll", "pitch"],
      of: (n) => euler(part(n, "attitude")).slice(0, 2).map((a) => a * DEGREES),
    },
    {
      title: "heading",
      unit: "°",
      names: ["heading"],
      of: (n) => [((euler(part(n, "attitude"))[2] * DEGREES) % 360 + 360) % 360],
    },
    {
      title: card.craft === "submerged" ? "depth" : "heave and wave",
      unit: "m",
      names: card.craft === "submerged" ? ["depth"] : ["origin up", "wave"],
      of: (n) =>
        card.craft === "submerged"
          ? [part(n, "position")[2]!]
          : [-part(n, "position")[2]!, part(n, "elevation")[0]!],
    },
    {
      title: "actuators",
      unit: card.channels[0]?.unit ?? "",
      names: card.channels.map((c) => c.name),
      of: (n) => [...part(n, "actuators")].slice(0, card.channels.length),
    },
  ];
  if (layout.vehicles[index]?.has("estimate")) {
    found.push({
      title: "estimate − truth",
      unit: "m",
      names: ["north", "east", "down"],
      of: (n) => [0, 1, 2].map((i) => part(n, "estimate")[i]! - part(n, "position")[i]!),
    });
  }
  return found;
}

export class Chart {
  private plot: uPlot | null = null;
  private data: number[][] = [];

  constructor(
    private readonly host: HTMLElement,
    readonly series: Series,
  ) {
    this.clear();
  }

  clear(): void {
    this.data = [[], ...this.series.names.map(() => [])];
  }

  add(time: number, numbers: Float32Array): void {
    const times = this.data[0]!;
    if (times.length && time <= times[times.length - 1]!) return;
    times.push(time);
    this.series.of(numbers).forEach((v, i) => this.data[i + 1]?.push(v));
    if (times.length > MOST) for (const column of this.data) column.shift();
  }

  /** Draw the last `span` seconds; everything when that is 0. */
  draw(span: number): void {
    this.plot ??= this.make();
    const width = this.host.clientWidth;
    if (width && this.plot.width !== width) this.plot.setSize({ width, height: 150 });
    const times = this.data[0]!;
    const end = times[times.length - 1] ?? 0;
    this.plot.batch(() => {
      this.plot!.setData(this.data as uPlot.AlignedData, false);
      const start = Math.max(times[0] ?? 0, end - span);
      this.plot!.setScale("x", { min: span > 0 ? start : (times[0] ?? 0), max: Math.max(end, start + 1) });
    });
  }

  destroy(): void {
    this.plot?.destroy();
  }

  private make(): uPlot {
    const axis = { stroke: "#9fb6c3", grid: { stroke: "#24404f", width: 1 }, ticks: { show: false } };
    return new uPlot(
      {
        width: this.host.clientWidth || 300,
        height: 150,
        title: `${this.series.title}${this.series.unit ? `, ${this.series.unit}` : ""}`,
        legend: { live: false },
        cursor: { drag: { x: true, y: false } },
        scales: { x: { time: false } },
        axes: [
          { ...axis, size: 26 },
          { ...axis, size: 44 },
        ],
        series: [
          { label: "s" },
          ...this.series.names.map((label, i) => ({
            label,
            stroke: PALETTE[i % PALETTE.length]!,
            width: 1.5,
            points: { show: false },
          })),
        ],
      },
      this.data as uPlot.AlignedData,
      this.host,
    );
  }
}
