// seatrial's axes and three's: NED or forward-starboard-down (x, y, z) is (x, -z, y) there.

import * as THREE from "three";

export function place(numbers: ArrayLike<number>, out: THREE.Vector3, at = 0): THREE.Vector3 {
  return out.set(numbers[at]!, -numbers[at + 2]!, numbers[at + 1]);
}

/** A quaternion, scalar first; the change of axes is itself a rotation, so angles keep their signs. */
export function turned(q: ArrayLike<number>, out: THREE.Quaternion, at = 0): THREE.Quaternion {
  return out.set(q[at + 1]!, -q[at + 3]!, q[at + 2]!, q[at]!);
}
