import { describe, expect, it } from "vitest";

import { HEAD, HEAD_BYTES } from "../src/messages";
import { between, Buffer, decode, euler, Layout, type State } from "../src/state";
import { hello, vehicle } from "./cards";

function layout(): Layout {
  const parts = (sizes: [string, number][]) => sizes.map(([name, size]) => ({ name, size }));
  const vehicles = [
    vehicle("a", { fields: parts([["position", 3], ["attitude", 4]]) }),
    vehicle("b", { fields: parts([["position", 3], ["attitude", 4], ["status", 1]]) }),
  ];
  return new Layout(hello(vehicles, 1));
}

function state(time: number, numbers: number[], over: Partial<State> = {}): State {
  const rest = { sequence: 1, run: 1, speed: 1, playing: true, ended: false };
  return { time, ...rest, numbers: Float32Array.from(numbers), ...over };
}

describe("a state", () => {
  it("is read as the server packs it", () => {
    const message = new ArrayBuffer(HEAD_BYTES + 8);
    const head = new DataView(message);
    head.setFloat64(HEAD.time, 12.5, true);
    head.setUint32(HEAD.sequence, 7, true);
    head.setUint32(HEAD.run, 2, true);
    head.setFloat32(HEAD.speed, 0.5, true);
    head.setUint32(HEAD.flags, 3, true);
    head.setFloat32(HEAD_BYTES, 1.5, true);
    head.setFloat32(HEAD_BYTES + 4, -2.5, true);
    const found = decode(message);
    expect(found).toMatchObject({ time: 12.5, sequence: 7, run: 2, speed: 0.5, playing: true, ended: true });
    expect([...found.numbers]).toEqual([1.5, -2.5]);
  });

  it("has its parts where the greeting says", () => {
    const where = layout();
    const numbers = Float32Array.from({ length: 22 }, (_, i) => i);
    expect(where.length).toBe(22);
    expect([...where.of(numbers, 1, "position")]).toEqual([7, 8, 9]);
    expect([...where.of(numbers, 1, "status")]).toEqual([14]);
    expect(where.of(numbers, 0, "status").length).toBe(0);
    expect(where.bodies).toBe(15);
  });
});

describe("the moment between two states", () => {
  const still = [0, 0, 0, 1, 0, 0, 0];
  const rest = [0, 0, 0, 1, 0, 0, 0, 0, ...still];

  it("lies on the straight line and on the shorter arc", () => {
    const half = Math.SQRT1_2;
    const a = state(0, [0, 0, 0, 1, 0, 0, 0, ...rest]);
    const b = state(1, [2, 4, 6, -half, 0, 0, -half, ...rest]); // 90° of yaw, the other sign
    const found = between(a, b, 0.5, layout());
    expect([...found.subarray(0, 3)]).toEqual([1, 2, 3]);
    expect(euler(found.subarray(3, 7))[2]).toBeCloseTo(Math.PI / 4, 5);
  });

  it("is shown a little late while the run goes on, and exactly when it stands", () => {
    const buffer = new Buffer(layout());
    for (let i = 0; i <= 20; i++) buffer.take(state(0.1 * i, [i, 0, 0, ...still.slice(3), ...rest]), 100 + 0.1 * i);
    const shown = buffer.at(102.0)!;
    expect(shown.time).toBeLessThan(2.0);
    expect(shown.time).toBeGreaterThan(1.8);
    expect(shown.numbers[0]).toBeCloseTo(10 * shown.time, 3);
    buffer.take(state(2.0, [33, 0, 0, ...still.slice(3), ...rest], { playing: false, speed: 0 }), 102.05);
    expect(buffer.at(102.06)).toMatchObject({ time: 2.0 });
    expect(buffer.at(102.06)!.numbers[0]).toBe(33);
  });

  it("is found again by its time, as long as it is kept", () => {
    const buffer = new Buffer(layout());
    for (let i = 0; i < 5; i++) buffer.take(state(i, [10 * i, 0, 0, ...still.slice(3), ...rest]), 100 + i);
    expect(buffer.moment(2)![0]).toBe(20);
    expect(buffer.moment(2.25)![0]).toBeCloseTo(22.5, 5);
    expect(buffer.moment(-0.5)).toBeUndefined();
    expect(buffer.moment(4.5)).toBeUndefined();
  });

  it("forgets what was before a reset", () => {
    const buffer = new Buffer(layout());
    buffer.take(state(50, [1, 0, 0, ...still.slice(3), ...rest]), 10);
    buffer.take(state(0, [2, 0, 0, ...still.slice(3), ...rest], { run: 2 }), 10.1);
    expect(buffer.at(10.1)!.time).toBe(0);
  });
});
