// What can be charted of a vehicle: its motion, its actuators, and its estimate beside the truth.

import type { Lines } from "./chart";
import type { VehicleCard } from "../messages";
import { euler, type Layout } from "../state";

export interface Series extends Lines {
  /** In SI. */
  of(numbers: Float32Array): number[];
}

const TURN = 2 * Math.PI;

/** Of a vehicle; `outside` says whether the sea is told as well. */
export function seriesOf(card: VehicleCard, index: number, layout: Layout, outside: boolean): Series[] {
  const part = (n: Float32Array, name: string) => layout.of(n, index, name);
  const diver = card.craft === "submerged";
  const found: Series[] = [
    { title: "speed", unit: "m/s", names: ["u", "v", "w"], of: (n) => [...part(n, "velocity").subarray(0, 3)] },
    {
      title: "attitude",
      unit: "rad",
      names: ["roll", "pitch"],
      of: (n) => euler(part(n, "attitude")).slice(0, 2),
    },
    {
      title: "heading",
      unit: "rad",
      names: ["heading"],
      of: (n) => [(euler(part(n, "attitude"))[2] + TURN) % TURN],
    },
    {
      title: diver ? "depth" : outside ? "heave and wave" : "heave",
      unit: "m",
      names: diver ? ["depth"] : outside ? ["origin up", "wave"] : ["origin up"],
      of: (n) =>
        diver ? [part(n, "position")[2]!] : [-part(n, "position")[2]!, part(n, "elevation")[0]!],
    },
  ];
  for (const unit of new Set(card.channels.map((c) => c.unit))) {
    const own = card.channels.flatMap((c, i) => (c.unit === unit ? [i] : []));
    found.push({
      title: "actuators",
      unit,
      names: own.map((i) => card.channels[i]!.name.replaceAll("_", " ")),
      of: (n) => own.map((i) => part(n, "actuators")[i]!),
    });
  }
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
