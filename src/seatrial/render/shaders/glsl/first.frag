// What every ray meets first. Rays that cannot meet the sea, those that fall towards it and those
// that graze its waves are drawn by programs of their own: `band` says how fast theirs fall.

uniform sampler2D planes;
#ifdef ROLLING
uniform sampler2D bodies;
#endif
uniform vec2 band;

out vec4 met;

// Distance to the plane of a face, and its folded normal, towards the eye.
void on_plane(vec4 plane, Ray ray, vec3 shift, out float distance, out vec2 normal) {
  vec3 n = unfolded(plane.xy);
  float along = dot(n, ray.direction);
  distance = (plane.z + dot(n, shift - ray.origin)) / along;
  normal = along > 0.0 ? folded(-n) : plane.xy;
}

#if defined(BENT) || defined(ROLLING)
vec4 frame_at(vec3 place) {
  vec2 size = vec2(textureSize(planes, 0));
  vec2 where = seen_at(place) * size;
  bool inside = all(greaterThanEqual(where, vec2(0.0))) && all(lessThan(where, size));
  vec4 found = texelFetch(planes, ivec2(clamp(where, vec2(0.0), size - 1.0)), 0);
  return inside ? found : vec4(0.0);
}
#endif

#ifdef ROLLING
uniform vec3 passing[MOST_PASSING]; // velocities of what moves, and first of what does not

// How far the body of a face has moved since the frame.
vec3 moved(vec4 plane, float late) {
  int row = int(floor(plane.w)) - FIRST_BODY;
  return row >= 0 ? body_at(bodies, 4, row).xyz * late : vec3(0.0);
}
#endif

// The nearest solid: the rasterised frame says which face, and the ray itself where. A lens that
// bends finds its face where the frame shows its direction. A row that is taken later looks along
// its ray, and as far aside as what moves has moved: a face counts where the frame shows the place
// at which the ray meets it, with a face of the same body. What was found so is then looked at from
// near by: the frame tells the very face at the place that was met.
vec4 solid_along(Ray ray) {
  float distance;
  vec2 normal;
  vec4 plane;
#if defined(ROLLING)
  vec4 nearest = vec4(0.0, 0.0, NEVER, 0.0);
  for (int j = 0; j < PASSING; j++) {
    float far = 0.3;
    for (int k = 0; k < LOOKS; k++) {
      plane = frame_at(ray.origin + ray.direction * far - passing[j] * ray.late);
      vec3 shift = moved(plane, ray.late);
      on_plane(plane, ray, shift, distance, normal);
      vec3 place = ray.origin + ray.direction * distance - shift;
      vec4 there = frame_at(place);
      float off = abs(dot(unfolded(there.xy), place) - there.z);
      bool met = plane.w > 0.5 && floor(there.w) == floor(plane.w) && off < 0.01 + 0.02 * distance;
      if (met && distance > 0.0 && distance < nearest.z)
        nearest = vec4(normal, distance, plane.w);
      far *= 3.0;
    }
  }
  for (int k = 0; k < CLOSER_LOOKS; k++) {
    vec3 shift = moved(nearest, ray.late);
    plane = frame_at(ray.origin + ray.direction * nearest.z - shift);
    on_plane(plane, ray, shift, distance, normal);
    bool same = nearest.w > 0.5 && floor(plane.w) == floor(nearest.w);
    if (same && distance > 0.0 && distance < REACH) nearest = vec4(normal, distance, plane.w);
  }
  return nearest;
#else
#ifdef BENT
  plane = frame_at(ray.direction);
#else
  plane = texelFetch(planes, ivec2(gl_FragCoord.xy), 0);
#endif
  on_plane(plane, ray, vec3(0.0), distance, normal);
  bool met = plane.w > 0.5 && distance > 0.0;
  return met ? vec4(normal, distance, plane.w) : vec4(0.0, 0.0, NEVER, 0.0);
#endif
}

void main() {
  Ray ray = ray_of(gl_FragCoord.xy);
  float falls = falling(ray.direction);
  if (falls <= band.x || falls > band.y) discard;
  vec4 found = solid_along(ray);
#ifdef FLAT
  float above = max(floor_step.z - ray.origin.z - eye.z, 0.0);
  if (ray.direction.z > 0.0 && above < found.z * ray.direction.z)
    found = vec4(folded(vec3(0.0, 0.0, -1.0)), above / ray.direction.z, float(BOTTOM));
#endif
  if (found.z > REACH) found = vec4(0.0, 0.0, NEVER, 0.0);
#ifdef SEA
  float sea = to_sea(ray.origin, ray.direction);
  vec2 place = ray.origin.xy + ray.direction.xy * sea;
  float footprint = footprint_of(sea, ray.direction.z);
  vec3 up = facing(place, footprint);
  bool more = shows_more(ray.direction, up, variance_at(place, footprint), sea);
  if (sea <= found.z && sea < NEVER)
    found = vec4(folded(up), sea, float(SURFACE) + (more ? 0.5 : 0.0));
#endif
  met = found;
  gl_FragDepth = kind_of(found.w);
}
