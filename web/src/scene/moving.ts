// Propellers, rudders and fins, which turn as their channels do.

import * as THREE from "three";
import { mergeGeometries } from "three/examples/jsm/utils/BufferGeometryUtils.js";

import type { ChannelCard, VehicleCard } from "../messages";
import type { Layout } from "../state";
import { place } from "./axes";
import { movesPart, painted } from "./hulls";

/** An eye sees faster blades as a blur: they are drawn no faster, rev/s. */
const FASTEST = 6;

/** Diameter of a propeller that is not told, m. */
function diameterOf(card: VehicleCard): number {
  if (card.craft === "submerged" && card.length > 3.5 * card.beam) return 0.75 * card.beam;
  return Math.min(0.22 * card.beam, 0.5 * (card.height || card.beam));
}

/** A propeller that pushes along x, with three blades and a hub. */
function propeller(d: number): THREE.BufferGeometry {
  const parts = [painted(new THREE.CylinderGeometry(0.09 * d, 0.12 * d, 0.3 * d, 12).rotateZ(Math.PI / 2), 0x3a4148)];
  for (let i = 0; i < 3; i++) {
    const blade = new THREE.BoxGeometry(0.05 * d, 0.42 * d, 0.2 * d, 1, 3, 1);
    const at = blade.getAttribute("position");
    for (let k = 0; k < at.count; k++) {
      const out = at.getY(k) / d + 0.21; // 0 at the root, 0.42 at the tip: the pitch falls outwards
      const angle = 0.95 - 1.3 * out;
      const [x, z] = [at.getX(k), at.getZ(k) * (0.7 + 1.2 * out)];
      at.setX(k, x * Math.cos(angle) + z * Math.sin(angle));
      at.setZ(k, z * Math.cos(angle) - x * Math.sin(angle));
    }
    blade.translate(0, 0.28 * d, 0).rotateX((i * 2 * Math.PI) / 3);
    blade.computeVertexNormals();
    parts.push(painted(blade, 0xd9a441));
  }
  return mergeGeometries(parts);
}

/** A blade along y that is hinged at a third of its chord, which lies along x. */
function plate(chord: number, span: number): THREE.BufferGeometry {
  const shape = new THREE.BoxGeometry(chord, span, 0.09 * chord, 2, 1, 1).translate(-0.17 * chord, 0, 0);
  const at = shape.getAttribute("position");
  for (let k = 0; k < at.count; k++) if (at.getX(k) < -0.5 * chord) at.setZ(k, 0.15 * at.getZ(k));
  shape.computeVertexNormals();
  return painted(shape, 0x23292f);
}

/** Chord and span of a fin, and where its middle is, body axes, m. */
function finOf(channel: ChannelCard, card: VehicleCard): { chord: number; span: number; at: THREE.Vector3 } {
  const at = place(channel.position, new THREE.Vector3());
  const onAxis = Math.hypot(channel.position[1], channel.position[2]) < 0.02 * card.beam;
  if (card.craft === "submerged" && onAxis) {
    // both halves of a rudder or a stern plane, across the tail and a little ahead of the propeller
    at.x = Math.max(at.x + 0.05 * card.length, -0.46 * card.length);
    const beam = Math.min(card.beam, 0.2 * card.length);
    return { chord: 0.09 * card.length, span: 2.1 * beam, at };
  }
  const side = channel.size || 0.45 * (card.height || card.beam);
  return { chord: 0.85 * side, span: 1.15 * side, at };
}

/** Turns x of a part towards an axis, three's axes; y towards `span` where one is given. */
function basis(axis: THREE.Vector3, span?: THREE.Vector3): THREE.Quaternion {
  if (!span) return new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(1, 0, 0), axis);
  const ahead = axis.clone().addScaledVector(span, -axis.dot(span)).normalize();
  const matrix = new THREE.Matrix4().makeBasis(ahead, span, ahead.clone().cross(span));
  return new THREE.Quaternion().setFromRotationMatrix(matrix);
}

interface Part {
  mesh: THREE.InstancedMesh;
  members: number[];
  channel: number;
  /** Of its angle, −1 for one that does not turn. */
  azimuth: number;
  propels: boolean;
  at: THREE.Vector3;
  base: THREE.Quaternion;
  hinge: THREE.Vector3;
  /** rev/s by the unit of its state. */
  scale: number;
  /** Of every member, rad. */
  angles: Float64Array;
}

/** The moving parts of vehicles of one kind. */
export class MovingParts {
  readonly group = new THREE.Group();
  private readonly parts: Part[] = [];

  constructor(
    card: VehicleCard,
    private readonly members: number[],
    private readonly layout: Layout,
  ) {
    card.channels.forEach((channel, i) => {
      if (!movesPart(channel)) return;
      const hinge = place(channel.axis, new THREE.Vector3());
      const propels = channel.kind === "thruster";
      let shape: THREE.BufferGeometry;
      let at = place(channel.position, new THREE.Vector3());
      let base = basis(hinge);
      if (propels) shape = propeller(channel.size || diameterOf(card));
      else {
        const fin = finOf(channel, card);
        shape = plate(fin.chord, fin.span);
        at = fin.at;
        base = basis(new THREE.Vector3(1, 0, 0), hinge);
      }
      const material = new THREE.MeshStandardMaterial({ vertexColors: true, roughness: 0.5, side: THREE.DoubleSide });
      const mesh = new THREE.InstancedMesh(shape, material, members.length);
      mesh.frustumCulled = false;
      const most = Math.max(Math.abs(channel.low), Math.abs(channel.high)) || 1;
      this.parts.push({
        mesh,
        members,
        channel: i,
        azimuth: card.channels.findIndex((c) => c.kind === "azimuth" && c.name === `${channel.name}_angle`),
        propels,
        at,
        base,
        hinge,
        scale: channel.unit === "rev/s" ? 1 : FASTEST / most,
        angles: new Float64Array(members.length),
      });
      this.group.add(mesh);
    });
  }

  /** Turn by what the channels say; `seconds` of the run have passed. */
  update(numbers: Float32Array, places: THREE.Vector3[], turns: THREE.Quaternion[], seconds: number): void {
    const [p, q, about] = [new THREE.Vector3(), new THREE.Quaternion(), new THREE.Quaternion()];
    const [matrix, one] = [new THREE.Matrix4(), new THREE.Vector3(1, 1, 1)];
    const down = new THREE.Vector3(0, -1, 0);
    const along = new THREE.Vector3(1, 0, 0);
    for (const part of this.parts) {
      this.members.forEach((vehicle, i) => {
        const states = this.layout.of(numbers, vehicle, "actuators");
        const state = states[part.channel] ?? 0;
        q.copy(part.base);
        if (part.propels) {
          if (part.azimuth >= 0) q.premultiply(about.setFromAxisAngle(down, states[part.azimuth] ?? 0));
          const rate = Math.min(Math.max(state * part.scale, -FASTEST), FASTEST);
          part.angles[i] = (part.angles[i]! + 2 * Math.PI * rate * seconds) % (2 * Math.PI);
          q.multiply(about.setFromAxisAngle(along, part.angles[i]));
        } else {
          part.angles[i] = state;
          q.premultiply(about.setFromAxisAngle(part.hinge, state));
        }
        p.copy(part.at).applyQuaternion(turns[vehicle]!).add(places[vehicle]!);
        q.premultiply(turns[vehicle]!);
        part.mesh.setMatrixAt(i, matrix.compose(p, q, one));
      });
      part.mesh.instanceMatrix.needsUpdate = true;
    }
  }

  /** Angle of a part of a member, rad, for the tests: of a fin its deflection, else that of its shaft. */
  angle(channel: number, member = 0): number | undefined {
    return this.parts.find((part) => part.channel === channel)?.angles[member];
  }
}
