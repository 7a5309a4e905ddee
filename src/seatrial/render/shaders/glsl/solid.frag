// Rays that meet a body or the bottom.

#ifdef BOARDS
uniform sampler2D cells;

// Sum of the cells of a board up to a place among them, row by row of its own from `first` on.
float up_to(vec2 at, ivec4 board) {
  vec2 last = vec2(board.zw);
  at = clamp(at, vec2(0.0), last);
  ivec2 low = ivec2(min(floor(at), last - 1.0));
  vec2 s = at - vec2(low);
  ivec2 first = board.xy + low;
  float a = texelFetch(cells, first, 0).r, b = texelFetch(cells, first + ivec2(1, 0), 0).r;
  float c = texelFetch(cells, first + ivec2(0, 1), 0).r, d = texelFetch(cells, first + 1, 0).r;
  return mix(mix(a, b, s.x), mix(c, d, s.x), s.y);
}

float cell_at(ivec2 at, ivec4 board) {
  ivec2 first = board.xy + clamp(at, ivec2(0), board.zw - 1);
  float a = texelFetch(cells, first, 0).r, b = texelFetch(cells, first + ivec2(1, 0), 0).r;
  float c = texelFetch(cells, first + ivec2(0, 1), 0).r, d = texelFetch(cells, first + 1, 0).r;
  return (d - c) - (b - a);
}

// Mean of the cells over a box, in cells. Sums of many cells hold the mean over a small box badly:
// one within two cells each way is weighed cell by cell.
float mean_of(vec2 middle, vec2 size, ivec4 board) {
  vec2 last = vec2(board.zw);
  vec2 low = clamp(middle - 0.5 * size, vec2(0.0), last);
  vec2 high = clamp(middle + 0.5 * size, vec2(0.0), last);
  vec2 wide = max(high - low, vec2(1e-6));
  float whole = up_to(high, board) - up_to(vec2(low.x, high.y), board) -
                up_to(vec2(high.x, low.y), board) + up_to(low, board);
  vec2 first = floor(low);
  vec2 share = clamp((first + 1.0 - low) / wide, vec2(0.0), vec2(1.0));
  ivec2 at = ivec2(first);
  float upper = mix(cell_at(at + ivec2(1, 0), board), cell_at(at, board), share.x);
  float lower = mix(cell_at(at + 1, board), cell_at(at + ivec2(0, 1), board), share.x);
  bool small = all(lessThanEqual(wide, vec2(1.0)));
  return clamp(small ? mix(lower, upper, share.y) : whole / (wide.x * wide.y), 0.0, 1.0);
}

// How directions change from a pixel to the next, right and down.
void pixel_steps(out vec2 aside, out vec2 below) {
#ifdef BENT
  ivec2 at = ivec2(gl_FragCoord.xy), last = ivec2(picture.xy) - 1;
  ivec2 left = max(at - 1, ivec2(0)), right = min(at + 1, last);
  aside = (texelFetch(lens, ivec2(right.x, at.y), 0).xy -
           texelFetch(lens, ivec2(left.x, at.y), 0).xy) / max(float(right.x - left.x), 1.0);
  below = (texelFetch(lens, ivec2(at.x, right.y), 0).xy -
           texelFetch(lens, ivec2(at.x, left.y), 0).xy) / max(float(right.y - left.y), 1.0);
#else
  aside = vec2(picture.z, 0.0);
  below = vec2(0.0, picture.z);
#endif
}

// Where on a board, in cells, a direction of the camera meets its face.
vec2 on_board(vec2 tangent, mat3 back, vec3 start, float ahead, vec2 size, ivec4 board) {
  vec3 along = back * to_world(vec3(1.0, tangent));
  vec3 hit = start + along * (ahead / along.x);
  return (0.5 + vec2(-hit.y, hit.z) / size) * vec2(board.zw);
}

vec3 board_albedo(Met met, Own own) {
  int row = met.number - FIRST_BODY;
  vec4 a = body_at(bodies, 0, row);
  vec4 b = body_at(bodies, 1, row);
  vec4 c = body_at(bodies, 2, row);
  ivec4 board = ivec4(body_at(bodies, 5, row));
  vec2 size = body_at(bodies, 6, row).xy;
  mat3 back = mat3(a.xyz, b.xyz, c.xyz);
  vec3 start = -(back * vec3(a.w, b.w, c.w));
  float ahead = own.place.x - start.x;
  vec3 seen = to_camera(met.place);
  vec2 tangent = seen.yz / seen.x, aside, below;
  pixel_steps(aside, below);
  float part = 1.0 / float(PARTS);
  vec2 here = on_board(tangent, back, start, ahead, size, board);
  vec2 beyond = on_board(tangent + part * aside, back, start, ahead, size, board);
  vec2 under = on_board(tangent + part * below, back, start, ahead, size, board);
  vec2 wide = abs(beyond - here) + abs(under - here);
  float total = 0.0;
  for (int i = 0; i < PARTS; i++)
    for (int j = 0; j < PARTS; j++) {
      vec2 off = (vec2(i, j) + 0.5) * part - 0.5;
      vec2 there = tangent + off.x * aside + off.y * below;
      total += mean_of(on_board(there, back, start, ahead, size, board), wide, board);
    }
  return vec3(BLACK + (WHITE - BLACK) * total * part * part);
}
#endif

layout(location = 0) out vec4 colour;
layout(location = 1) out vec4 albedo;

void main() {
  vec4 found = met_at(gl_FragCoord.xy);
#if defined(BOARDS)
  if (kind_of(found.w) != KIND_BOARD) discard;
#elif defined(BODIES)
  if (kind_of(found.w) != KIND_BODY) discard;
#else
  if (kind_of(found.w) != KIND_FLOOR) discard;
#endif
  Ray ray = ray_of(gl_FragCoord.xy);
  Met met = meeting(found, ray);
  float footprint = met.distance * picture.z;
  vec3 normal = met.normal;
#if defined(BOARDS)
  Own own = own_of(met);
  vec3 paint = own.normal.x > 0.9 ? board_albedo(met, own) : body_albedo(own, footprint);
#elif defined(BODIES)
  vec3 paint = body_albedo(own_of(met), footprint);
#else
  vec3 paint = bottom_albedo(met.place, normal, footprint);
#ifdef MAPPED
  normal = smooth_normal(met.place.xy);
#endif
#endif
#ifdef WET
  float sharp = met.place.z + eye.z < reaches.z ? lit(met) : 1.0;
  vec3 seen = in_water(met, normal, paint, sharp);
  seen = faded(seen, ray.direction.z, met.distance);
#ifdef LAMPS
  seen += lamp_veil(ray, met.distance);
#endif
#else
  vec3 seen = hazed(in_air(met, normal, paint, lit(met)), met.distance);
#endif
  colour = vec4(seen, 1.0);
  albedo = vec4(paint, 1.0);
}
