// The surface of the sea, from above and from below.

uniform sampler2D reflections;
uniform sampler2D passages;

// What a calm sea shows somewhere: light, and how much farther away than the surface at a place; 0
// for nothing.
vec4 shown_at(sampler2D shown, vec2 where, float surface) {
  bool inside = all(greaterThanEqual(where, vec2(0.0))) && all(lessThan(where, vec2(1.0)));
  vec4 found = textureLod(shown, where, 0.0);
  return inside ? vec4(found.rgb, max(found.a - surface, 0.0)) : vec4(0.0);
}

// A body in the mirror of the surface: what a calm sea shows where the way that the waves send
// leads, as far as what it shows at the pixel itself, or as bodies may be.
vec4 in_reflection(vec3 start, vec3 way, float surface, float reach) {
  vec4 found = shown_at(reflections, seen_at(start), surface);
  float far = found.a > 0.0 ? found.a : 0.2 * reach;
  found = shown_at(reflections, seen_at(in_mirror(start + way * far)), surface);
  return found.a < reach ? found : vec4(0.0);
}

// The same of one behind the surface.
vec4 in_passage(vec3 start, vec3 way, float surface, float reach) {
  vec4 found = shown_at(passages, seen_at(start), surface);
  float far = found.a > 0.0 ? found.a : 0.5 * reach;
  vec3 place = apparent(start + way * far, length(start.xy), 2);
  found = shown_at(passages, seen_at(place), surface);
  return found.a < reach ? found : vec4(0.0);
}

#ifdef CLEAR
#ifdef MAPPED
// Along a way that leads down, in a few steps from one depth of the ground to the next, and to the
// facet there.
float to_bottom(vec3 start, vec3 way, float reach, out vec3 normal) {
  float at = 0.0;
  for (int k = 0; k < FLOOR_STEPS; k++) {
    vec3 place = start + way * at;
    float gap = textureLod(map, floor_texture(place.xy), 0.0).r - place.z - eye.z;
    at += gap / max(way.z, 0.2);
  }
  float offset;
  floor_facet(map, floor_among(start.xy + way.xy * at), normal, offset);
  float met = (offset - dot(normal, start)) / dot(normal, way);
  at = abs(met - at) < 0.5 * at ? met : at;
  return at < reach && at > 0.0 ? at : NEVER;
}
#endif
#ifdef FLAT
float to_bottom(vec3 start, vec3 way, float reach, out vec3 normal) {
  normal = vec3(0.0, 0.0, -1.0);
  float at = (floor_step.z - start.z - eye.z) / max(way.z, 1e-6);
  return at < reach && at > 0.0 ? at : NEVER;
}
#endif

// What a way through the water from the surface shows; `passed` is a body on it.
vec3 through_water(vec3 start, vec3 way, float reach, vec4 passed) {
  float depth = max(start.z + eye.z, 0.0);
  float distance = NEVER;
  vec3 solid = vec3(0.0);
#if defined(FLAT) || defined(MAPPED)
  vec3 normal;
  distance = to_bottom(start, way, reach, normal);
  vec3 place = start + way * min(distance, reach);
  vec3 paint = bottom_albedo(place, normal, picture.z * (min(distance, reach) + 5.0));
#ifdef MAPPED
  normal = smooth_normal(place.xy);
#endif
  solid = in_water(Met(place, normal, distance, BOTTOM), normal, paint, 1.0);
#endif
  if (passed.a > 0.0 && passed.a < distance) {
    distance = passed.a;
    solid = passed.rgb;
  }
  vec3 endless = veiling.rgb * attenuation.rgb / veiled(way.z) * exp(-daylight.rgb * depth);
  vec3 through = exp(-attenuation.rgb * distance);
  vec3 lost = through * exp(-daylight.rgb * way.z * distance);
  return distance < NEVER ? endless * (1.0 - lost) + solid * through : endless;
}
#endif

layout(location = 0) out vec4 colour;
layout(location = 1) out vec4 albedo;

void main() {
  vec4 found = met_at(gl_FragCoord.xy);
#ifdef CLEAR
  if (kind_of(found.w) != KIND_CLEAR) discard;
#else
  if (kind_of(found.w) != KIND_WATER) discard;
#endif
  Ray ray = ray_of(gl_FragCoord.xy);
  vec3 place = ray.origin + ray.direction * found.z;
  vec3 up = unfolded(found.xy);
  float variance = variance_at(place.xy, footprint_of(found.z, ray.direction.z));
#ifdef WET
  vec3 down = -up;
  float cosine = max(-dot(ray.direction, down), 0.01);
  float share = reflectance(cosine, 1.0 / INDEX);
  // The sky within Snell's window, with the sun spread by ripples.
  vec3 way = refracted(ray.direction, down, cosine, 1.0 / INDEX);
  vec3 outside = sky_radiance(way);
  vec3 apart = way - sun.xyz;
  float wide = (INDEX - 1.0) * (INDEX - 1.0) * variance + SUN_RADIUS * SUN_RADIUS;
  outside += sun_irradiance.rgb * exp(-dot(apart, apart) / wide) / (PI * wide);
  vec4 dry = in_passage(place, way, found.z, DRY_REACH);
  if (dry.a > 0.0) outside = dry.rgb;
  vec3 seen = share < 0.999 ? (1.0 - share) * INDEX * INDEX * outside : vec3(0.0);
  // The deep mirrored around it.
  vec3 back = mirrored(ray.direction, down, cosine);
  back.z = abs(back.z);
  vec3 deep = veiling.rgb * attenuation.rgb / veiled(back.z);
#ifdef CLEAR
  deep = through_water(place, back, reaches.y, in_reflection(place, back, found.z, reaches.y));
#endif
  if (share > 0.02) seen += share * deep;
  seen = faded(seen, ray.direction.z, found.z);
#ifdef LAMPS
  seen += lamp_veil(ray, found.z);
#endif
#else
  float straight = max(-dot(ray.direction, up), 0.01);
  float share = share_above(straight, variance);
  vec3 mirror = mirrored(ray.direction, up, straight);
  mirror.z = -sqrt(mirror.z * mirror.z + 0.5 * variance);
  vec4 body = in_reflection(place, normalize(mirror), found.z, MIRROR_REACH);
  vec3 seen = share * (body.a > 0.0 ? body.rgb : sky_radiance(mirror));
  seen += sun_irradiance.rgb * glint(-ray.direction, sun.xyz, up, variance, INDEX);
  vec3 rising = veiling.rgb * attenuation.rgb / veiled(1.0);
#ifdef CLEAR
  vec3 way = refracted(ray.direction, up, straight, INDEX);
  rising = through_water(place, way, reaches.x, in_passage(place, way, found.z, reaches.x));
#endif
  seen += rising * (1.0 - share) / (INDEX * INDEX);
  seen = hazed(seen, found.z);
#endif
  colour = vec4(seen, 1.0);
  albedo = vec4(0.0);
}
