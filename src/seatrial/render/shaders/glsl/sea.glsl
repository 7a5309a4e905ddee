// The surface of the sea as `render.live.surface` has it: heights and slopes on two grids around
// `waves.xy`, ripples on top, and rays that are followed to it in the same steps.

uniform sampler2D heights;
uniform sampler2D slopes;
uniform sampler2D ripples;

#ifdef WAVES
// Where on the grids a place relative to their middle lies.
vec2 on_grids(vec2 at, out bool near) {
#ifdef NEARBY
  near = true;
#else
  near = max(abs(at.x), abs(at.y)) < FINE;
#endif
  float scale = near ? 0.5 * (NODES - 1.0) / FINE : 0.5 * (NODES - 1.0) / COARSE;
  vec2 node = clamp(at * scale + 0.5 * (NODES - 1.0), 0.0, NODES - 1.001) + 0.5;
  if (!near) node.x += NODES;
  return node.yx / vec2(NODES, 2.0 * NODES);
}

float height(vec2 at) {
  bool near;
  vec2 where = on_grids(at, near);
  return textureLod(heights, where, 0.0).r;
}
#endif

// How fast a ray comes towards the surface from the camera's side of it.
float falling(vec3 direction) { return wet ? -direction.z : direction.z; }

// Distance along a ray to the surface.
float to_sea(vec3 origin, vec3 direction) {
  float depth = origin.z + eye.z;
  float whole;
#ifdef WAVES
  vec2 start = origin.xy - waves.xy;
  float side = wet ? -1.0 : 1.0;
  float falls = side * direction.z;
  float top = waves.z, steep = max(waves.w, 0.01);
  float at = max((-side * depth - top) / max(falls, LEVEL), 0.0);
  if (abs(depth) < top) at = 0.0;
  float rate = 1.0 / (steep * sqrt(max(1.0 - falls * falls, 0.0)) + max(falls, 0.0));
#ifdef FOLLOWED
  whole = NEVER;
  for (int k = 0; k < MOST_STEPS; k++) {
    float clear = -side * (depth + at * direction.z);
    float above = clear - side * height(start + at * direction.xy);
    at += max(above, 0.0) * rate;
    if (k % 4 != PAUSE) continue;
    if (above <= CLOSE) {
      whole = at;
      break;
    }
    if (falls <= 0.0 && clear >= top) break;
  }
  if (whole == NEVER && falls > 0.0) whole = at;
#elif defined(NEARBY)
  // On a steep way there is one crossing: two careful steps, then those of the secant.
  float step = 0.0, above = 0.0;
  for (int k = 0; k < NEARBY_STEPS; k++) {
    float before = above;
    above = -side * (depth + at * direction.z + height(start + at * direction.xy));
    float secant = abs(before - above) > 1e-6 ? above * step / (before - above) : 0.0;
    step = k < 2 ? max(above, 0.0) * rate : clamp(secant, -0.3 * at - 0.5, 3.0 * abs(above) * rate);
    at += step;
  }
  whole = at;
#else
  // Steep rays are there after a few steps. The last step is the tangent's.
  float above = NEVER;
  for (int k = 0; k < STEPS - 1; k++) {
    above = -side * (depth + at * direction.z + height(start + at * direction.xy));
    at += max(above, 0.0) * rate;
    if (k == PAUSE && above <= CLOSE) break;
    above = NEVER;
  }
  whole = at;
  if (above == NEVER) {
    above = -side * (depth + at * direction.z + height(start + at * direction.xy));
    whole += clamp(above / max(falls, 0.02), -1.0, 8.0);
  }
#endif
  whole = max(whole, 1e-3);
#else
  // Who is at the very level of it is above it.
  bool meets = depth > 0.0 ? direction.z < 0.0 : direction.z > 0.0;
  whole = meets ? max(-depth / direction.z, 1e-3) : NEVER;
#endif
  return whole > REACH ? NEVER : whole;
}

// Share of the ripples that a pixel of a footprint shows.
float kept_of(float footprint) {
  float size = footprint / 0.12;
  return 1.0 / (1.0 + size * size);
}

// Variance of the slopes at a place that are too small for a pixel.
float variance_at(vec2 place, float footprint) {
  float variance = SMOOTH;
#ifdef WAVES
  vec2 at = abs(place - waves.xy);
  variance += max(at.x, at.y) < FINE ? lost.x : lost.y;
#endif
#ifdef RIPPLED
  float kept = kept_of(footprint);
  variance += lost.z * (1.0 - kept * kept);
#endif
  return variance;
}

// Unit normal up of the surface at a place, in a pixel of a footprint.
vec3 facing(vec2 place, float footprint) {
  vec2 slope = vec2(0.0);
#ifdef WAVES
  vec2 at = place - waves.xy;
  bool near;
  vec2 where = on_grids(at, near);
  float inside = clamp((COARSE - max(abs(at.x), abs(at.y))) / (0.25 * COARSE), 0.0, 1.0);
  slope = inside * textureLod(slopes, where, 0.0).xy;
#endif
#ifdef RIPPLED
  vec2 tile = (place + tiled.xy) / TILE + 0.5 / RIPPLES;
  slope += kept_of(footprint) * textureLod(ripples, tile.yx, 0.0).xy;
#endif
  return normalize(vec3(-slope, -1.0));
}

// Size of a pixel on the sea, as wide as high: the mean of both ways.
float footprint_of(float distance, float down) {
  return distance * picture.z * inversesqrt(max(abs(down), 0.02));
}

// Reflectance from above. Of small facets those that look towards the eye are seen more: on a
// grazing way the sea mirrors less than a mirror would.
float share_above(float straight, float variance) {
  return reflectance(min(sqrt(straight * straight + 0.35 * variance), 1.0), INDEX);
}

// Whether something is looked for behind the surface: through it from above, in its mirror from
// below, where that is all that is seen and near by.
bool shows_more(vec3 direction, vec3 up, float variance, float distance) {
#ifdef WET
  float cosine = max(dot(direction, up), 0.01);
  return reaches.w > 0.0 && distance < reaches.y && reflectance(cosine, 1.0 / INDEX) > 0.5;
#else
  float straight = max(-dot(direction, up), 0.01);
  return reaches.w > 0.0 && share_above(straight, variance) < GRAZING;
#endif
}
