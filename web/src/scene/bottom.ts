// The bottom, flat or a grid of depths, with colours and contours by depth, and caustics.

import * as THREE from "three";

import type { BottomCard } from "../messages";
import { numbersOf } from "../state";
import { TONES as WITHOUT_FOG } from "./light";

export class Bottom {
  readonly mesh: THREE.Mesh | null;
  private depths: Float32Array | null = null;
  private readonly phase = { value: 0 };
  /** 1 where the bottom is drawn as a chart: coloured by depth, seen through clear water. */
  private readonly chart = { value: 0 };
  private readonly deepest = { value: 50 };

  constructor(
    private readonly depth: number | null,
    private card: BottomCard | null,
  ) {
    if (card === null && depth === null) {
      this.mesh = null;
      return;
    }
    let geometry: THREE.BufferGeometry;
    if (card === null) {
      geometry = new THREE.PlaneGeometry(12000, 12000, 8, 8).rotateX(-Math.PI / 2);
    } else {
      geometry = this.shaped(card);
    }
    const material = new THREE.MeshStandardMaterial({ roughness: 1, color: 0xffffff });
    material.onBeforeCompile = (shader) => {
      Object.assign(shader.uniforms, { phase: this.phase, chart: this.chart, deepest: this.deepest });
      shader.fragmentShader = shader.fragmentShader
        .replace("#include <common>", `#include <common>\nuniform float phase, chart, deepest;${CAUSTICS}`)
        .replace(
          "#include <color_fragment>",
          /* glsl */ `
          float depth = -vFogPlace.y;
          diffuseColor.rgb = bottomColour(depth, vFogPlace.xz);
          diffuseColor.rgb *= 1.0 + caustics(vFogPlace.xz, phase) * exp(-0.07 * max(depth, 0.0));`,
        )
        .replace("#include <tonemapping_fragment>", CHART);
      shader.fragmentShader = moveFogPars(shader.fragmentShader);
    };
    this.mesh = new THREE.Mesh(geometry, material);
    if (card === null) this.mesh.position.y = -depth!;
    this.mesh.receiveShadow = false;
  }

  /** Another part of the map, in the place of the one before. */
  change(card: BottomCard): void {
    if (this.mesh === null || this.card === null) return;
    this.card = card;
    this.mesh.geometry.dispose();
    this.mesh.geometry = this.shaped(card);
  }

  private shaped(card: BottomCard): THREE.BufferGeometry {
    this.depths = new Float32Array(numbersOf(card.depth));
    this.deepest.value = this.depths.reduce((a, b) => Math.max(a, b), 1);
    return terrain(card, this.depths);
  }

  /** Depth under a place, m, for the camera; null where there is no bottom. */
  depthAt(north: number, east: number): number | null {
    if (this.card === null || this.depths === null) return this.depth;
    const { origin, spacing, rows, columns } = this.card;
    const a = Math.min(Math.max((north - origin[0]) / spacing[0], 0), rows - 1.001);
    const b = Math.min(Math.max((east - origin[1]) / spacing[1], 0), columns - 1.001);
    const [i, j] = [Math.floor(a), Math.floor(b)];
    const [s, t] = [a - i, b - j];
    const at = (r: number, c: number) => this.depths![r * columns + c] ?? 0;
    return (
      (1 - s) * ((1 - t) * at(i, j) + t * at(i, j + 1)) +
      s * ((1 - t) * at(i + 1, j) + t * at(i + 1, j + 1))
    );
  }

  update(time: number, x: number, z: number, chart: boolean): void {
    this.phase.value = time;
    this.chart.value = chart ? 1 : 0;
    if (this.mesh && this.card === null) {
      this.mesh.position.x = Math.round(x / 100) * 100;
      this.mesh.position.z = Math.round(z / 100) * 100;
    }
  }
}

/** The declaration of the fragment's place is needed before it is used. */
function moveFogPars(shader: string): string {
  const without = shader.replace("#include <fog_pars_fragment>", "");
  return without.replace("#include <common>", "#include <common>\n#include <fog_pars_fragment>");
}

function terrain(card: BottomCard, depths: Float32Array): THREE.BufferGeometry {
  const { origin, spacing, rows, columns } = card;
  const places = new Float32Array(3 * rows * columns);
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) {
      const at = i * columns + j;
      places[3 * at] = origin[0] + spacing[0] * i;
      places[3 * at + 1] = -depths[at]!;
      places[3 * at + 2] = origin[1] + spacing[1] * j;
    }
  }
  const faces: number[] = [];
  for (let i = 0; i < rows - 1; i++) {
    for (let j = 0; j < columns - 1; j++) {
      const a = i * columns + j;
      faces.push(a, a + 1, a + columns + 1, a, a + columns + 1, a + columns);
    }
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(places, 3));
  geometry.setIndex(faces);
  geometry.computeVertexNormals();
  return geometry;
}

const CAUSTICS = /* glsl */ `
float bottomHash(vec2 p) { return fract(sin(dot(p, vec2(127.1, 311.7))) * 43758.5453); }
float bottomNoise(vec2 p) {
  vec2 i = floor(p), f = fract(p);
  f = f * f * (3.0 - 2.0 * f);
  return mix(mix(bottomHash(i), bottomHash(i + vec2(1, 0)), f.x),
    mix(bottomHash(i + vec2(0, 1)), bottomHash(i + vec2(1, 1)), f.x), f.y);
}
float caustics(vec2 p, float t) {
  vec2 q = p * 0.9;
  float a = bottomNoise(q + vec2(0.7 * t, 0.3 * t)), b = bottomNoise(1.7 * q - vec2(0.4 * t, 0.6 * t));
  float line = 1.0 - abs(2.0 * (0.5 * a + 0.5 * b) - 1.0);
  return 1.6 * pow(line, 9.0);
}
vec3 bottomColour(float depth, vec2 p) {
  vec3 land = vec3(0.30, 0.33, 0.20), beach = vec3(0.80, 0.70, 0.50);
  vec3 sand = vec3(0.62, 0.56, 0.42), mud = vec3(0.36, 0.35, 0.31);
  vec3 colour = depth < 0.0 ? mix(beach, land, smoothstep(0.5, 4.0, -depth))
    : mix(mix(beach, sand, smoothstep(0.0, 6.0, depth)), mud, smoothstep(10.0, 80.0, depth));
  float grain = 0.6 * bottomNoise(p * 0.35) + 0.3 * bottomNoise(p * 1.9) + 0.2 * bottomNoise(p * 9.0);
  colour *= 0.70 + 0.55 * grain;
  float step_ = depth < 20.0 ? 1.0 : depth < 100.0 ? 5.0 : 25.0;
  float off = abs(fract(depth / step_ + 0.5) - 0.5) / max(fwidth(depth / step_), 1e-4);
  return fwidth(depth) > 1e-5 ? mix(colour * 0.62, colour, smoothstep(0.4, 1.4, off)) : colour;
}
`;

/** In place of the light that is lost on its way when the bottom is drawn as a chart. */
const CHART = /* glsl */ `
#ifdef USE_FOG
  vec3 seen = throughWater(gl_FragColor.rgb, cameraPosition, vFogPlace, fogColor, fogNear, fogFar);
  float down = -vFogPlace.y;
  float share = pow(clamp(down / deepest, 0.0, 1.0), 0.6);
  vec3 tint = down < 0.0 ? vec3(0.45, 0.40, 0.20)
    : mix(vec3(0.42, 0.66, 0.74), vec3(0.005, 0.05, 0.18), share);
  float every = deepest < 8.0 ? 1.0 : deepest < 40.0 ? 5.0 : deepest < 200.0 ? 10.0 : 50.0;
  float off = abs(fract(down / every + 0.5) - 0.5) / max(fwidth(down / every), 1e-4);
  if (fwidth(down) > 1e-5) tint *= mix(0.55, 1.0, smoothstep(0.4, 1.4, off));
  gl_FragColor.rgb = mix(seen, tint * (0.75 + 0.25 * abs(normal.z)), chart);
#endif
${WITHOUT_FOG}
`;
