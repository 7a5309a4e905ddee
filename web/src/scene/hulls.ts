// Shapes of vehicles by their size and kind: x forward, y up, z to starboard, m.

import * as THREE from "three";
import { mergeGeometries } from "three/examples/jsm/utils/BufferGeometryUtils.js";

import type { ChannelCard, HullCard, VehicleCard } from "../messages";
import { numbersOf } from "../state";

const [YELLOW, BROWN] = [0xf2b21b, 0x8d5b12];
/** Above and below the waterline, of boats and of ships. */
const RED: [number, number] = [0xe8523a, 0x7a2417];
const GREY: [number, number] = [0x27343f, 0x8c2f22];

/** Whether a channel moves a part that is drawn. */
export function movesPart(channel: ChannelCard): boolean {
  return channel.kind === "thruster" || channel.kind === "fin";
}

export function painted(geometry: THREE.BufferGeometry, colour: number): THREE.BufferGeometry {
  const plain = geometry.index ? geometry.toNonIndexed() : geometry;
  plain.deleteAttribute("uv");
  const c = new THREE.Color(colour);
  const n = plain.getAttribute("position").count;
  const colours = new Float32Array(3 * n);
  for (let i = 0; i < n; i++) colours.set([c.r, c.g, c.b], 3 * i);
  plain.setAttribute("color", new THREE.BufferAttribute(colours, 3));
  return plain;
}

function box(l: number, h: number, b: number, x: number, y: number, z: number, colour: number) {
  return painted(new THREE.BoxGeometry(l, h, b).translate(x, y, z), colour);
}

/** A cylinder along x, or upright. */
function tube(r: number, length: number, at: [number, number, number], colour: number, up = false) {
  const shape = new THREE.CylinderGeometry(r, r, length, 20);
  if (!up) shape.rotateZ(Math.PI / 2);
  return painted(shape.translate(...at), colour);
}

/**
 * A hull of given length and beam from the keel up to the deck: full aft, a fine bow, sides that
 * flare a little; antifouling below the waterline (y = 0).
 */
function hull(l: number, b: number, keel: number, deck: number, z: number, top: number, under: number) {
  const [along, around] = [36, 14];
  const places: number[] = [];
  const colours: number[] = [];
  const [upper, lower] = [new THREE.Color(top), new THREE.Color(under)];
  for (let i = 0; i <= along; i++) {
    const u = i / along;
    const fore = Math.max((u - 0.55) / 0.45, 0);
    const width = 0.5 * b * (1 - fore ** 2.4) * (0.82 + 0.18 * Math.min(u / 0.25, 1));
    const rise = keel * (0.75 * fore ** 3 + 0.25 * Math.max(1 - u / 0.15, 0));
    const sheer = deck * (1 + 0.35 * fore ** 2);
    for (let j = 0; j <= around; j++) {
      const v = j / around;
      const half = v < 0.5 ? 1 - 2 * v : 2 * v - 1;
      const side = v < 0.5 ? -1 : 1;
      const y = -(keel - rise) + (keel - rise + sheer) * half ** 1.5;
      const reach = width * Math.min(half ** 0.42, 1) * (0.88 + 0.12 * half);
      places.push(-0.5 * l + l * u + 0.04 * l * fore ** 3 * half, y, z + side * reach);
      const c = y < 0.02 * (keel + deck) ? lower : upper;
      colours.push(c.r, c.g, c.b);
    }
  }
  const faces: number[] = [];
  for (let i = 0; i < along; i++) {
    for (let j = 0; j < around; j++) {
      const a = i * (around + 1) + j;
      faces.push(a, a + around + 1, a + 1, a + 1, a + around + 1, a + around + 2);
    }
    const a = i * (around + 1);
    const e = a + around;
    faces.push(a, e, a + around + 1, e, e + around + 1, a + around + 1); // deck
  }
  for (let j = 1; j < around; j++) faces.push(0, j, j + 1); // transom
  const shape = new THREE.BufferGeometry();
  shape.setAttribute("position", new THREE.Float32BufferAttribute(places, 3));
  shape.setAttribute("color", new THREE.Float32BufferAttribute(colours, 3));
  shape.setIndex(faces);
  const flat = shape.toNonIndexed();
  flat.computeVertexNormals();
  return flat;
}

/** A vehicle's own hull; antifouling below the waterline. */
function ownHull(card: HullCard, top: number, under: number): THREE.BufferGeometry {
  const own = new Float32Array(numbersOf(card.vertices));
  const places = new Float32Array(own.length);
  for (let i = 0; i < own.length; i += 3) places.set([own[i]!, -own[i + 2]!, own[i + 1]!], i);
  const shape = new THREE.BufferGeometry();
  shape.setAttribute("position", new THREE.BufferAttribute(places, 3));
  shape.setIndex(new THREE.BufferAttribute(new Uint32Array(numbersOf(card.faces)), 1));
  const flat = shape.toNonIndexed();
  flat.computeVertexNormals();
  const at = flat.getAttribute("position");
  const colours = new Float32Array(3 * at.count);
  const [upper, lower] = [new THREE.Color(top), new THREE.Color(under)];
  for (let i = 0; i < at.count; i += 3) {
    const c = at.getY(i) + at.getY(i + 1) + at.getY(i + 2) < 0 ? lower : upper;
    for (let j = 0; j < 3; j++) colours.set([c.r, c.g, c.b], 3 * (i + j));
  }
  flat.setAttribute("color", new THREE.BufferAttribute(colours, 3));
  return flat;
}

function catamaran(l: number, b: number, h: number, own?: THREE.BufferGeometry): THREE.BufferGeometry[] {
  const w = 0.26 * b;
  const z = 0.5 * b - 0.5 * w;
  const [keel, deck] = [0.42 * h, own ? topOf(own) : 0.5 * h];
  const hulls = own ? [own] : [-z, z].map((side) => hull(l, w, keel, deck, side, YELLOW, BROWN));
  return [
    ...hulls,
    box(0.5 * l, 0.1 * h, 2 * z, -0.03 * l, deck + 0.05 * h, 0, 0x2b3036),
    box(0.3 * l, 0.34 * h, 0.42 * b, -0.04 * l, deck + 0.26 * h, 0, 0xe9ecef),
    tube(0.012 * l, 0.42 * l, [-0.12 * l, deck + 0.21 * l, 0], 0x50575e, true),
    tube(0.03 * l, 0.035 * l, [-0.12 * l, deck + 0.43 * l, 0], 0x1b1f24, true),
    tube(0.03 * l, 0.1 * l, [-0.46 * l, -0.32 * h, -z], 0x22262b),
    tube(0.03 * l, 0.1 * l, [-0.46 * l, -0.32 * h, z], 0x22262b),
  ];
}

function ship(l: number, b: number, h: number, own?: THREE.BufferGeometry): THREE.BufferGeometry[] {
  const [keel, deck] = [0.42 * h, own ? topOf(own) : 0.38 * h];
  const small = l < 12;
  const parts = [own ?? hull(l, b, keel, deck, 0, ...(small ? RED : GREY))];
  if (small) {
    parts.push(
      box(0.3 * l, 0.3 * h, 0.5 * b, -0.06 * l, deck + 0.15 * h, 0, 0xf1f3f5),
      tube(0.012 * l, 0.34 * l, [-0.1 * l, deck + 0.2 * l, 0], 0x40474e, true),
    );
  } else {
    parts.push(
      box(0.1 * l, 1.0 * h, 0.82 * b, -0.36 * l, deck + 0.5 * h, 0, 0xf3f4f2),
      box(0.06 * l, 0.28 * h, 0.98 * b, -0.34 * l, deck + 0.86 * h, 0, 0x2c3742),
      tube(0.018 * l, 0.6 * h, [-0.42 * l, deck + 1.1 * h, 0], 0xd0762c, true),
      tube(0.004 * l, 0.7 * h, [0.42 * l, deck + 0.5 * h, 0], 0xd8dadc, true),
    );
    for (let i = 0; i < 4; i++) {
      parts.push(box(0.13 * l, 0.1 * h, 0.66 * b, (-0.2 + 0.155 * i) * l, deck + 0.05 * h, 0, 0x6d3b2f));
    }
  }
  return parts;
}

function torpedo(l: number, d: number, wings: boolean, bare: boolean): THREE.BufferGeometry[] {
  const r = 0.5 * d;
  const line: THREE.Vector2[] = [];
  for (let i = 0; i <= 40; i++) {
    const u = i / 40;
    const nose = u > 0.86 ? Math.sqrt(Math.max(1 - ((u - 0.86) / 0.14) ** 2, 0)) : 1;
    const tail = u < 0.3 ? 1 - 0.82 * (1 - u / 0.3) ** 2 : 1;
    line.push(new THREE.Vector2(Math.max(r * nose * tail, 1e-3), (u - 0.5) * l));
  }
  const body = new THREE.LatheGeometry(line, 28).rotateZ(-Math.PI / 2);
  const parts = [painted(body, 0xf5c518), tube(1.01 * r, 0.03 * l, [0.2 * l, 0, 0], 0x20262c)];
  parts.push(tube(1.01 * r, 0.012 * l, [-0.12 * l, 0, 0], 0x20262c));
  for (let i = 0; i < 4 && !bare; i++) {
    const fin = new THREE.BoxGeometry(0.07 * l, 0.85 * d, 0.012 * l);
    fin.translate(-0.43 * l, 0.55 * d, 0).rotateX((i * Math.PI) / 2);
    parts.push(painted(fin, 0x23292f));
  }
  for (let i = 0; i < 3 && !bare; i++) {
    const blade = new THREE.BoxGeometry(0.012 * l, 0.7 * r, 0.02 * l);
    blade.rotateY(0.6).translate(-0.505 * l, 0.4 * r, 0).rotateX((i * 2 * Math.PI) / 3);
    parts.push(painted(blade, 0xc8ccd0));
  }
  if (wings) {
    const wing = new THREE.BoxGeometry(0.07 * l, 0.01 * l, 0.55 * l);
    parts.push(painted(wing.clone().rotateY(-0.6).translate(-0.1 * l, 0, 0.26 * l), 0x23292f));
    parts.push(painted(wing.rotateY(0.6).translate(-0.1 * l, 0, -0.26 * l), 0x23292f));
  } else {
    parts.push(box(0.05 * l, 0.55 * d, 0.012 * l, -0.02 * l, 0.75 * d, 0, 0x23292f));
  }
  return parts;
}

function rov(l: number, b: number, h: number): THREE.BufferGeometry[] {
  const parts = [
    box(0.92 * l, 0.3 * h, 0.8 * b, 0, 0.33 * h, 0, 0x1f6fb5),
    box(0.6 * l, 0.26 * h, 0.34 * b, 0.05 * l, -0.02 * h, 0, 0x15191d),
    tube(0.16 * h, 0.7 * l, [0.04 * l, -0.02 * h, 0], 0x2b3036),
    tube(0.13 * h, 0.6 * l, [0, -0.32 * h, 0], 0x2b3036),
    box(l, 0.05 * h, 0.05 * b, 0, -0.48 * h, 0.46 * b, 0x15191d),
    box(l, 0.05 * h, 0.05 * b, 0, -0.48 * h, -0.46 * b, 0x15191d),
  ];
  const lens = new THREE.SphereGeometry(0.15 * h, 18, 12).translate(0.4 * l, -0.02 * h, 0);
  parts.push(painted(lens, 0x9fd2ee));
  for (const [x, z] of [
    [1, 1],
    [1, -1],
    [-1, 1],
    [-1, -1],
  ] as const) {
    const thruster = new THREE.CylinderGeometry(0.13 * h, 0.13 * h, 0.16 * l, 18, 1, true);
    thruster.rotateZ(Math.PI / 2).rotateY((x * z * Math.PI) / 4);
    parts.push(painted(thruster.translate(0.34 * x * l, -0.1 * h, 0.36 * z * b), 0x3a4148));
    parts.push(box(0.05 * l, 0.9 * h, 0.04 * b, 0.44 * x * l, -0.03 * h, 0.46 * z * b, 0x15191d));
  }
  return parts;
}

function disc(d: number, h: number): THREE.BufferGeometry[] {
  const r = 0.5 * d;
  return [
    painted(new THREE.CylinderGeometry(r, 0.92 * r, 0.55 * h, 32).translate(0, 0, 0), 0xf08c1e),
    painted(new THREE.CylinderGeometry(0.6 * r, 0.72 * r, 0.3 * h, 28).translate(0, 0.42 * h, 0), 0xf4f5f6),
    painted(new THREE.SphereGeometry(0.16 * r, 14, 10).translate(0.6 * r, 0.36 * h, 0), 0xd43d2a),
    tube(0.03 * r, 0.9 * h, [0, 0.9 * h, 0], 0x30363c, true),
  ];
}

function topOf(shape: THREE.BufferGeometry): number {
  shape.computeBoundingBox();
  return shape.boundingBox!.max.y;
}

/** The shape of a vehicle: its own hull where it has one, and what stands on such a form. */
export function shapeOf(card: VehicleCard, own?: HullCard): THREE.BufferGeometry {
  const { length: l, beam: b } = card;
  const h = card.height || 0.6 * b;
  let parts: THREE.BufferGeometry[];
  const thick = Math.min(b, h); // wings are no part of a body
  const bare = card.channels.some(movesPart); // its fins and propellers are drawn as they move
  if (card.craft === "submerged") {
    parts = l / thick > 3.5 ? torpedo(l, thick, b > 2 * thick, bare) : rov(l, b, h);
  } else if (own?.form === "file") parts = [ownHull(own, ...(l < 12 ? RED : GREY))];
  else if (l / b < 1.25) parts = own ? [ownHull(own, YELLOW, BROWN)] : disc(l, h);
  else if (l / b < 2.6) parts = catamaran(l, b, h, own && ownHull(own, YELLOW, BROWN));
  else parts = ship(l, b, h, own && ownHull(own, ...(l < 12 ? RED : GREY)));
  return mergeGeometries(parts.map((p) => (p.index ? p.toNonIndexed() : p)));
}
