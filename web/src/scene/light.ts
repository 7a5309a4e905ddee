// Sky, sun and the way light goes through water, shared by everything that is drawn.

import * as THREE from "three";

/** GLSL: the colour of the sky in a direction (three's axes), without the disc of the sun. */
export const SKY = /* glsl */ `
uniform vec3 sunDirection;
uniform float airLoss;
vec3 skyColour(vec3 direction) {
  float height = max(direction.y, 0.0);
  float low = 1.0 - smoothstep(0.0, 0.45, sunDirection.y);
  float towards = max(dot(normalize(direction), sunDirection), 0.0);
  vec3 zenith = mix(vec3(0.09, 0.24, 0.58), vec3(0.07, 0.15, 0.36), low);
  vec3 horizon = mix(vec3(0.62, 0.74, 0.86), vec3(0.80, 0.58, 0.44), low);
  vec3 colour = mix(horizon, zenith, 1.0 - exp(-4.2 * height));
  vec3 glow = mix(vec3(0.9, 0.85, 0.75), vec3(1.45, 0.58, 0.20), low);
  colour += glow * (0.38 * pow(towards, 5.0) * exp(-2.2 * height) + 0.35 * pow(towards, 90.0));
  return colour;
}
vec3 sunColour() {
  float low = 1.0 - smoothstep(0.0, 0.45, sunDirection.y);
  return mix(vec3(1.0, 0.95, 0.86), vec3(1.0, 0.60, 0.30), low);
}
`;

/** GLSL: light lost along a path in water, and what the water itself sends towards the eye. */
export const WATER = /* glsl */ `
const vec3 ABSORPTION = vec3(0.22, 0.058, 0.045);
const vec3 DOWNWELLING = vec3(0.16, 0.035, 0.026);
const vec3 WATER_LIGHT = vec3(0.020, 0.190, 0.255);
/* An eye gets used to the dark: it sees as if it were at a seventh of its depth. */
const float ADAPTED = 0.85;
/* What water without end sends to an eye at a depth: brighter from above. */
vec3 veil(float depth, vec3 direction) {
  vec3 light = WATER_LIGHT * exp(-DOWNWELLING * (1.0 - ADAPTED) * max(depth, 0.0));
  return light * mix(0.22, 1.5, smoothstep(-0.8, 0.9, direction.y));
}
/* Colour of something at "there" as seen from "eye", y up, under water that stands at a level. */
vec3 throughWater(vec3 colour, vec3 eye, vec3 there, vec3 haze, float level, float airLoss) {
  eye.y -= level;
  there.y -= level;
  float path = distance(eye, there);
  float wet = eye.y < 0.0 && there.y < 0.0 ? 1.0
    : eye.y > 0.0 && there.y < 0.0 ? there.y / (there.y - eye.y)
    : eye.y < 0.0 && there.y > 0.0 ? eye.y / (eye.y - there.y) : 0.0;
  float dry = path * (1.0 - wet);
  float eyeDeep = max(-eye.y, 0.0);
  colour *= exp(-DOWNWELLING * max(max(-there.y, 0.0) - ADAPTED * eyeDeep, 0.0));
  vec3 kept = exp(-ABSORPTION * path * wet);
  colour = colour * kept + veil(eyeDeep, (there - eye) / max(path, 1e-3)) * (1.0 - kept);
  return mix(colour, haze, 1.0 - exp(-dry * airLoss));
}
`;

/** As three has it, before `patchFog`. */
export const TONES = THREE.ShaderChunk.tonemapping_fragment;

/** Light lost in clear air, 1/m. */
export const CLEAR_AIR = 0.00012;

/** Light lost in air, 1/m, by its visibility, m (Koschmieder): a fiftieth of a contrast is left. */
export function airLoss(visibility: number): number {
  return Math.max(3.912 / visibility, CLEAR_AIR);
}

/** All of three's own materials see the water in place of a fog: its `near` is the level of the
 * water, its `far` the light lost in the air. */
export function patchFog(): void {
  THREE.ShaderChunk.fog_pars_vertex = "varying vec3 vFogPlace;";
  THREE.ShaderChunk.fog_vertex = /* glsl */ `
    vec4 fogPlace = vec4(transformed, 1.0);
    #ifdef USE_INSTANCING
      fogPlace = instanceMatrix * fogPlace;
    #endif
    vFogPlace = (modelMatrix * fogPlace).xyz;
  `;
  THREE.ShaderChunk.fog_pars_fragment = `varying vec3 vFogPlace; uniform vec3 fogColor; uniform float fogNear; uniform float fogFar; ${WATER}`;
  THREE.ShaderChunk.fog_fragment = "";
  // light is lost before tones are mapped, which is not where three puts its fog
  THREE.ShaderChunk.tonemapping_fragment = /* glsl */ `
    #ifdef USE_FOG
      gl_FragColor.rgb =
        throughWater(gl_FragColor.rgb, cameraPosition, vFogPlace, fogColor, fogNear, fogFar);
    #endif
    ${TONES}`;
}

/** Direction to the sun from its height and azimuth, rad, in three's axes. */
export function sunAt(height: number, azimuth: number): THREE.Vector3 {
  const level = Math.cos(height);
  return new THREE.Vector3(level * Math.cos(azimuth), Math.sin(height), level * Math.sin(azimuth));
}

export function skyDome(shared: Record<string, THREE.IUniform>): THREE.Mesh {
  const material = new THREE.ShaderMaterial({
    uniforms: shared,
    side: THREE.BackSide,
    depthWrite: false,
    vertexShader: /* glsl */ `
      varying vec3 vDirection;
      void main() {
        vDirection = position;
        vec4 place = projectionMatrix * mat4(mat3(viewMatrix)) * vec4(position, 1.0);
        gl_Position = place.xyww;
      }`,
    fragmentShader: /* glsl */ `
      ${SKY}
      ${WATER}
      varying vec3 vDirection;
      uniform float eyeDepth;
      float hash(vec2 p) { return fract(sin(dot(p, vec2(127.1, 311.7))) * 43758.5453); }
      float noise(vec2 p) {
        vec2 i = floor(p), f = fract(p);
        f = f * f * (3.0 - 2.0 * f);
        return mix(mix(hash(i), hash(i + vec2(1, 0)), f.x),
          mix(hash(i + vec2(0, 1)), hash(i + vec2(1, 1)), f.x), f.y);
      }
      void main() {
        vec3 direction = normalize(vDirection);
        vec3 colour;
        if (eyeDepth > 0.0) {
          colour = veil(eyeDepth, direction);
        } else {
          colour = skyColour(direction);
          if (direction.y > 0.02) {
            vec2 p = 1.4 * direction.xz / (direction.y + 0.12);
            float cloud = 0.0, size = 0.5;
            for (int i = 0; i < 4; i++) { cloud += size * noise(p); p = 2.1 * p + 7.3; size *= 0.5; }
            float cover = smoothstep(0.50, 0.86, cloud) * smoothstep(0.02, 0.22, direction.y);
            float lit = 0.5 + 0.5 * max(dot(direction, sunDirection), 0.0);
            colour = mix(colour, mix(vec3(0.62), sunColour(), lit * 0.6), 0.55 * cover);
          }
          float towards = dot(direction, sunDirection);
          colour += sunColour() * 14.0 * smoothstep(0.99985, 0.99996, towards);
          // A bank of fog is some hundred metres high.
          vec3 level = normalize(vec3(direction.x, 0.015, direction.z));
          float path = 150.0 / max(direction.y, 0.01);
          colour = mix(colour, skyColour(level), 1.0 - exp(-(airLoss - 0.00012) * path));
        }
        gl_FragColor = vec4(colour, 1.0);
        #include <tonemapping_fragment>
        #include <colorspace_fragment>
      }`,
  });
  const dome = new THREE.Mesh(new THREE.SphereGeometry(1, 32, 16), material);
  dome.frustumCulled = false;
  dome.renderOrder = -1;
  return dome;
}
