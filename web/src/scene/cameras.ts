// Where the eye is: behind a vehicle, around it, on board, or high above.

import * as THREE from "three";

export const CAMERAS = ["chase", "orbit", "onboard", "map"] as const;
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
      if (this.eye.kind === "map") {
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
    this.eye.distance = Math.min(Math.max(this.eye.distance * factor, 1), 5000);
  }

  choose(kind: CameraKind, length: number): void {
    const distance = { chase: 3.5, orbit: 4.5, onboard: 1, map: 40 }[kind] * Math.max(length, 1);
    this.eye = { kind, around: kind === "orbit" ? 0.8 : 0.45, above: 0.2, distance };
    this.shift.set(0, 0, 0);
    this.fresh = true;
  }

  /** Another vehicle: no flight from the old one to the new. */
  jump(): void {
    this.fresh = true;
    this.shift.set(0, 0, 0);
  }

  /**
   * Look at a vehicle. The eye keeps off the surface and above the bottom, so that it is never cut
   * by either; `surface` and `depth` tell both at a place.
   */
  update(
    p: THREE.Vector3,
    q: THREE.Quaternion,
    length: number,
    seconds: number,
    surface: (x: number, z: number) => number,
    depth: (x: number, z: number) => number | null,
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
    const level = distance * Math.cos(above);
    const eye = this.focus
      .clone()
      .add(new THREE.Vector3(level * Math.cos(bearing), distance * Math.sin(above), level * Math.sin(bearing)));
    const bottom = depth(eye.x, eye.z);
    const water = surface(eye.x, eye.z);
    const clear = 0.35 + 0.02 * distance;
    if (Math.abs(eye.y - water) < clear) {
      const under = this.focus.y < surface(this.focus.x, this.focus.z) - Math.max(1, length);
      eye.y = water + (under ? -clear : clear);
    }
    if (bottom !== null && eye.y < -bottom + 0.4) eye.y = -bottom + 0.4;
    camera.position.copy(eye);
    camera.lookAt(this.focus.x, this.focus.y + 0.12 * length, this.focus.z);
  }
}

function spread(fingers: Map<number, [number, number]>): number {
  const [a, b] = [...fingers.values()];
  return a && b ? Math.hypot(a[0] - b[0], a[1] - b[1]) : 1;
}
