// The view as the part of the address behind the hash, so that a link restores it.

import { CAMERAS, type CameraKind, type Eye } from "./scene/cameras";

export interface View {
  vehicle: string | null;
  eye: Eye;
  sun: string;
  time: number | null;
  /** The sensor whose tab is open. */
  sensor: string | null;
}

export function writeLink(view: View): string {
  const parts = new URLSearchParams();
  if (view.vehicle !== null) parts.set("vehicle", view.vehicle);
  parts.set("camera", view.eye.kind);
  parts.set("around", view.eye.around.toFixed(2));
  parts.set("above", view.eye.above.toFixed(2));
  parts.set("distance", view.eye.distance.toFixed(1));
  if (view.eye.at) parts.set("at", view.eye.at.map((v) => v.toFixed(1)).join(","));
  parts.set("sun", view.sun);
  if (view.sensor) parts.set("sensor", view.sensor);
  if (view.time !== null) parts.set("time", view.time.toFixed(1));
  return parts.toString();
}

/** What a link says; what it does not say, or says wrongly, is left out. */
export function readLink(hash: string): Partial<View> & { eye?: Eye } {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  const found: Partial<View> & { eye?: Eye } = {};
  const number = (name: string): number | null => {
    const text = parts.get(name);
    const value = text === null || text === "" ? NaN : Number(text);
    return Number.isFinite(value) ? value : null;
  };
  const vehicle = parts.get("vehicle");
  if (vehicle) found.vehicle = vehicle;
  const sun = parts.get("sun");
  if (sun) found.sun = sun;
  const sensor = parts.get("sensor");
  if (sensor) found.sensor = sensor;
  const time = number("time");
  if (time !== null) found.time = time;
  const kind = parts.get("camera") as CameraKind | null;
  if (kind !== null && CAMERAS.includes(kind)) {
    const distance = number("distance");
    const at = (parts.get("at") ?? "").split(",").map((v) => (v ? Number(v) : NaN));
    const whole = at.length === 3 && at.every((v) => Number.isFinite(v));
    found.eye = {
      kind,
      around: number("around") ?? 0.45,
      above: Math.min(Math.max(number("above") ?? 0.2, -1.3), 1.5),
      distance: Math.min(Math.max(distance ?? 10, 1), 5000),
      ...(whole ? { at: at as [number, number, number] } : {}),
    };
  }
  return found;
}
