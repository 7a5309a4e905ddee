// Vehicles, and the bodies of the world.

import * as THREE from "three";

import type { Hello } from "../messages";
import { numbersOf, type Layout } from "../state";
import { place, turned } from "./axes";
import { shapeOf } from "./hulls";
import { MovingParts } from "./moving";

const COLOURS = [0xffc53d, 0x40c4ff, 0xff6e6e, 0x7ee787, 0xd2a8ff, 0xffa657];
export function colourOf(index: number): number {
  return COLOURS[index % COLOURS.length]!;
}

/** All vehicles of one kind are drawn at once. */
export class Fleet {
  readonly group = new THREE.Group();
  readonly places: THREE.Vector3[] = [];
  readonly turns: THREE.Quaternion[] = [];
  readonly kinds: { mesh: THREE.InstancedMesh; members: number[]; parts: MovingParts }[] = [];
  private time = 0;

  constructor(
    hello: Hello,
    private readonly layout: Layout,
  ) {
    const kinds = new Map<string, number[]>();
    hello.vehicles.forEach((card, i) => {
      const key = `${card.kind}/${card.length}/${card.beam}/${card.hull}`;
      kinds.set(key, [...(kinds.get(key) ?? []), i]);
      this.places.push(new THREE.Vector3());
      this.turns.push(new THREE.Quaternion());
    });
    for (const members of kinds.values()) {
      const material = new THREE.MeshStandardMaterial({
        vertexColors: true,
        roughness: 0.55,
        metalness: 0.05,
        side: THREE.DoubleSide,
      });
      const card = hello.vehicles[members[0]!]!;
      const shape = shapeOf(card, card.hull === null ? undefined : hello.hulls[card.hull]);
      const mesh = new THREE.InstancedMesh(shape, material, members.length);
      mesh.frustumCulled = false;
      const parts = new MovingParts(card, members, layout);
      this.kinds.push({ mesh, members, parts });
      this.group.add(mesh, parts.group);
    }
  }

  update(numbers: Float32Array, time: number): void {
    const passed = Math.min(Math.max(time - this.time, 0), 0.2);
    this.time = time;
    const one = new THREE.Vector3(1, 1, 1);
    const matrix = new THREE.Matrix4();
    for (const { mesh, members, parts } of this.kinds) {
      members.forEach((vehicle, i) => {
        const p = place(this.layout.of(numbers, vehicle, "position"), this.places[vehicle]!);
        const q = turned(this.layout.of(numbers, vehicle, "attitude"), this.turns[vehicle]!);
        mesh.setMatrixAt(i, matrix.compose(p, q, one));
      });
      mesh.instanceMatrix.needsUpdate = true;
      parts.update(numbers, this.places, this.turns, passed);
    }
  }
}

const MATERIALS: Record<string, number> = {
  steel: 0x5b6670,
  concrete: 0x9a9c98,
  rock: 0x5d574e,
  wood: 0x7b5a36,
  rubber: 0x24272a,
  plastic: 0xd8452f,
};

/** Piers, buoys, rocks, other vessels. */
export class Bodies {
  readonly group = new THREE.Group();
  private readonly moving: THREE.Mesh[] = [];

  constructor(
    hello: Hello,
    private readonly layout: Layout,
  ) {
    for (const card of hello.bodies) {
      const shape = new THREE.BufferGeometry();
      const own = new Float32Array(numbersOf(card.vertices));
      const places = new Float32Array(own.length);
      for (let i = 0; i < own.length; i += 3) {
        places.set([own[i]!, -own[i + 2]!, own[i + 1]!], i);
      }
      shape.setAttribute("position", new THREE.BufferAttribute(places, 3));
      shape.setIndex(new THREE.BufferAttribute(new Uint32Array(numbersOf(card.faces)), 1));
      const flat = shape.toNonIndexed();
      flat.computeVertexNormals();
      const colour = /buoy/.test(card.kind) ? 0xe23b2e : (MATERIALS[card.material] ?? 0x8a8f93);
      const material = new THREE.MeshStandardMaterial({ color: colour, roughness: 0.85 });
      material.side = THREE.DoubleSide;
      const mesh = new THREE.Mesh(flat, material);
      place(card.position, mesh.position);
      turned(card.attitude, mesh.quaternion);
      this.group.add(mesh);
      if (card.moves) this.moving.push(mesh);
    }
  }

  update(numbers: Float32Array): void {
    this.moving.forEach((mesh, i) => {
      place(numbers, mesh.position, this.layout.bodies + 7 * i);
      turned(numbers, mesh.quaternion, this.layout.bodies + 7 * i + 3);
    });
  }
}
