// What bodies and bottoms look like and send towards the eye, as `render.appearance` and
// `render.live.solids` have it; where the sun is hidden is told by maps of shadows.

uniform sampler2D bodies;
uniform sampler2D fine;
uniform sampler2D coarse;
#ifdef CASTERS
uniform sampler2DShadow shadows;
#endif
#ifdef MOVERS
uniform sampler2DShadow movers;
#endif
#ifdef MAPPED
uniform sampler2D map;
uniform sampler2D falls;
uniform sampler2D shade;
#endif
#ifdef LAMPS
uniform sampler2D lamps;
#endif

float grain(vec2 at, float footprint) {
  float by = footprint / (4.0 * GRAIN_STEP);
  float over = footprint / (0.1 * GRAIN_TILE);
  vec2 node = at / GRAIN_TILE;
  float near = textureLod(fine, (node + 0.5 / GRAIN_NODES).yx, 0.0).r;
  vec2 wide = at / (16.0 * GRAIN_STEP * COARSE_GRAIN_NODES);
  float far = textureLod(coarse, (wide + 0.5 / COARSE_GRAIN_NODES).yx, 0.0).r;
  return near / (1.0 + by * by) + far / (1.0 + over * over);
}

// Rock on steeps, sediment on flats.
vec3 bottom_albedo(vec3 place, vec3 normal, float footprint) {
  float rock = clamp((GENTLE - abs(normal.z)) / (GENTLE - ROCKY), 0.0, 1.0);
  rock = rock * rock * (3.0 - 2.0 * rock);
  vec3 colour = sediment.rgb + rock * (stone.rgb - sediment.rgb);
  float deep = 0.7 * (place.z + eye.z);
  vec2 at = place.xy + eye.xy + vec2(deep, -deep);
  return colour * (1.0 + CONTRAST * grain(at, footprint));
}

struct Own {
  vec3 place;  // in the body's axes where it is looked at in them, else in the world's
  vec3 normal;
  vec4 paint;  // colour, and 0 as it stands, 1 in its own axes, 2 and on the boards
};

Own own_of(Met met) {
  int row = met.number - FIRST_BODY;
  vec4 a = body_at(bodies, 0, row);
  vec4 b = body_at(bodies, 1, row);
  vec4 c = body_at(bodies, 2, row);
  vec4 paint = body_at(bodies, 3, row);
  vec3 off = met.place - vec3(a.w, b.w, c.w);
  mat3 turned = mat3(a.xyz, b.xyz, c.xyz); // its columns are rows: this turns back
  if (paint.w < 0.5) return Own(met.place + vec3(eye.xy, eye.z), met.normal, paint);
  return Own(turned * off, turned * met.normal, paint);
}

vec3 body_albedo(Own own, float footprint) {
  vec3 n = abs(own.normal);
  bool front = n.x >= n.y && n.x >= n.z;
  bool side = !front && n.y >= n.z;
  vec2 at = vec2(front ? own.place.y : own.place.x, front || side ? own.place.z : own.place.y);
  return own.paint.rgb * (1.0 + BODY_CONTRAST * grain(at, footprint));
}

#ifdef MAPPED
// Of a mapped bottom between its nodes, for shading; not by facet.
vec3 smooth_normal(vec2 level) {
  return normalize(vec3(textureLod(falls, floor_texture(level), 0.0).xy, -1.0));
}
#endif

#ifdef CASTERS
// Where on the quarter of a map of shadows a place is to be looked up.
vec3 on_map(vec3 place, int k) {
  vec4 here = vec4(place, 1.0);
  vec3 at = vec3(dot(cascades[3 * k], here), dot(cascades[3 * k + 1], here),
                 dot(cascades[3 * k + 2], here));
  return vec3((vec2(k & 1, k >> 1) + clamp(at.xy, 0.001, 0.999)) * 0.5, at.z);
}
#endif

// 1 where the sun is not hidden.
float lit(Met met) {
  float shown = 1.0;
  float off = CLEARANCE * (1.0 + met.distance);
#ifdef CASTERS
  float away = length(met.place);
  int k = away < spans.x ? 0 : away < spans.y ? 1 : 2;
  vec3 still = on_map(met.place + (off + texels[k]) * met.normal, k);
  float lies = textureLod(shadows, still, 0.0);
  if (away < spans.z && texels[k] > 0.0) shown = lies;
#ifdef MOVERS
  vec3 passing = on_map(met.place + (off + moving_texels[k]) * met.normal, k);
  lies = textureLod(movers, passing, 0.0);
  if (away < spans.z && moving_texels[k] > 0.0) shown *= lies;
#endif
#endif
#ifdef HILLS
  vec3 above = met.place + off * met.normal;
  float under = textureLod(shade, floor_texture(above.xy), 0.0).r;
  if (above.z + eye.z > under) shown = 0.0;
#endif
  return sun.w > 0.0 ? shown : 1.0;
}

#ifdef LAMPS
// Irradiance of the lamps on a surface, or (without a normal) whatever its direction.
vec3 lamp_light(vec3 place, vec3 normal, bool everywhere) {
  vec3 found = vec3(0.0);
  for (int i = 0; i < LAMPS; i++) {
    vec4 where = texelFetch(lamps, ivec2(0, i), 0);  // and intensity
    vec4 ahead = texelFetch(lamps, ivec2(1, i), 0);  // and exponent
    vec3 shares = texelFetch(lamps, ivec2(2, i), 0).rgb;
    vec3 towards = where.xyz - place;
    float square = dot(towards, towards) + 1e-4;
    float distance = sqrt(square);
    float strength = where.w * pow(max(-dot(towards, ahead.xyz) / distance, 0.0), ahead.w) / square;
    if (!everywhere) strength *= max(dot(towards, normal) / distance, 0.0);
    vec3 part = strength * shares;
#ifdef WET
    part *= exp(-attenuation.rgb * distance);
#endif
    found += part;
  }
  return found;
}
#endif

vec3 in_air(Met met, vec3 normal, vec3 albedo, float shown) {
  float facing = max(dot(normal, sun.xyz), 0.0) * shown;
  float up = 0.5 - 0.5 * normal.z;
  vec3 light = sun_irradiance.rgb * facing + (sky_irradiance.rgb - upwelling.rgb) * up + upwelling.rgb;
#if defined(LAMPS) && !defined(WET)
  light += lamp_light(met.place, normal, false);
#endif
  return light * albedo / PI;
}

vec3 in_water(Met met, vec3 normal, vec3 albedo, float shown) {
  float depth = max(met.place.z + eye.z, 0.0);
  float facing = max(dot(normal, sun_in_water.xyz), 0.0) * shown;
  float up = 0.75 - 0.25 * normal.z;
  float slant = sun_in_water.w;
  vec3 straight = beam.rgb * exp(-scattering.rgb * slant * depth);
  vec3 light = straight * facing * slant + (beam.rgb + even.rgb - straight) * up;
  light *= exp(-daylight.rgb * depth);
#if defined(LAMPS) && defined(WET)
  light += lamp_light(met.place, normal, false);
#endif
  return light * albedo / PI;
}

#if defined(LAMPS) && defined(WET)
// Light of lamps that the water sends straight back into a ray.
vec3 lamp_veil(Ray ray, float distance) {
  float far = min(distance, LAMP_REACH);
  vec3 found = vec3(0.0);
  for (int k = 0; k < LAMP_STEPS; k++) {
    float low = float(k) / float(LAMP_STEPS), high = float(k + 1) / float(LAMP_STEPS);
    low *= low;
    high *= high;
    float at = far * 0.5 * (low + high);
    vec3 seen = lamp_light(ray.origin + ray.direction * at, vec3(0.0), true);
    found += backscatter.rgb / (2.0 * PI) * (high - low) * far * seen * exp(-attenuation.rgb * at);
  }
  return found;
}
#endif
