// Where the sensors of the selected vehicle look: beams, fans, frustums, and points that were met.

import * as THREE from "three";

import type { SensorCard } from "../messages";
import { place, turned } from "./axes";

const COLOUR = 0x59e0ff;
const FARTHEST = 300;

/** Depth of the bottom at a place north and east, null without one. */
type Depth = (north: number, east: number) => number | null;

/** A direction in a sensor's axes (forward, starboard, down), three's axes. */
function direction(x: number, y: number, z: number): THREE.Vector3 {
  return place([x, y, z], new THREE.Vector3()).normalize();
}

/** How far a ray goes until it meets the bottom or, from below, the mean surface, m. */
export function reach(from: THREE.Vector3, along: THREE.Vector3, most: number, depth: Depth): number {
  const steps = 96;
  const p = new THREE.Vector3();
  const wet = from.y < 0;
  const outside = (r: number) => {
    p.copy(from).addScaledVector(along, r);
    const bottom = depth(p.x, p.z);
    return (bottom !== null && p.y < -bottom) || (wet && p.y > 0);
  };
  for (let i = 1; i <= steps; i++) {
    let [inside, beyond] = [most * ((i - 1) / steps) ** 2, most * (i / steps) ** 2]; // finer near by
    if (!outside(beyond)) continue;
    for (let k = 0; k < 10; k++) {
      const middle = 0.5 * (inside + beyond);
      if (outside(middle)) beyond = middle;
      else inside = middle;
    }
    return inside;
  }
  return most;
}

/** Rays of a sensor that bound what it sees: directions in its own axes, and how far it looks. */
export interface Footprint {
  rays: THREE.Vector3[];
  /** Whether neighbouring rays bound a surface. */
  filled: boolean;
  range: number;
  /** Numbers of the components that tell how far each ray went. */
  ranges: string[];
}

export function footprints(card: SensorCard, values: (number | null)[] = []): Footprint[] {
  const facts = card.facts;
  const bins = card.shape[card.shape.length - 1] ?? 0;
  const range = (facts["bin_width"]?.[0] ?? 0) * bins || FARTHEST;
  const arc = (from: number, to: number, of: (angle: number) => [number, number, number], n = 24) =>
    Array.from({ length: n + 1 }, (_, i) => direction(...of(from + ((to - from) * i) / n)));
  const beams = Object.keys(facts).filter((name) => name.startsWith("beam_"));
  if (beams.length) {
    const rays = beams.map((name) => direction(...(facts[name] as [number, number, number])));
    return [{ rays, filled: false, range: FARTHEST, ranges: beams.map((name) => name.replace("beam", "range")) }];
  }
  switch (card.type) {
    case "altimeter":
    case "echo_sounder": {
      const half = 0.5 * (facts["beamwidth"]?.[0] ?? 0.1);
      const cone = arc(0, 2 * Math.PI, (a) => [Math.sin(half) * Math.cos(a), Math.sin(half) * Math.sin(a), Math.cos(half)]);
      return [{ rays: cone, filled: true, range: facts["limits"]?.[1] ?? range, ranges: [] }];
    }
    case "imaging_sonar": {
      const bearings = facts["bearings"] ?? [0];
      const half = 0.5 * (facts["tx_beamwidths"]?.[0] ?? 0.2);
      const [first, last] = [bearings[0]!, bearings[bearings.length - 1]!];
      const level = (e: number) => arc(first, last, (a) => [Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), -Math.sin(e)]);
      return [half, -half].map((e) => ({ rays: level(e), filled: true, range, ranges: [] }));
    }
    case "mechanical_sonar": {
      const at = values[card.components.indexOf("bearing")] ?? 0;
      const rays = arc(-0.35, 0.35, (e) => [Math.cos(e) * Math.cos(at), Math.cos(e) * Math.sin(at), Math.sin(e)], 8);
      return [{ rays, filled: true, range, ranges: [] }];
    }
    case "side_scan":
      return [-1, 1].map((side) => ({
        rays: arc(0.12, 1.35, (a) => [0, side * Math.cos(a), Math.sin(a)]),
        filled: true,
        range,
        ranges: [],
      }));
    case "multibeam":
      return [{ rays: arc(-1.05, 1.05, (a) => [0, Math.sin(a), Math.cos(a)]), filled: true, range: FARTHEST, ranges: [] }];
    case "camera":
    case "thermal_camera":
    case "depth_camera": {
      const [rows, columns] = card.shape as [number, number];
      const focal = facts["focal_length"]?.[0] ?? columns;
      const corner = (u: number, v: number) => direction(focal, 0.5 * u * columns, 0.5 * v * rows);
      const around = [corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1), corner(-1, -1)];
      return [{ rays: around, filled: false, range: 12, ranges: [] }];
    }
    case "radar_image":
      return [{ rays: arc(0, 2 * Math.PI, (a) => [Math.cos(a), Math.sin(a), 0], 72), filled: false, range, ranges: [] }];
    default:
      return [];
  }
}

export class SensorRays {
  readonly group = new THREE.Group();
  readonly points: THREE.Points;
  private readonly lines: THREE.LineSegments;
  private readonly fans: THREE.Mesh;
  private cards: SensorCard[] = [];
  private readonly values = new Map<string, (number | null)[]>();

  constructor(private readonly depth: Depth) {
    const see = { transparent: true, depthWrite: false, fog: false } as const;
    this.lines = new THREE.LineSegments(
      new THREE.BufferGeometry(),
      new THREE.LineBasicMaterial({ color: COLOUR, opacity: 0.7, ...see }),
    );
    this.fans = new THREE.Mesh(
      new THREE.BufferGeometry(),
      new THREE.MeshBasicMaterial({ color: COLOUR, opacity: 0.16, side: THREE.DoubleSide, ...see }),
    );
    this.points = new THREE.Points(
      new THREE.BufferGeometry(),
      new THREE.PointsMaterial({ size: 3.2, sizeAttenuation: false, vertexColors: true, fog: false }),
    );
    for (const made of [this.lines, this.fans, this.points]) {
      made.frustumCulled = false;
      made.renderOrder = 4;
      this.group.add(made);
    }
  }

  /** Sensors whose rays are drawn from now on. */
  choose(cards: SensorCard[]): void {
    this.cards = cards;
    this.values.clear();
    this.clearPoints();
  }

  clearPoints(): void {
    this.points.geometry.setAttribute("position", new THREE.Float32BufferAttribute([], 3));
    this.points.geometry.setAttribute("color", new THREE.Float32BufferAttribute([], 3));
  }

  /** Numbers that a sensor measured: beams end where it says. */
  measured(sensor: string, values: (number | null)[]): void {
    this.values.set(sensor, values);
  }

  /** Points (x, y, z, intensity in rows) that a sensor met when its vehicle was at a place. */
  met(card: SensorCard, cloud: Float32Array, p: THREE.Vector3, turn: THREE.Quaternion): void {
    const n = cloud.length / 4;
    const places = new Float32Array(3 * n);
    const colours = new Float32Array(3 * n);
    const mount = place(card.position, new THREE.Vector3());
    const own = turned(card.orientation, new THREE.Quaternion());
    const at = new THREE.Vector3();
    const colour = new THREE.Color();
    for (let i = 0; i < n; i++) {
      place(cloud, at, 4 * i).applyQuaternion(own).add(mount).applyQuaternion(turn).add(p);
      places.set([at.x, at.y, at.z], 3 * i);
      const share = card.type === "multibeam" ? -at.y / 40 : 0.15 + at.y / 4; // by depth, by height
      colour.setHSL(0.58 - 0.58 * Math.min(Math.max(share, 0), 1), 1, 0.55);
      colours.set([colour.r, colour.g, colour.b], 3 * i);
    }
    this.points.geometry.setAttribute("position", new THREE.BufferAttribute(places, 3));
    this.points.geometry.setAttribute("color", new THREE.BufferAttribute(colours, 3));
  }

  update(p: THREE.Vector3, turn: THREE.Quaternion): void {
    const segments: number[] = [];
    const faces: number[] = [];
    for (const card of this.cards) {
      const from = place(card.position, new THREE.Vector3()).applyQuaternion(turn).add(p);
      const toWorld = turned(card.orientation, new THREE.Quaternion()).premultiply(turn);
      const values = this.values.get(card.name) ?? [];
      for (const look of footprints(card, values)) {
        const ends = look.rays.map((ray, i) => {
          const along = ray.clone().applyQuaternion(toWorld);
          const told = values[card.components.indexOf(look.ranges[i] ?? "")];
          return from.clone().addScaledVector(along, told ? told : reach(from, along, look.range, this.depth));
        });
        ends.forEach((end, i) => {
          const edge = !look.filled || i === 0 || i === ends.length - 1;
          if (edge && card.type !== "radar_image") segments.push(...from, ...end);
          const next = ends[i + 1];
          if (!next || (!look.filled && look.ranges.length)) return;
          segments.push(...end, ...next);
          if (look.filled) faces.push(...from, ...end, ...next);
        });
      }
      for (const [name, anchor] of Object.entries(card.facts)) {
        if (name.startsWith("anchor_")) segments.push(...from, ...place(anchor, new THREE.Vector3()));
      }
    }
    this.lines.geometry.setAttribute("position", new THREE.Float32BufferAttribute(segments, 3));
    this.fans.geometry.setAttribute("position", new THREE.Float32BufferAttribute(faces, 3));
  }
}
