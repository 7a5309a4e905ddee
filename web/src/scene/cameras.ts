// Where the eye is: behind a vehicle, around it, on board, high above, or anywhere.

import * as THREE from "three";

export const CAMERAS = ["chase", "orbit", "onboard", "map", "free"] as const;
export type CameraKind = (typeof CAMERAS)[number];

/** What a link restores. */
export interface Eye {
  kind: CameraKind;
  /** Around the vehicle, rad: from astern in a chase, from the north else. */
  around: number;
  /** Above the horizon, rad. */
  above: number;
  /** m. */
  distance: number;
  /** Where a free eye is: three's axes, m. */
  at?: [number, number, number];
}

/** What the eye keeps away from. */
export interface Surroundings {
  /** Height of the water at a place, three's axes, m. */
  surface(x: number, z: number): number;
  /** Depth of the bottom, null without one. */
  depth(x: number, z: number): number | null;
  /** How far from a place a body stands in a direction (of unit length), at most `most`, m. */
  clear(from: THREE.Vector3, along: THREE.Vector3, most: number): number;
}

/** The longest way from `focus` towards an eye on which neither bottom nor bodies are in between. */
export function freeWay(
  focus: THREE.Vector3,
  along: THREE.Vector3,
  distance: number,
  around: Surroundings,
): number {
  let free = around.clear(focus, along, distance);
  const p = new THREE.Vector3();
  const steps = 24;
  for (let i = 1; i <= steps; i++) {
    const r = (free * i) / steps;
    p.copy(focus).addScaledVector(along, r);
    const bottom = around.depth(p.x, p.z);
    if (bottom !== null && p.y < -bottom + 0.3) {
      free = (free * (i - 1)) / steps;
      break;
    }
  }
  return free;
}

export class Cameras {
  readonly camera = new THREE.PerspectiveCamera(55, 1, 0.08, 20000);
  eye: Eye = { kind: "chase", around: 0.45, above: 0.2, distance: 7 };
  /** Shift of the middle of the map, three's axes, m. */
  private readonly shift = new THREE.Vector3();
  private readonly focus = new THREE.Vector3();
  private heading = 0;
  private fresh = true;

  constructor(canvas: HTMLCanvasElement) {
    let at: [number, number] | null = null;
    const fingers = new Map<number, [number, number]>();
    canvas.addEventListener("pointerdown", (e) => {
      canvas.setPointerCapture(e.pointerId);
      fingers.set(e.pointerId, [e.clientX, e.clientY]);
      at = [e.clientX, e.clientY];
    });
    canvas.addEventListener("pointermove", (e) => {
      if (!fingers.has(e.pointerId) || at === null) return;
      const before = spread(fingers);
      fingers.set(e.pointerId, [e.clientX, e.clientY]);
      if (fingers.size > 1) {
        this.zoom(before / (spread(fingers) || 1));
        return;
      }
      const [dx, dy] = [e.clientX - at[0], e.clientY - at[1]];
      at = [e.clientX, e.clientY];
      if (this.eye.kind === "free") {
        this.eye.around += 0.004 * dx;
        this.eye.above = Math.min(Math.max(this.eye.above + 0.004 * dy, -1.5), 1.5);
      } else if (this.eye.kind === "map") {
        const scale = (1.1 * this.eye.distance) / canvas.clientHeight;
        this.shift.x += dy * scale;
        this.shift.z -= dx * scale;
      } else {
        this.eye.around += 0.006 * dx;
        this.eye.above = Math.min(Math.max(this.eye.above + 0.005 * dy, -1.3), 1.5);
      }
    });
    const up = (e: PointerEvent) => {
      fingers.delete(e.pointerId);
      if (!fingers.size) at = null;
    };
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", up);
    canvas.addEventListener(
      "wheel",
      (e) => {
        e.preventDefault();
        this.zoom(Math.exp(0.0012 * e.deltaY));
      },
      { passive: false },
    );
  }

  zoom(factor: number): void {
    if (this.eye.kind === "free") {
      this.fly({ ahead: -Math.log(factor) * 8, starboard: 0, dive: 0 }, 1);
      return;
    }
    this.eye.distance = Math.min(Math.max(this.eye.distance * factor, 1), 5000);
  }

  choose(kind: CameraKind, length: number): void {
    const distance = { chase: 3.5, orbit: 4.5, onboard: 1, map: 40, free: 4 }[kind] * Math.max(length, 1);
    if (kind === "free") {
      const look = this.camera.getWorldDirection(new THREE.Vector3());
      const { x, y, z } = this.camera.position; // it begins where the eye is, and looks where it looked
      this.eye = { kind, around: Math.atan2(look.z, look.x), above: -Math.asin(look.y), distance, at: [x, y, z] };
      return;
    }
    this.eye = { kind, around: kind === "orbit" ? 0.8 : 0.45, above: 0.2, distance };
    this.shift.set(0, 0, 0);
    this.fresh = true;
  }

  /** Move a free eye by sticks or keys, as fast as it is far from things: `distance` in two seconds. */
  fly(axes: { ahead: number; starboard: number; dive: number }, seconds: number): void {
    const at = this.eye.at;
    if (!at) return;
    const { around, above } = this.eye;
    const by = (0.5 * this.eye.distance + 1) * seconds;
    const level = Math.cos(above);
    at[0] += by * (axes.ahead * level * Math.cos(around) - axes.starboard * Math.sin(around));
    at[1] += by * (-axes.ahead * Math.sin(above) - axes.dive);
    at[2] += by * (axes.ahead * level * Math.sin(around) + axes.starboard * Math.cos(around));
  }

  /** Another vehicle: no flight from the old one to the new. */
  jump(): void {
    this.fresh = true;
    this.shift.set(0, 0, 0);
  }

  /**
   * Look at a vehicle. The eye keeps off the surface and above the bottom, so that it is never cut
   * by either, and comes nearer where a body or the bottom would be in between.
   */
  update(
    p: THREE.Vector3,
    q: THREE.Quaternion,
    length: number,
    seconds: number,
    world: Surroundings,
  ): void {
    const forward = new THREE.Vector3(1, 0, 0).applyQuaternion(q);
    const heading = Math.atan2(forward.z, forward.x);
    const share = this.fresh ? 1 : 1 - Math.exp(-4 * seconds);
    this.focus.lerp(p, this.fresh ? 1 : 1 - Math.exp(-12 * seconds));
    this.heading += share * Math.atan2(Math.sin(heading - this.heading), Math.cos(heading - this.heading));
    this.fresh = false;
    const camera = this.camera;
    camera.up.set(0, 1, 0);
    const { kind, around, above, distance } = this.eye;
    if (kind === "free") {
      camera.position.set(...(this.eye.at ?? [p.x, p.y + 5, p.z]));
      this.keepOff(camera.position, 0.15, camera.position.y < world.surface(camera.position.x, camera.position.z), world);
      this.eye.at = [...camera.position.toArray()];
      const level = Math.cos(above);
      const look = new THREE.Vector3(level * Math.cos(around), -Math.sin(above), level * Math.sin(around));
      camera.lookAt(look.add(camera.position));
      return;
    }
    if (kind === "onboard") {
      const up = new THREE.Vector3(0, 1, 0).applyQuaternion(q);
      camera.position.copy(p).addScaledVector(up, 0.35 * length).addScaledVector(forward, 0.15 * length);
      camera.up.copy(up);
      const ahead = camera.position.clone().addScaledVector(forward, 10);
      camera.lookAt(ahead.addScaledVector(up, 2 * above - 1));
      return;
    }
    if (kind === "map") {
      const middle = this.focus.clone().add(this.shift);
      camera.position.set(middle.x, distance, middle.z);
      camera.up.set(1, 0, 0);
      camera.lookAt(middle.x, 0, middle.z);
      return;
    }
    const bearing = (kind === "chase" ? this.heading + Math.PI : 0) + around;
    const level = Math.cos(above);
    const along = new THREE.Vector3(level * Math.cos(bearing), Math.sin(above), level * Math.sin(bearing));
    const free = Math.max(freeWay(this.focus, along, distance, world), Math.min(0.7 * length, distance));
    const eye = this.focus.clone().addScaledVector(along, free);
    const under = this.focus.y < world.surface(this.focus.x, this.focus.z) - Math.max(1, length);
    this.keepOff(eye, 0.35 + 0.02 * distance, under, world);
    camera.position.copy(eye);
    camera.lookAt(this.focus.x, this.focus.y + 0.12 * length, this.focus.z);
  }

  /** Move an eye off the surface by `clear`, to the side on which it belongs, and off the bottom. */
  private keepOff(eye: THREE.Vector3, clear: number, under: boolean, world: Surroundings): void {
    const water = world.surface(eye.x, eye.z);
    if (Math.abs(eye.y - water) < clear) eye.y = water + (under ? -clear : clear);
    const bottom = world.depth(eye.x, eye.z);
    if (bottom !== null && eye.y < -bottom + 0.4) eye.y = -bottom + 0.4;
  }
}

function spread(fingers: Map<number, [number, number]>): number {
  const [a, b] = [...fingers.values()];
  return a && b ? Math.hypot(a[0] - b[0], a[1] - b[1]) : 1;
}
