// The foam that vessels leave behind them, laid on the same surface as the water.

import * as THREE from "three";

import type { Hello } from "../messages";
import { SKY } from "./light";
import { SEA, type Sea } from "./water";

const MOST_VESSELS = 24;
const POINTS = 48;
/** Slower than this Froude number there is none. */
const LEAST_FROUDE = 0.06;

interface Mark {
  north: number;
  east: number;
  /** Speed over √(gL). */
  froude: number;
}

export class Wakes {
  readonly mesh: THREE.Mesh<THREE.BufferGeometry, THREE.ShaderMaterial>;
  private readonly tracks: Mark[][];
  private readonly members: number[];
  private readonly places = new Float32Array(3 * 2 * MOST_VESSELS * POINTS);
  private readonly looks = new Float32Array(3 * 2 * MOST_VESSELS * POINTS);

  constructor(
    private readonly hello: Hello,
    sea: Sea,
    shared: Record<string, THREE.IUniform>,
  ) {
    this.members = hello.vehicles.flatMap((v, i) => (v.craft === "surface" ? [i] : [])).slice(0, MOST_VESSELS);
    this.tracks = this.members.map(() => []);
    const shape = new THREE.BufferGeometry();
    shape.setAttribute("position", new THREE.BufferAttribute(this.places, 3));
    shape.setAttribute("look", new THREE.BufferAttribute(this.looks, 3));
    const material = new THREE.ShaderMaterial({
      uniforms: {
        waveTable: { value: sea.texture },
        waveCount: sea.count,
        time: { value: 0 },
        ...shared,
      },
      transparent: true,
      depthWrite: false,
      side: THREE.DoubleSide,
      vertexShader: /* glsl */ `
        ${SEA}
        attribute vec3 look;
        varying vec3 vLook;
        varying vec3 vPlace;
        void main() {
          vLook = look;
          float far = length(position.xz);
          float height = seaSurface(position.xz, 0.1 + 0.025 * far).x;
          vec4 place = modelMatrix * vec4(position.x, height + 0.03 + 0.006 * far, position.z, 1.0);
          vPlace = place.xyz;
          gl_Position = projectionMatrix * viewMatrix * place;
        }`,
      fragmentShader: /* glsl */ `
        ${SKY}
        uniform float time;
        varying vec3 vLook;
        varying vec3 vPlace;
        float hash(vec2 p) { return fract(sin(dot(p, vec2(127.1, 311.7))) * 43758.5453); }
        float noise(vec2 p) {
          vec2 i = floor(p), f = fract(p);
          f = f * f * (3.0 - 2.0 * f);
          return mix(mix(hash(i), hash(i + vec2(1, 0)), f.x),
            mix(hash(i + vec2(0, 1)), hash(i + vec2(1, 1)), f.x), f.y);
        }
        void main() {
          float side = vLook.x, age = vLook.y, strength = vLook.z;
          float middle = exp(-9.0 * side * side);
          float arms = exp(-30.0 * pow(abs(side) - 0.8, 2.0));
          float bubbles = 0.45 * noise(vPlace.xz * 3.1) + 0.35 * noise(vPlace.xz * 8.3 + 0.2 * time)
            + 0.3 * noise(vPlace.xz * 19.0);
          float thick = strength * (middle * (1.0 - age) + 0.55 * arms * pow(1.0 - age, 2.0));
          float foam = smoothstep(0.95 - 0.85 * thick, 1.15 - 0.55 * thick, bubbles + 0.28);
          gl_FragColor = vec4(mix(vec3(0.86, 0.9, 0.93), sunColour(), 0.25), 0.85 * foam * min(1.0, 3.0 * thick));
          vec3 away = vPlace - cameraPosition;
          vec3 level = skyColour(normalize(vec3(away.x, 0.015 * length(away), away.z)));
          gl_FragColor.rgb = mix(gl_FragColor.rgb, level, 1.0 - exp(-length(away) * airLoss));
          #include <tonemapping_fragment>
          #include <colorspace_fragment>
        }`,
    });
    this.mesh = new THREE.Mesh(shape, material);
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = 3;
  }

  clear(): void {
    for (const track of this.tracks) track.length = 0;
  }

  /** Where the vessels are now; `speed` tells how fast one goes through the water. */
  add(place: (vehicle: number) => THREE.Vector3, speed: (vehicle: number) => number): void {
    this.members.forEach((vehicle, k) => {
      const { length } = this.hello.vehicles[vehicle]!;
      const track = this.tracks[k]!;
      const [p, last] = [place(vehicle), track[track.length - 1]];
      if (!Number.isFinite(p.x)) return;
      if (last && Math.hypot(p.x - last.north, p.z - last.east) < 0.3 * length) return;
      track.push({ north: p.x, east: p.z, froude: speed(vehicle) / Math.sqrt(9.81 * length) });
      if (track.length > POINTS) track.shift();
    });
  }

  /** Around the middle of the drawn water. */
  update(centre: THREE.Vector3, places: THREE.Vector3[], turns: THREE.Quaternion[], time: number): void {
    this.mesh.position.set(centre.x, 0, centre.z);
    this.mesh.material.uniforms["time"]!.value = time;
    const faces: number[] = [];
    const ahead = new THREE.Vector3();
    let at = 0;
    this.members.forEach((vehicle, k) => {
      const card = this.hello.vehicles[vehicle]!;
      const now = places[vehicle]!;
      ahead.set(1, 0, 0).applyQuaternion(turns[vehicle]!);
      const stern = { north: now.x - 0.35 * card.length * ahead.x, east: now.z - 0.35 * card.length * ahead.z };
      // marks that the stern has not passed yet are hidden under the hull
      const behind = this.tracks[k]!.filter(
        (m) => (m.north - stern.north) * ahead.x + (m.east - stern.east) * ahead.z < 0,
      );
      const newest = behind[behind.length - 1];
      if (!newest) return;
      const trail = [...behind, { ...stern, froude: newest.froude }].reverse();
      let gone = 0;
      trail.forEach((mark, i) => {
        const next = trail[Math.min(i + 1, trail.length - 1)]!;
        const before = trail[Math.max(i - 1, 0)]!;
        gone += Math.hypot(mark.north - before.north, mark.east - before.east);
        const [dn, de] = [before.north - next.north, before.east - next.east];
        const length = Math.hypot(dn, de) || 1;
        const half = 0.55 * card.beam + 0.14 * gone;
        const age = Math.min(gone / (9 * card.length), 1);
        const strength = Math.min(Math.max(3.2 * (mark.froude - LEAST_FROUDE), 0), 1);
        for (const side of [-1, 1]) {
          const v = at + 2 * i + (side + 1) / 2;
          const north = mark.north - (side * half * de) / length - centre.x;
          const east = mark.east + (side * half * dn) / length - centre.z;
          this.places.set([north, 0, east], 3 * v);
          this.looks.set([side, age, strength], 3 * v);
        }
        if (i) {
          const a = at + 2 * i;
          faces.push(a - 2, a - 1, a, a, a - 1, a + 1);
        }
      });
      at += 2 * trail.length;
    });
    const shape = this.mesh.geometry;
    shape.setIndex(faces);
    shape.getAttribute("position").needsUpdate = true;
    shape.getAttribute("look").needsUpdate = true;
  }
}
