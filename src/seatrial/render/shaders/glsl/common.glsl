// Places are relative to the eye, in metres along north, east and down: single precision is best
// near by. `turn` has the rows of the matrix from the camera's axes to the world's.

const float PI = 3.14159265358979;
const float NEVER = 1e30; // in place of an infinite distance

vec3 to_world(vec3 own) {
  return vec3(dot(turn[0].xyz, own), dot(turn[1].xyz, own), dot(turn[2].xyz, own));
}

vec3 to_camera(vec3 place) {
  return turn[0].xyz * place.x + turn[1].xyz * place.y + turn[2].xyz * place.z;
}

// Where in the rasterised frame a place is seen, from 0 to 1 across it.
vec2 seen_at(vec3 place) {
  vec3 own = to_camera(place);
  return (own.yz / own.x - frame.xy) * frame.zw;
}

// The same for vertices, which may lie behind.
vec4 projected(vec3 place) {
  vec3 own = to_camera(place);
  vec2 across = 2.0 * (own.yz - frame.xy * own.x) * frame.zw - own.x;
  return vec4(across, own.x - 2.0 * NEAREST, own.x);
}

// Distances along the axis as even steps of their logarithm: as good far away as near by.
float coded(float axial) { return log2(axial / NEAREST) / log2(FARTHEST / NEAREST); }

// Unit vectors in two numbers: an octahedron folded flat.
vec2 folded(vec3 n) {
  vec2 p = n.xy / (abs(n.x) + abs(n.y) + abs(n.z));
  vec2 sides = vec2(p.x >= 0.0 ? 1.0 : -1.0, p.y >= 0.0 ? 1.0 : -1.0);
  return n.z >= 0.0 ? p : (1.0 - abs(p.yx)) * sides;
}

vec3 unfolded(vec2 p) {
  float z = 1.0 - abs(p.x) - abs(p.y);
  vec2 sides = vec2(p.x >= 0.0 ? 1.0 : -1.0, p.y >= 0.0 ? 1.0 : -1.0);
  return normalize(vec3(z >= 0.0 ? p : (1.0 - abs(p.yx)) * sides, z));
}

// What is met, as a depth by which a program for one kind leaves out the others.
float kind_of(float number) {
  if (number < float(SURFACE)) return KIND_SKY;
  if (number < float(BOTTOM)) return number > float(SURFACE) ? KIND_CLEAR : KIND_WATER;
  if (number < float(FIRST_BODY)) return KIND_FLOOR;
  return number - floor(number) > 0.25 ? KIND_BOARD : KIND_BODY;
}

// A column of a body's row; rows beyond the last lie beside the first.
vec4 body_at(sampler2D bodies, int column, int body) {
  return texelFetch(bodies, ivec2(column + BODY_COLUMNS * (body / BODY_ROWS), body % BODY_ROWS), 0);
}

// Seen in a level mirror at the mean level of the sea.
vec3 in_mirror(vec3 place) { return vec3(place.xy, -2.0 * eye.z - place.z); }

// Where a place behind a calm surface seems to be: on the ray to where its light crosses the
// surface, as far away as the light has come. By Snell, n r / √(r² + h²) = n' (ρ − r) / √(…),
// solved by Newton's method from some r on.
vec3 apparent(vec3 place, float r, int steps) {
  float h = max(abs(eye.z), 1e-3);
  float d = abs(place.z + eye.z);
  float here = wet ? INDEX : 1.0;
  float there = wet ? 1.0 : INDEX;
  float whole = length(place.xy);
  r = min(r, whole);
  for (int k = 0; k < steps; k++) {
    float a = inversesqrt(r * r + h * h);
    float b = inversesqrt((whole - r) * (whole - r) + d * d + 1e-12);
    float off = here * r * a - there * (whole - r) * b;
    float slope = here * h * h * a * a * a + there * d * d * b * b * b;
    r = clamp(r - off / max(slope, 1e-9), 0.0, whole);
  }
  vec2 level = place.xy / max(whole, 1e-9);
  vec3 crossing = vec3(level * r, -eye.z);
  float path = length(crossing) + length(place - crossing);
  return normalize(crossing) * path;
}
