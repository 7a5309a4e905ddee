import { describe, expect, it } from "vitest";

import { depthColour, roundLength } from "../src/minimap";
import { decimals, parted, span } from "../src/charts/chart";
import { commonLevels, palette, polarCell, rampOf, roundAbove, shadeBetween, ticksOf } from "../src/sensors/pictures";
import { groupsOf, shown } from "../src/sensors/tabs";
import { truthOf } from "../src/sensors/truth";
import { seriesOf } from "../src/charts/series";
import { Layout } from "../src/state";
import { plain, Units } from "../src/charts/units";
import { TimeWindow } from "../src/charts/window";
import { channel, hello, sensor, vehicle } from "./cards";

describe("units", () => {
  it("go round, and are the usual ones first", () => {
    const units = new Units();
    expect(units.of("rad")).toEqual({ name: "°", factor: 180 / Math.PI });
    units.next("m/s");
    expect(units.of("m/s").name).toBe("kn");
    expect(units.of("m/s").factor * 1852).toBeCloseTo(3600, 9);
    units.next("m/s");
    units.next("m/s");
    expect(units.of("m/s")).toEqual({ name: "m/s", factor: 1 });
    expect(units.of("kg")).toEqual({ name: "kg", factor: 1 });
  });

  it("are written as people write them", () => {
    expect(["m s-1", "m s-2", "rad s-1", "1", "degree_Celsius", "dB"].map(plain)).toEqual(
      ["m/s", "m/s²", "rad/s", "", "°C", "dB"],
    );
  });
});

describe("the window of the charts", () => {
  it("follows the run", () => {
    const window = new TimeWindow();
    window.span = 30;
    expect(window.range(0, 10, 10)).toEqual([0, 10]);
    expect(window.range(0, 100, 100)).toEqual([70, 100]);
    expect(window.range(0, 100, 50)).toEqual([20, 50]); // of a recording that is played back
    window.span = 0;
    expect(window.range(0, 100, 50)).toEqual([0, 100]);
  });

  it("keeps the time under the pointer when it zooms, and goes aside by shares", () => {
    const window = new TimeWindow();
    window.zoom(0.5, 25, [0, 100]);
    expect(window.follows).toBe(false);
    expect(window.range(0, 100, 100)).toEqual([12.5, 62.5]);
    window.pan(-0.2, [12.5, 62.5]);
    expect(window.range(0, 100, 100)).toEqual([2.5, 52.5]);
    window.follow();
    window.span = 0;
    expect(window.range(0, 100, 100)).toEqual([0, 100]);
  });
});

describe("charts of a vehicle", () => {
  it("put channels of one unit together, and others apart", () => {
    const channels = [channel("left", { unit: "rev/s" }), channel("rudder"), channel("right", { unit: "rev/s" })];
    const card = vehicle("a", { channels, fields: [{ name: "actuators", size: 3 }] });
    const layout = new Layout(hello([card]));
    const found = seriesOf(card, 0, layout, true).filter((s) => s.title === "actuators");
    expect(found.map((s) => [s.unit, s.names])).toEqual([["rev/s", ["left", "right"]], ["rad", ["rudder"]]]);
    expect(found[0]!.of(Float32Array.from([1, 2, 3]))).toEqual([1, 3]);
  });
});

describe("what a sensor without errors measures", () => {
  const half = Math.SQRT1_2;
  const parts: Record<string, number[]> = {
    position: [100, 200, 5],
    attitude: [half, 0, 0, half], // towards east
    velocity: [2, 0, 0, 0, 0, 0.5],
    current: [0, 1, 0], // towards east, from astern
  };
  const state = (part: string) => parts[part] ?? [];
  const known = (type: string, components: string[], changes = {}) =>
    truthOf(sensor(type, { components, ...changes }), state);

  it("is where the sensor is, not where the vehicle is", () => {
    const found = known("gnss", ["north", "east", "down", "velocity_north", "velocity_east", "fix"], { position: [3, 0, -1] });
    const expected = [100, 203, 4, -1.5, 2]; // the bow swings to the south: ω × r
    expected.forEach((value, i) => expect(found[i]).toBeCloseTo(value, 9));
    expect(found[5]).toBeNull();
  });

  it("is in the sensor's own axes", () => {
    const turned = { orientation: [half, 0, 0, half] }; // its x axis to starboard
    const found = known("dvl", ["velocity_x", "velocity_y", "altitude"], turned);
    expect(found[0]).toBeCloseTo(0, 9);
    expect(found[1]).toBeCloseTo(-2, 9);
    expect(found[2]).toBeNull();
  });

  it("is against the water where the sensor measures that", () => {
    expect(known("speed_log", ["speed_x", "speed_y"])[0]).toBeCloseTo(1, 9);
    expect(known("compass", ["heading"])[0]).toBeCloseTo(Math.PI / 2, 9);
    expect(known("pressure", ["pressure", "depth"], { position: [0, 0, 0.5] })).toEqual([null, 5.5]);
    expect(known("battery", ["voltage"])).toEqual([null]);
  });

  it("has the sign of the measured quaternion", () => {
    const components = ["w", "x", "y", "z"].map((axis) => `orientation_${axis}`);
    const found = truthOf(sensor("ahrs", { components }), state, [-0.7, 0, 0, -0.7]);
    expect(found.map((v) => Number(v!.toFixed(4)) + 0)).toEqual([-0.7071, 0, 0, -0.7071]);
  });
});

describe("plots of a sensor", () => {
  it("put together what differs by an axis or a number, in one unit", () => {
    const components = ["velocity_x", "velocity_y", "altitude", "range_1", "range_2"];
    const card = sensor("dvl", { components, units: ["m s-1", "m s-1", "m", "m", "m"] });
    expect(groupsOf(card).map((g) => [g.title, g.unit, g.components])).toEqual([
      ["velocity", "m/s", [0, 1]],
      ["altitude", "m", [2]],
      ["range", "m", [3, 4]],
    ]);
  });
});

describe("what charts show", () => {
  it("leaves out what no beam met and places of a list that hold no contact", () => {
    const card = sensor("radar", { components: ["range_1", "range_2", "identity_1", "course_1", "identity_2", "course_2"] });
    expect(shown(card, [0, 5, 7, -1, 0, 0])).toEqual([null, null, 7, 2 * Math.PI - 1, null, null]);
  });

  it("breaks a heading's line where it passes north", () => {
    expect(parted([6.1, 6.2, 0.1, 0.2, null, 6.2], 0)).toEqual([6.1, 6.2, null, 0.2, null, 6.2]);
    expect(parted([6.0, 6.1, 6.2, 0.1, 0.2], 2)).toEqual([6.0, null, null, null, 0.2]);
    expect(parted([-0.5, 0.5], 2)).toEqual([-0.5, 0.5]);
  });

  it("writes as many decimals as tell ticks apart, and does not blow up noise", () => {
    expect([10, 0.5, 0.02, 1e-4].map(decimals)).toEqual([0, 1, 2, 4]);
    const [low, high] = span(1490.0581, 1490.0583);
    expect(high - low).toBeGreaterThan(0.2);
    expect(span(-2, 2)[1]).toBeCloseTo(2.2);
    expect(span(null, null)).toEqual([0, 1]);
    expect(span(512, 512)[1]).toBeCloseTo(563.2);
    expect(span(0, 0)).toEqual([-1, 1]);
  });
});

describe("pictures of sensors", () => {
  it("shows pings of several messages by one scale", () => {
    const [faint, strong] = [{ low: 0, high: 40 }, { low: 20, high: 60 }];
    const [low, high] = commonLevels([faint, strong]);
    expect([low, high]).toEqual([10, 50]);
    // 30 dB in both
    expect(shadeBetween(1 + Math.round(0.75 * 254), faint, low, high)).toBeCloseTo(128, -1);
    expect(shadeBetween(1 + Math.round(0.25 * 254), strong, low, high)).toBeCloseTo(128, -1);
    expect(shadeBetween(0, strong, low, high)).toBe(0);
    expect(shadeBetween(255, strong, low, high)).toBe(255);
  });

  it("has round scales", () => {
    expect([97, 13, 1, 8.5, 42].map(roundAbove)).toEqual([100, 15, 1, 10, 50]);
    expect(ticksOf(100)).toEqual([50, 100]);
    expect(ticksOf(30)).toEqual([10, 20, 30]);
    expect(ticksOf(15)).toEqual([5, 10, 15]);
  });

  it("have each echo where it came from", () => {
    const cell = (x: number, y: number) => polarCell(x, y, [100, 200], 100, -0.5, 0.5, 11, 50);
    expect(cell(100, 149)).toBe(5 * 50 + 25); // ahead, half way
    const [r, bearing] = [80, 0.3];
    expect(cell(100 + r * Math.sin(bearing), 200 - r * Math.cos(bearing) + 0.01)).toBe(8 * 50 + 39);
    expect(cell(100, 99)).toBe(-1); // too far
    expect(cell(180, 190)).toBe(-1); // beside the fan
  });

  it("close a circle", () => {
    const cell = (x: number, y: number) => polarCell(x, y, [0, 0], 10, 0, 2 * Math.PI, 4, 1);
    expect([cell(0, -5), cell(5, 0), cell(0, 5), cell(-5, 0), cell(-0.1, -5)]).toEqual([0, 1, 2, 3, 0]);
  });

  it("get brighter with the echo, and nothing is dark", () => {
    const table = palette(rampOf("imaging_sonar"));
    const light = (shade: number) => table[4 * shade]! + table[4 * shade + 1]! + table[4 * shade + 2]!;
    expect(light(255)).toBeGreaterThan(light(128));
    expect(light(128)).toBeGreaterThan(light(1));
    expect(light(0)).toBeLessThan(60);
  });
});

describe("the map", () => {
  it("has a scale of a round length", () => {
    expect([1, 37, 99, 0.7, 2300].map(roundLength)).toEqual([1, 20, 50, 0.5, 2000]);
  });

  it("gets darker with depth, and land is another colour", () => {
    const sum = (d: number) => depthColour(d, 50).reduce((a, b) => a + b, 0);
    expect(sum(1)).toBeGreaterThan(sum(20));
    expect(sum(20)).toBeGreaterThan(sum(50));
    expect(depthColour(-2, 50)).not.toEqual(depthColour(0.01, 50));
  });
});
