import { describe, expect, it } from "vitest";

import { Sea } from "../src/scene/water";

const WAVES = {
  amplitude: [0.5, 0.1],
  omega: [0.8, 3.1],
  wavenumber: [0.065, 0.98],
  direction: [0.3, 2.0],
  phase: [1.0, 4.0],
};

describe("the table of waves", () => {
  it("holds each wave's phase at its centre, in one turn, hours into a run", () => {
    const sea = new Sea(WAVES);
    const [north, east, time] = [1234.5, -987.6, 7200];
    sea.centre(north, east, time);
    const table = sea.texture.image.data as Float32Array;
    let height = 0;
    for (let i = 0; i < 2; i++) {
      expect(Math.abs(table[4 * i + 3]!)).toBeLessThanOrEqual(Math.PI + 1e-6);
      height += table[4 * i]! * Math.cos(table[4 * i + 3]!);
    }
    expect(height).toBeCloseTo(sea.elevation(north, east, time), 6);
  });

  it("holds another sea when it changes, with more waves than before", () => {
    const sea = new Sea(null);
    const many = 700;
    const ones = (value: number) => Array.from({ length: many }, (_, i) => value * (1 + i / many));
    const waves = { amplitude: ones(0.01), omega: ones(1), wavenumber: ones(0.1), direction: ones(0.2), phase: ones(2) };
    sea.change(waves);
    sea.centre(3, 4, 5);
    const { data, width } = sea.texture.image as unknown as { data: Float32Array; width: number };
    expect(sea.count.value).toBe(many);
    expect(data.length).toBe(4 * width);
    let height = 0;
    for (let i = 0; i < many; i++) height += data[4 * i]! * Math.cos(data[4 * i + 3]!);
    expect(height).toBeCloseTo(sea.elevation(3, 4, 5), 4);
    sea.change(WAVES);
    expect(sea.count.value).toBe(2);
    expect(sea.significantHeight).toBeCloseTo(4 * Math.sqrt(0.5 * (0.25 + 0.01)), 9);
  });

  it("knows how high its waves are", () => {
    expect(new Sea(WAVES).significantHeight).toBeCloseTo(4 * Math.sqrt(0.5 * (0.25 + 0.01)), 9);
    expect(new Sea(null).elevation(1, 2, 3)).toBe(0);
  });
});
