// What a sensor without errors would have measured, as far as the state of its vehicle tells it.

import { Quaternion, Vector3 } from "three";

import type { SensorCard } from "../messages";
import { euler } from "../state";

/** Numbers of a part of the vehicle's state. */
export type Parts = (part: string) => ArrayLike<number>;

const AXES = ["w", "x", "y", "z"];
const vector = (v: ArrayLike<number>, at = 0) => new Vector3(v[at] ?? 0, v[at + 1] ?? 0, v[at + 2] ?? 0);
const quaternion = (q: ArrayLike<number>) => new Quaternion(q[1], q[2], q[3], q[0]);

/**
 * By component; null where the state does not hold it. The sensor is at r in the body and turned by
 * R_s: its place is p + R r, its velocity R_sᵀ (v + ω × r).
 */
export function truthOf(card: SensorCard, parts: Parts, measured: (number | null)[] = []): (number | null)[] {
  const attitude = quaternion(parts("attitude"));
  const mounted = quaternion(card.orientation);
  const arm = vector(card.position);
  const rates = vector(parts("velocity"), 3);
  const velocity = vector(parts("velocity")).add(rates.clone().cross(arm));
  const place = vector(parts("position")).add(arm.clone().applyQuaternion(attitude));
  const own = (v: Vector3) => v.clone().applyQuaternion(mounted.clone().invert());
  const world = velocity.clone().applyQuaternion(attitude);
  const water = velocity.clone().sub(vector(parts("current")).applyQuaternion(attitude.clone().invert()));
  const turn = own(rates);
  const known: Record<string, number> = {};
  const put = (names: string[], v: Vector3) => names.forEach((name, i) => (known[name] = v.getComponent(i)));
  switch (card.type) {
    case "gnss":
      put(["velocity_north", "velocity_east", "velocity_down"], world);
      put(["north", "east", "down"], place);
      break;
    case "uwb":
    case "lbl":
      put(["north", "east", "down"], place);
      break;
    case "dvl":
      put(["velocity_x", "velocity_y", "velocity_z"], own(velocity));
      break;
    case "speed_log":
      put(["speed_x", "speed_y"], own(water));
      break;
    case "pressure":
      known["depth"] = place.z;
      break;
    case "compass":
      known["heading"] = euler(parts("attitude"))[2];
      break;
    case "ahrs": {
      const q = attitude.clone().multiply(mounted);
      // both signs of a quaternion are the same attitude: that of the measurement is shown
      const told = AXES.map((axis) => measured[card.components.indexOf(`orientation_${axis}`)] ?? 0);
      const sign = q.w * told[0]! + q.x * told[1]! + q.y * told[2]! + q.z * told[3]! < 0 ? -1 : 1;
      [q.w, q.x, q.y, q.z].forEach((v, i) => (known[`orientation_${AXES[i]!}`] = sign * v));
      put(["angular_velocity_x", "angular_velocity_y", "angular_velocity_z"], turn);
      break;
    }
    case "imu":
      put(["angular_velocity_x", "angular_velocity_y", "angular_velocity_z"], turn);
      break;
  }
  return card.components.map((name) => known[name] ?? null);
}
