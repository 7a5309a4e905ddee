import { describe, expect, it } from "vitest";

import { askedValue, shownValue } from "../src/weather";

describe("weather", () => {
  it("says where wind and waves come from, and where a current goes", () => {
    expect(shownValue("wind_towards", 0)).toBe(180);
    expect(shownValue("wave_towards", Math.PI)).toBe(0);
    expect(shownValue("current_towards", -Math.PI / 2)).toBe(270);
  });

  it("asks for what is shown", () => {
    for (const name of ["wind_towards", "wave_towards", "current_towards"] as const) {
      for (const degrees of [0, 1, 89, 180, 270, 359]) {
        expect(shownValue(name, askedValue(name, degrees))).toBe(degrees);
        expect(Math.abs(askedValue(name, degrees))).toBeLessThanOrEqual(Math.PI + 1e-9);
      }
    }
    expect(askedValue("wave_height", 2.5)).toBe(2.5);
  });
});
