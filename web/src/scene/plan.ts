// What is planned: tracks, waypoints with their circles of acceptance, and the fence.

import * as THREE from "three";

import type { Hello, VehicleCard } from "../messages";
import { place } from "./axes";
import { colourOf } from "./vehicles";

const MOST = 20;
const FENCE = 0xff5c5c;

/** Points of the planned path of a vehicle, NED; a leg that keeps a velocity leads nowhere. */
export function pathOf(card: VehicleCard): [number, number, number][] {
  const points: [number, number, number][] = [];
  for (const leg of card.legs) {
    if (leg.kind === "velocity") continue;
    const last = points[points.length - 1];
    const apart = !last || Math.hypot(last[0] - leg.start[0], last[1] - leg.start[1]) > 0.01;
    if (leg.kind === "track" && apart) points.push(leg.start);
    points.push(leg.end);
  }
  return points;
}

function line(points: THREE.Vector3[], colour: number): THREE.Line {
  const made = new THREE.Line(
    new THREE.BufferGeometry().setFromPoints(points),
    new THREE.LineDashedMaterial({ color: colour, dashSize: 2, gapSize: 1.5 }),
  );
  made.computeLineDistances();
  return made;
}

/** A fence as a low translucent wall that stands in the water. */
function fence(corners: [number, number][]): THREE.Group {
  const group = new THREE.Group();
  const closed = [...corners, corners[0]!];
  const places: number[] = [];
  const faces: number[] = [];
  closed.forEach(([north, east], i) => {
    places.push(north, 1.6, east, north, -1.6, east);
    if (i) faces.push(2 * i - 2, 2 * i - 1, 2 * i, 2 * i, 2 * i - 1, 2 * i + 1);
  });
  const shape = new THREE.BufferGeometry();
  shape.setAttribute("position", new THREE.Float32BufferAttribute(places, 3));
  shape.setIndex(faces);
  const wall = new THREE.Mesh(
    shape,
    new THREE.MeshBasicMaterial({ color: FENCE, transparent: true, opacity: 0.22, side: THREE.DoubleSide, depthWrite: false }),
  );
  wall.renderOrder = 3;
  const top = closed.map(([north, east]) => new THREE.Vector3(north, 1.6, east));
  group.add(wall, new THREE.Line(new THREE.BufferGeometry().setFromPoints(top), new THREE.LineBasicMaterial({ color: FENCE })));
  return group;
}

export function plans(hello: Hello): THREE.Group {
  const group = new THREE.Group();
  const fences = new Set<string>();
  hello.vehicles.slice(0, MOST).forEach((card, i) => {
    const colour = colourOf(i);
    const points = pathOf(card).map((p) => place(p, new THREE.Vector3()));
    if (points.length > 1) group.add(line(points, colour));
    for (const leg of card.legs) {
      if (leg.kind === "velocity") continue;
      const end = place(leg.end, new THREE.Vector3());
      const thick = Math.max(0.012 * leg.acceptance, 0.04);
      const ring = new THREE.Mesh(
        new THREE.TorusGeometry(Math.max(leg.acceptance, 0.5), thick, 6, 48).rotateX(Math.PI / 2),
        new THREE.MeshBasicMaterial({ color: colour, transparent: true, opacity: 0.8 }),
      );
      const pole = new THREE.Mesh(
        new THREE.CylinderGeometry(0.05, 0.05, 4, 6),
        new THREE.MeshBasicMaterial({ color: colour, transparent: true, opacity: 0.7 }),
      );
      ring.position.copy(end);
      pole.position.copy(end);
      group.add(ring, pole);
    }
    const key = JSON.stringify(card.fence);
    if (card.fence.length && !fences.has(key)) {
      fences.add(key);
      const wall = fence(card.fence);
      wall.name = "fence";
      group.add(wall);
    }
  });
  return group;
}
