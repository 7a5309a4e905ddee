import * as THREE from "three";
import { describe, expect, it } from "vitest";

import type { HullCard } from "../src/messages";
import { Layout } from "../src/state";
import { freeWay, type Surroundings } from "../src/scene/cameras";
import { shapeOf } from "../src/scene/hulls";
import { spread } from "../src/scene/labels";
import { MovingParts } from "../src/scene/moving";
import { Pace } from "../src/scene/pace";
import { pathOf, plans } from "../src/scene/plan";
import { footprints, reach, SensorRays } from "../src/scene/rays";
import { channel, hello, sensor, vehicle } from "./cards";

describe("the pace of pictures", () => {
  const judged = (times: number[]) => {
    const pace = new Pace();
    return times.some((took) => pace.isSlow(took));
  };
  const many = (...few: number[]) => Array.from({ length: 60 }, (_, i) => few[i % few.length]!);

  it("is slow when they take long, evenly or by twos and threes", () => {
    expect(judged(many(60))).toBe(true);
    expect(judged(many(5, 400))).toBe(true);
    expect(judged(many(4, 4, 300))).toBe(true);
    expect(judged(many(3000).slice(0, 7))).toBe(true); // on a machine that has other things to do
    expect(judged(many(30))).toBe(false);
    expect(judged(many(5, 50))).toBe(false);
  });

  it("is not slow for one that hangs, for a page nobody looked at, or while shaders are compiled", () => {
    expect(judged([...many(16), 1000, ...many(16)])).toBe(false);
    expect(judged(many(16, 16, 16, 16, 16, 16, 16, 16, 16, 60_000))).toBe(false);
    expect(judged([900, 900, ...many(16)])).toBe(false);
  });
});

describe("labels", () => {
  it("do not touch: the nearest keeps its place, others go up, and too many are left out", () => {
    const wanted = Array.from({ length: 6 }, (_, i) => ({ x: 100 + i, y: 200, width: 80, far: i }));
    const found = spread([...wanted].reverse());
    expect(found[5]).toEqual({ x: 100, y: 200 });
    const placed = found.filter((f) => f !== null);
    expect(placed.map((f) => f.y).sort()).toEqual([140, 160, 180, 200]);
    expect(found.filter((f) => f === null)).toHaveLength(2);
  });

  it("stay where they are beside each other", () => {
    const found = spread([{ x: 0, y: 50, width: 60, far: 2 }, null, { x: 60, y: 50, width: 60, far: 1 }]);
    expect(found).toEqual([{ x: 0, y: 50 }, null, { x: 60, y: 50 }]);
  });
});

const open: Surroundings = { surface: () => 0, depth: () => null, clear: (_, __, most) => most };

describe("the eye of a chase", () => {
  const focus = new THREE.Vector3(0, -5, 0);
  const astern = new THREE.Vector3(-1, 0, 0);

  it("stays where it is asked to be in open water", () => {
    expect(freeWay(focus, astern, 10, open)).toBe(10);
  });

  it("comes nearer before a body", () => {
    expect(freeWay(focus, astern, 10, { ...open, clear: () => 4 })).toBe(4);
  });

  it("does not go through a hill behind the vehicle", () => {
    const hill = { ...open, depth: (x: number) => (x < -6 ? 3 : 20) };
    const free = freeWay(focus, astern, 10, hill);
    expect(free).toBeLessThanOrEqual(6);
    expect(free).toBeGreaterThan(5);
  });
});

describe("moving parts", () => {
  const rudder = channel("rudder", { position: [-1, 0, 0.2] });
  const screw = channel("screw", { unit: "rev/s", high: 20, kind: "thruster", position: [-0.9, 0, 0.2], axis: [1, 0, 0] });
  const pod = channel("screw_angle", { kind: "azimuth" });
  const fields = [{ name: "position", size: 3 }, { name: "attitude", size: 4 }, { name: "actuators", size: 3 }];
  const card = vehicle("a", { channels: [rudder, screw, pod], fields });
  const layout = new Layout(hello([card]));
  const state = (...actuators: number[]) => Float32Array.from([0, 0, 0, 1, 0, 0, 0, ...actuators]);
  const still = [[new THREE.Vector3()], [new THREE.Quaternion()]] as [THREE.Vector3[], THREE.Quaternion[]];

  function transform(parts: MovingParts, i: number): THREE.Matrix4 {
    const matrix = new THREE.Matrix4();
    (parts.group.children[i] as THREE.InstancedMesh).getMatrixAt(0, matrix);
    return matrix;
  }

  it("turn a rudder about its hinge: a positive angle sends its trailing edge to port", () => {
    const parts = new MovingParts(card, [0], layout);
    parts.update(state(0.5, 0, 0), ...still, 0.1);
    const trailing = new THREE.Vector3(-0.3, 0, 0).applyMatrix4(transform(parts, 0));
    expect(trailing.x).toBeCloseTo(-1 - 0.3 * Math.cos(0.5), 6);
    expect(trailing.z).toBeCloseTo(-0.3 * Math.sin(0.5), 6); // z is to starboard
    expect(trailing.y).toBeCloseTo(-0.2, 6);
  });

  it("turn a propeller by its shaft speed, and stand still with the run", () => {
    const parts = new MovingParts(card, [0], layout);
    parts.update(state(0, 2, 0), ...still, 0.1);
    expect(parts.angle(1)).toBeCloseTo(2 * Math.PI * 0.2, 6);
    parts.update(state(0, 2, 0), ...still, 0);
    expect(parts.angle(1)).toBeCloseTo(2 * Math.PI * 0.2, 6);
    parts.update(state(0, -2, 0), ...still, 0.1);
    expect(parts.angle(1)).toBeCloseTo(0, 6);
  });

  it("turn a pod about the vertical: to starboard with a positive angle", () => {
    const parts = new MovingParts(card, [0], layout);
    parts.update(state(0, 0, Math.PI / 2), ...still, 0);
    const push = new THREE.Vector3(1, 0, 0).transformDirection(transform(parts, 1));
    expect(push.z).toBeCloseTo(1, 6);
  });

  it("are no part of the hull as well", () => {
    const diver = { craft: "submerged", length: 1.6, beam: 0.19, height: 0.19 };
    const size = (c: Parameters<typeof shapeOf>[0]) => shapeOf(c).getAttribute("position").count;
    expect(size(vehicle("a", { ...diver, channels: [rudder] }))).toBeLessThan(size(vehicle("b", diver)));
  });
});

describe("hulls", () => {
  const packed = (numbers: Float32Array | Uint32Array) => btoa(String.fromCharCode(...new Uint8Array(numbers.buffer)));
  const own = (form: string): HullCard => ({
    form, // one triangle: forward, to starboard, and 3 m up (z is down)
    vertices: packed(new Float32Array([2, 0, 1, 0, 5, 1, 0, 0, -3])),
    faces: packed(new Uint32Array([0, 1, 2])),
  });

  it("are a vehicle's own where it has one, in the axes of the page", () => {
    const shape = shapeOf(vehicle("a"), own("file"));
    expect([...shape.getAttribute("position").array]).toEqual([2, -1, 0, 0, -1, 5, 0, 3, 0]);
  });

  it("carry a deckhouse where they are forms without one", () => {
    const [file, form] = ["file", "wigley"].map((f) => shapeOf(vehicle("a"), own(f)).getAttribute("position").count);
    expect(form).toBeGreaterThan(file!);
  });
});

describe("plans", () => {
  const leg = (kind: string, start: number[], end: number[]) =>
    ({ name: "", kind, start, end, acceptance: 3 }) as unknown as ReturnType<typeof vehicle>["legs"][number];

  it("go from leg to leg without repeating a corner, and leave out what leads nowhere", () => {
    const legs = [leg("track", [0, 0, 0], [10, 0, 0]), leg("track", [10, 0, 0], [10, 10, 0]), leg("velocity", [0, 0, 0], [9, 9, 0])];
    expect(pathOf(vehicle("a", { legs }))).toEqual([[0, 0, 0], [10, 0, 0], [10, 10, 0]]);
  });

  it("show a fence that several share once", () => {
    const fence: [number, number][] = [[0, 0], [50, 0], [50, 50]];
    const group = plans(hello([vehicle("a", { fence }), vehicle("b", { fence }), vehicle("c")]));
    expect(group.children.filter((c) => c.name === "fence")).toHaveLength(1);
  });
});

describe("rays", () => {
  const level = () => 20;

  it("end at the bottom, or where the sensor says", () => {
    const down = new THREE.Vector3(0, -1, 0);
    expect(reach(new THREE.Vector3(0, -12, 0), down, 100, level)).toBeCloseTo(8, 1);
    expect(reach(new THREE.Vector3(0, -12, 0), down, 5, level)).toBe(5);
    expect(reach(new THREE.Vector3(0, -3, 0), new THREE.Vector3(0, 1, 0), 100, level)).toBeCloseTo(3, 1);
  });

  it("of a DVL are its four beams, as long as it measured", () => {
    const c = Math.SQRT1_2;
    const facts = { beam_1: [c, 0, c], beam_2: [-c, 0, c] };
    const card = sensor("dvl", { facts, components: ["range_1", "range_2"], position: [1, 0, 0] });
    const rays = new SensorRays(level);
    rays.choose([card]);
    rays.measured("dvl", [10, null]);
    rays.update(new THREE.Vector3(100, -10, 0), new THREE.Quaternion());
    const lines = (rays.group.children[0] as THREE.LineSegments).geometry.getAttribute("position");
    expect(lines.count).toBe(4);
    expect(lines.getX(0)).toBeCloseTo(101);
    expect([lines.getX(1), lines.getY(1)]).toEqual([expect.closeTo(101 + 10 * c, 4), expect.closeTo(-10 - 10 * c, 4)]);
    expect(lines.getY(3)).toBeCloseTo(-20, 1); // the lost one goes down to the bottom
  });

  it("of an imaging sonar are a fan as wide as its bearings and as long as its bins", () => {
    const facts = { bearings: [-0.5, 0, 0.5], bin_width: [0.1], tx_beamwidths: [0.2] };
    const [upper] = footprints(sensor("imaging_sonar", { facts, shape: [3, 200] }));
    expect(upper!.range).toBeCloseTo(20);
    const first = upper!.rays[0]!;
    expect(Math.atan2(first.z, first.x)).toBeCloseTo(-0.5, 6);
    expect(Math.asin(first.y)).toBeCloseTo(0.1, 6);
  });

  it("of sensors that look nowhere are none", () => {
    expect(footprints(sensor("imu"))).toEqual([]);
  });

  it("draw points where the vehicle was, turned as it was", () => {
    const rays = new SensorRays(level);
    const east = new THREE.Quaternion().setFromAxisAngle(new THREE.Vector3(0, -1, 0), Math.PI / 2);
    rays.met(sensor("lidar", { position: [1, 0, -2] }), Float32Array.from([10, 0, 0, 1]), new THREE.Vector3(5, 0, 7), east);
    const at = rays.points.geometry.getAttribute("position");
    expect([at.getX(0), at.getY(0), at.getZ(0)]).toEqual([expect.closeTo(5, 4), expect.closeTo(2, 4), expect.closeTo(18, 4)]);
  });
});
