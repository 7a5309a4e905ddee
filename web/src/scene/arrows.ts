// Arrows at the selected vehicle, by choice: how it goes, what accelerates it, and what drives it.

import * as THREE from "three";

import type { Hello } from "../messages";
import type { Layout } from "../state";
import { place } from "./axes";

/** What an arrow shows, its colour, and the value that is drawn as long as the vehicle. */
export const ARROWS = {
  velocity: { colour: 0xffffff, unit: "m/s", full: 2 },
  acceleration: { colour: 0xff6e6e, unit: "m/s²", full: 1 },
  current: { colour: 0x40c4ff, unit: "m/s", full: 1 },
  wind: { colour: 0xd2a8ff, unit: "m/s", full: 10 },
  actuators: { colour: 0xffa657, unit: "of their limits", full: 1 },
} as const;
const LONGEST = 3;

export class Arrows {
  readonly group = new THREE.Group();
  private readonly kept: THREE.ArrowHelper[] = [];
  private used = 0;

  constructor(
    private readonly hello: Hello,
    private readonly layout: Layout,
  ) {
    this.group.visible = false;
  }

  update(numbers: Float32Array, vehicle: number, p: THREE.Vector3, turn: THREE.Quaternion): void {
    if (!this.group.visible) return;
    this.used = 0;
    const card = this.hello.vehicles[vehicle]!;
    const of = (part: string) => this.layout.of(numbers, vehicle, part);
    const above = p.clone().add(new THREE.Vector3(0, 0.4 * (card.height || card.beam), 0));
    const body = (v: ArrayLike<number>) => place(v, new THREE.Vector3()).applyQuaternion(turn);
    const world = (v: ArrayLike<number>) => place(v, new THREE.Vector3());
    this.put("velocity", above, body(of("velocity")), card.length);
    if (of("acceleration").length) this.put("acceleration", above, body(of("acceleration")), card.length);
    this.put("current", above, world(of("current")), card.length);
    this.put("wind", above, world(of("wind")), card.length);
    const states = of("actuators");
    card.channels.forEach((channel, i) => {
      if (channel.kind !== "thruster") return;
      const most = Math.max(Math.abs(channel.low), Math.abs(channel.high)) || 1;
      const turning = card.channels.findIndex((c) => c.kind === "azimuth" && c.name === `${channel.name}_angle`);
      const along = place(channel.axis, new THREE.Vector3());
      if (turning >= 0) along.applyAxisAngle(new THREE.Vector3(0, -1, 0), states[turning] ?? 0);
      const at = place(channel.position, new THREE.Vector3()).applyQuaternion(turn).add(p);
      this.put("actuators", at, along.applyQuaternion(turn).multiplyScalar((states[i] ?? 0) / most), card.length);
    });
    this.kept.forEach((arrow, i) => (arrow.visible = i < this.used));
  }

  private put(kind: keyof typeof ARROWS, at: THREE.Vector3, vector: THREE.Vector3, length: number): void {
    const size = vector.length() / ARROWS[kind].full;
    if (!(size > 0.02)) return;
    let arrow = this.kept[this.used];
    if (!arrow) {
      arrow = new THREE.ArrowHelper();
      for (const material of [arrow.line.material, arrow.cone.material] as THREE.Material[]) {
        material.depthTest = false;
        (material as THREE.MeshBasicMaterial).fog = false;
        material.transparent = true;
      }
      arrow.renderOrder = arrow.line.renderOrder = arrow.cone.renderOrder = 6;
      this.kept.push(arrow);
      this.group.add(arrow);
    }
    this.used++;
    const long = Math.min(size, LONGEST) * length;
    arrow.position.copy(at);
    arrow.setDirection(vector.clone().normalize());
    arrow.setLength(long, Math.min(0.22 * length, 0.5 * long), 0.09 * length);
    arrow.setColor(ARROWS[kind].colour);
  }
}
