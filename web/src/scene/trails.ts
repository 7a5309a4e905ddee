// Where vehicles were.

import * as THREE from "three";

import type { Hello } from "../messages";
import { colourOf } from "./vehicles";
import { SEA, type Sea } from "./water";

const MOST_TRAILS = 400;
const POINTS = 1500;
/** Surface vessels whose trails ride the waves, at the price of summing them at every point. */
const MOST_AFLOAT = 4;
const POINTS_AFLOAT = 600;

/** A trail of every vehicle; those of the first surface vessels lie on the water as it is now. */
export function trailsOf(hello: Hello, sea: Sea): Trail[] {
  let afloat = 0;
  return hello.vehicles.slice(0, MOST_TRAILS).map((card, i) => {
    const floats = card.craft === "surface" && afloat++ < MOST_AFLOAT;
    return new Trail(colourOf(i), Math.max(0.25 * card.length, 0.2), floats ? sea : null);
  });
}

export class Trail {
  readonly line: THREE.Line;
  private readonly most: number;
  private readonly points: Float32Array;
  private readonly centre = new THREE.Vector2();
  private count = 0;
  private last = new THREE.Vector3(1e9, 0, 0);

  constructor(
    colour: number,
    private readonly apart: number,
    sea: Sea | null,
  ) {
    this.most = sea ? POINTS_AFLOAT : POINTS;
    this.points = new Float32Array(3 * this.most);
    const shape = new THREE.BufferGeometry();
    shape.setAttribute("position", new THREE.BufferAttribute(this.points, 3));
    const plain = { color: colour, transparent: true, opacity: 0.6 };
    this.line = new THREE.Line(shape, sea ? afloat(colour, sea, this.centre) : new THREE.LineBasicMaterial(plain));
    this.line.frustumCulled = false;
    this.line.renderOrder = 3;
  }

  /** North, height and east of every point. */
  get track(): Float32Array {
    return this.points.subarray(0, 3 * this.count);
  }

  add(p: THREE.Vector3): void {
    if (!Number.isFinite(p.x) || this.last.distanceTo(p) < this.apart) return;
    this.last.copy(p);
    if (this.count === this.most) {
      this.points.copyWithin(0, 3);
      this.count--;
    }
    this.points.set([p.x, p.y + 0.05, p.z], 3 * this.count++);
    this.line.geometry.setDrawRange(0, this.count);
    this.line.geometry.getAttribute("position").needsUpdate = true;
  }

  /** The middle of the drawn water. */
  update(centre: THREE.Vector3): void {
    this.centre.set(centre.x, centre.z);
  }

  clear(): void {
    this.count = 0;
    this.last.set(1e9, 0, 0);
    this.line.geometry.setDrawRange(0, 0);
  }
}

/** A line on the same surface as the water: one at the heights of then would hang in the air. */
function afloat(colour: number, sea: Sea, centre: THREE.Vector2): THREE.ShaderMaterial {
  return new THREE.ShaderMaterial({
    uniforms: {
      waveTable: { value: sea.texture },
      waveCount: sea.count,
      centre: { value: centre },
      colour: { value: new THREE.Color(colour) },
    },
    transparent: true,
    vertexShader: /* glsl */ `
      ${SEA}
      uniform vec2 centre;
      void main() {
        vec2 local = position.xz - centre;
        float far = length(local);
        float height = seaSurface(local, 0.1 + 0.025 * far).x + 0.05 + 0.006 * far;
        gl_Position = projectionMatrix * viewMatrix * vec4(position.x, height, position.z, 1.0);
      }`,
    fragmentShader: /* glsl */ `
      uniform vec3 colour;
      void main() {
        gl_FragColor = vec4(colour, 0.6);
        #include <tonemapping_fragment>
        #include <colorspace_fragment>
      }`,
  });
}
