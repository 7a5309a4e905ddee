// The surface: the very wave components of the physics, summed where it is drawn.

import * as THREE from "three";

import type { WavesCard } from "../messages";
import { SKY, WATER } from "./light";

/**
 * GLSL: elevation, slopes towards north and east, and the slopes' variance that was left out.
 *
 *     a cos(ω t + ε − k·x0 − k·local),  local = place − x0
 *
 * ω t + ε − k·x0 comes in the table, reduced to one turn in double precision: single precision is
 * then enough for a tenth of a millimetre. Waves too short for the `spacing` of samples fade out.
 */
export const SEA = /* glsl */ `
uniform highp sampler2D waveTable;
uniform int waveCount;
vec4 seaSurface(vec2 local, float spacing) {
  vec4 found = vec4(0.0);
  for (int i = 0; i < waveCount; i++) {
    vec4 wave = texelFetch(waveTable, ivec2(i, 0), 0);
    float k = length(wave.yz);
    float here = 1.0 - smoothstep(1.1, 2.4, k * spacing);
    float angle = wave.w - dot(wave.yz, local);
    angle -= 6.283185307179586 * floor(angle * 0.15915494309189535 + 0.5);
    float height = here * wave.x * cos(angle);
    found.x += height;
    found.yz += here * wave.x * sin(angle) * wave.yz;
    found.w += (1.0 - here * here) * 0.5 * wave.x * wave.x * k * k;
  }
  return found;
}
`;

const TURN = 2 * Math.PI;

/** Components for which there is room at first. */
const ROOM = 256;

/** The table of components around a place at a time. */
export class Sea {
  /** How many there are, as a uniform: the sea may change while it is watched. */
  readonly count = { value: 0 };
  readonly texture = new THREE.DataTexture(new Float32Array(4), 1, 1, THREE.RGBAFormat, THREE.FloatType);
  slopeVariance = 0;
  significantHeight = 0;
  private table = new Float32Array(4);
  private kx = new Float64Array(0);
  private ky = new Float64Array(0);
  private waves: WavesCard | null = null;

  constructor(waves: WavesCard | null) {
    this.change(waves);
  }

  /** Other waves, perhaps more of them than before. */
  change(waves: WavesCard | null): void {
    const n = waves?.amplitude.length ?? 0;
    this.waves = waves;
    this.count.value = n;
    this.kx = new Float64Array(n);
    this.ky = new Float64Array(n);
    if (this.table.length < 4 * n || this.table.length === 4) {
      const room = Math.max(2 * n, ROOM);
      this.table = new Float32Array(4 * room);
      this.texture.dispose();
      this.texture.image = { data: this.table, width: room, height: 1 };
    }
    let slopes = 0;
    let energy = 0;
    for (let i = 0; i < n; i++) {
      const k = waves!.wavenumber[i]!;
      this.kx[i] = k * Math.cos(waves!.direction[i]!);
      this.ky[i] = k * Math.sin(waves!.direction[i]!);
      this.table.set([waves!.amplitude[i]!, this.kx[i]!, this.ky[i]!, 0], 4 * i);
      slopes += 0.5 * (waves!.amplitude[i]! * k) ** 2;
      energy += 0.5 * waves!.amplitude[i]! ** 2;
    }
    this.slopeVariance = slopes;
    this.significantHeight = 4 * Math.sqrt(energy);
    this.texture.needsUpdate = true;
  }

  /** Phases for places told from here on relative to north and east. */
  centre(north: number, east: number, time: number): void {
    for (let i = 0; i < this.count.value; i++) {
      const phase =
        this.waves!.omega[i]! * time +
        this.waves!.phase[i]! -
        this.kx[i]! * north -
        this.ky[i]! * east;
      this.table[4 * i + 3] = phase - TURN * Math.round(phase / TURN);
    }
    this.texture.needsUpdate = true;
  }

  /** Elevation at one place, for the camera. */
  elevation(north: number, east: number, time: number): number {
    let height = 0;
    for (let i = 0; i < this.count.value; i++) {
      const w = this.waves!;
      height +=
        w.amplitude[i]! *
        Math.cos(w.omega[i]! * time + w.phase[i]! - this.kx[i]! * north - this.ky[i]! * east);
    }
    return height;
  }
}

/** Rings that widen with the distance, so that waves near the eye are drawn finely. */
function rings(count: number, sectors: number, far: number): THREE.BufferGeometry {
  const inner = 7;
  const growth = Math.log(far / inner + 1) / count;
  const places: number[] = [];
  const spacings: number[] = [];
  const faces: number[] = [];
  for (let j = 0; j <= count; j++) {
    const r = inner * (Math.exp(growth * j) - 1);
    const spacing = Math.max((r + inner) * growth, (TURN * r) / sectors);
    for (let i = 0; i < sectors; i++) {
      const angle = (TURN * (i + 0.5 * (j % 2))) / sectors;
      places.push(r * Math.cos(angle), 0, r * Math.sin(angle));
      spacings.push(spacing);
      if (j === count) continue;
      const [a, b] = [j * sectors + i, j * sectors + ((i + 1) % sectors)];
      const [c, d] = [a + sectors, b + sectors];
      if (j % 2) faces.push(a, d, c, a, b, d);
      else faces.push(a, b, c, b, d, c);
    }
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(places, 3));
  geometry.setAttribute("spacing", new THREE.Float32BufferAttribute(spacings, 1));
  geometry.setIndex(faces);
  return geometry;
}

export interface WaterQuality {
  rings: number;
  sectors: number;
  /** Whether slopes are summed for every pixel rather than for every corner. */
  fine: boolean;
}

export class Water {
  readonly mesh: THREE.Mesh<THREE.BufferGeometry, THREE.ShaderMaterial>;

  constructor(
    private readonly sea: Sea,
    shared: Record<string, THREE.IUniform>,
    windSpeed: number,
  ) {
    const material = new THREE.ShaderMaterial({
      uniforms: {
        ...shared,
        waveTable: { value: sea.texture },
        waveCount: sea.count,
        ripples: { value: 0.003 },
        crest: { value: 0.05 },
        ripplePhase: { value: 0 },
        clearness: { value: 0 },
      },
      side: THREE.DoubleSide,
      transparent: true,
      vertexShader: /* glsl */ `
        ${SEA}
        attribute float spacing;
        varying vec2 vLocal;
        varying vec3 vPlace;
        varying vec4 vSea;
        void main() {
          vLocal = position.xz;
          vSea = seaSurface(vLocal, spacing);
          vec4 place = modelMatrix * vec4(position.x, vSea.x, position.z, 1.0);
          vPlace = place.xyz;
          gl_Position = projectionMatrix * viewMatrix * place;
        }`,
      fragmentShader: /* glsl */ `
        ${SKY}
        ${WATER}
        #ifdef FINE
        ${SEA}
        #endif
        uniform float eyeDepth;
        uniform float ripples;
        uniform float crest;
        uniform float ripplePhase;
        uniform float clearness;
        varying vec2 vLocal;
        varying vec3 vPlace;
        varying vec4 vSea;
        float foamNoise(vec2 p) {
          vec2 i = floor(p), f = fract(p);
          f = f * f * (3.0 - 2.0 * f);
          vec4 h = fract(sin(vec4(dot(i, vec2(127.1, 311.7)), dot(i + vec2(1, 0), vec2(127.1, 311.7)),
            dot(i + vec2(0, 1), vec2(127.1, 311.7)), dot(i + vec2(1, 1), vec2(127.1, 311.7)))) * 43758.5453);
          return mix(mix(h.x, h.y, f.x), mix(h.z, h.w, f.x), f.y);
        }
        void main() {
          vec3 toEye = cameraPosition - vPlace;
          float far = length(toEye);
          toEye /= far;
          float spacing = sqrt(length(dFdx(vLocal)) * length(dFdy(vLocal)));
          #ifdef FINE
          vec4 sea = seaSurface(vLocal, spacing);
          #else
          vec4 sea = vSea;
          #endif
          float left = sea.w + ripples;
          vec2 slope = sea.yz;
          // gusts: patches of ripples without straight edges, large ones and small
          vec2 gusts = vec2(foamNoise(0.21 * vPlace.xz + 0.1 * ripplePhase),
            foamNoise(1.3 * vPlace.xz - 0.3 * ripplePhase));
          for (int i = 0; i < 5; i++) { // ripples too short for the physics: for the eye alone
            float angle = 2.1 + 2.399963 * float(i);
            float k = 5.0 * pow(1.7, float(i));
            float here = 1.0 - smoothstep(0.7, 1.8, k * spacing);
            vec2 along = vec2(cos(angle), sin(angle));
            float turn = k * dot(along, vPlace.xz) - sqrt(9.81 * k) * ripplePhase;
            vec2 across = vec2(-along.y, along.x);
            turn += 2.3 * sin(0.31 * k * dot(across, vPlace.xz) + 1.9 * float(i));
            float gust = i < 2 ? gusts.x : gusts.y;
            slope += here * sqrt(0.35 * ripples) * gust * along * cos(turn);
          }
          vec3 normal = normalize(vec3(-slope.x, 1.0, -slope.y));
          vec3 colour;
          float opaque = 1.0;
          if (eyeDepth > 0.0) {
            // from below: sky within Snell's window, the water's own light beyond it
            vec3 down = -normal;
            float inside = max(dot(toEye, down), 0.0);
            float sine = 1.333 * sqrt(max(1.0 - inside * inside, 0.0));
            float window = 1.0 - smoothstep(0.90, 1.04, sine);
            vec3 out_ = refract(-toEye, down, 1.333);
            vec3 above = sine < 1.0 ? skyColour(out_) * 0.9 : vec3(0.0);
            above += sine < 1.0 ? sunColour() * 4.0 * pow(max(dot(out_, sunDirection), 0.0), 220.0)
              : vec3(0.0);
            colour = mix(veil(0.0, toEye), above + 0.5 * WATER_LIGHT, window);
            colour = throughWater(colour, cameraPosition, vPlace, colour, vPlace.y + 0.01, 0.0);
          } else {
            float facing = max(dot(toEye, normal), 0.02);
            float rough = sqrt(left);
            float fresnel = 0.02 + 0.98 * pow(1.0 - facing, 5.0 * exp(-2.69 * rough))
              / (1.0 + 22.7 * pow(rough, 1.5));
            vec3 mirrored = reflect(-toEye, normal);
            mirrored.y = abs(mirrored.y) + 0.15 * rough;
            vec3 sky = skyColour(normalize(mirrored));
            vec3 middle = normalize(toEye + sunDirection);
            float cosine = max(dot(normal, middle), 0.01);
            float tangent = (1.0 - cosine * cosine) / (cosine * cosine);
            float width = 2.0 * left + 0.0006;
            float glint = exp(-tangent / width) / (3.14159 * width * pow(cosine, 4.0));
            glint *= step(0.0, sunDirection.y) * 0.02 / (4.0 * facing * max(sunDirection.y, 0.08));
            vec3 body = WATER_LIGHT * (0.13 + 0.25 * max(sunDirection.y, 0.0));
            float high = clamp(0.5 + sea.x / crest, 0.0, 1.4);
            float lit = pow(max(dot(-toEye, normalize(vec3(sunDirection.x, 0.0, sunDirection.z))), 0.0), 2.0);
            body += vec3(0.006, 0.075, 0.070) * high * high * (0.35 + 0.9 * lit);
            colour = mix(body, sky, clamp(fresnel, 0.0, 1.0)) + sunColour() * min(glint, 6.0);
            float breaking = smoothstep(0.55, 0.95, sea.x / crest)
              * smoothstep(0.10, 0.30, length(sea.yz));
            if (breaking > 0.01) {
              float bubbles = 0.5 * foamNoise(vPlace.xz * 2.3) + 0.32 * foamNoise(vPlace.xz * 6.1)
                + 0.25 * foamNoise(vPlace.xz * 15.0);
              float foam = breaking * smoothstep(0.75 - 0.6 * breaking, 1.0 - 0.25 * breaking, bubbles + 0.12);
              colour = mix(colour, mix(vec3(0.82, 0.86, 0.88), sunColour(), 0.2), 0.8 * foam);
            }
            opaque = mix(0.80, 1.0, clamp(fresnel + far / 120.0, 0.0, 1.0)) * (1.0 - 0.85 * clearness);
            vec3 level = normalize(vec3(-toEye.x, 0.015, -toEye.z));
            colour = mix(colour, skyColour(level), 1.0 - exp(-far * (0.0001 + airLoss)));
          }
          gl_FragColor = vec4(colour, opaque);
          #include <tonemapping_fragment>
          #include <colorspace_fragment>
        }`,
    });
    this.mesh = new THREE.Mesh(new THREE.BufferGeometry(), material);
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = 2;
    this.refresh(windSpeed);
  }

  /** After the sea has changed. */
  refresh(windSpeed: number): void {
    const { uniforms } = this.mesh.material;
    // what Cox and Munk (1954) saw of slopes, and the components do not hold
    uniforms["ripples"]!.value = Math.max(0.003 + 0.00512 * windSpeed - this.sea.slopeVariance, 0.003);
    uniforms["crest"]!.value = Math.max(this.sea.significantHeight, 0.05);
  }

  /** Finer or coarser. */
  build(quality: WaterQuality): void {
    this.mesh.geometry.dispose();
    this.mesh.geometry = rings(quality.rings, quality.sectors, 9000);
    const defines = this.mesh.material.defines;
    if (quality.fine) defines["FINE"] = "";
    else delete defines["FINE"];
    this.mesh.material.needsUpdate = true;
  }

  /** Around a place (three's axes) at a time; clear water lets the chart below be seen. */
  update(x: number, z: number, time: number, clear: boolean): void {
    this.mesh.material.uniforms["clearness"]!.value = clear ? 1 : 0;
    this.sea.centre(x, z, time);
    this.mesh.position.set(x, 0, z);
    this.mesh.material.uniforms["ripplePhase"]!.value = time;
  }

  /** Elevations by the shader at places relative to the centre, read back: what the tests compare. */
  readBack(renderer: THREE.WebGLRenderer, places: [number, number][]): number[] {
    const n = places.length;
    const data = new Float32Array(4 * n);
    places.forEach(([north, east], i) => data.set([north, east, 0, 0], 4 * i));
    const at = new THREE.DataTexture(data, n, 1, THREE.RGBAFormat, THREE.FloatType);
    at.needsUpdate = true;
    const target = new THREE.WebGLRenderTarget(n, 1, {
      type: THREE.FloatType,
      minFilter: THREE.NearestFilter,
      magFilter: THREE.NearestFilter,
    });
    const material = new THREE.ShaderMaterial({
      uniforms: {
        waveTable: { value: this.sea.texture },
        waveCount: this.sea.count,
        places: { value: at },
      },
      vertexShader: "void main() { gl_Position = vec4(position.xy, 0.0, 1.0); }",
      fragmentShader: /* glsl */ `
        ${SEA}
        uniform highp sampler2D places;
        void main() {
          vec2 local = texelFetch(places, ivec2(gl_FragCoord.xy), 0).xy;
          gl_FragColor = seaSurface(local, 0.0);
        }`,
    });
    const scene = new THREE.Scene();
    scene.add(new THREE.Mesh(new THREE.PlaneGeometry(2, 2), material));
    renderer.setRenderTarget(target);
    renderer.render(scene, new THREE.OrthographicCamera(-1, 1, 1, -1, 0, 1));
    const out = new Float32Array(4 * n);
    renderer.readRenderTargetPixels(target, 0, 0, n, 1, out);
    renderer.setRenderTarget(null);
    target.dispose();
    material.dispose();
    at.dispose();
    return Array.from({ length: n }, (_, i) => out[4 * i]!);
  }
}
