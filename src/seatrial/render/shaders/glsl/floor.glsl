// A mapped bottom: `floor_first` is its first node, `floor_step` the distance between nodes. A row
// of nodes around it carries it on, far beyond its edges (`geometry.tiles.extended`). `floor_count`
// has its nodes towards north and east, and how many the map has with those that only fill it up.

vec2 floor_node(ivec2 where) {
  vec2 level = floor_first.xy + floor_step.xy * vec2(where - 1);
  ivec2 last = ivec2(floor_count.xy) + 1;
  if (where.x == 0) level.x += floor_step.x - BEYOND;
  if (where.y == 0) level.y += floor_step.y - BEYOND;
  if (where.x == last.x) level.x += BEYOND - floor_step.x;
  if (where.y == last.y) level.y += BEYOND - floor_step.y;
  return level;
}

// Which nodes a level place lies between.
vec2 floor_among(vec2 level) {
  vec2 along = level - floor_first.xy;
  vec2 last = (floor_count.xy - 1.0) * floor_step.xy;
  vec2 inside = clamp(along, vec2(0.0), last);
  return 1.0 + inside / floor_step.xy + (along - inside) / BEYOND;
}

float floor_at(sampler2D map, ivec2 where) {
  ivec2 known = clamp(where - 1, ivec2(0), ivec2(floor_count.xy) - 1);
  return texelFetch(map, known.yx, 0).r;
}

// The triangle of the grid at a place among its nodes: unit normal up, and normal · place.
void floor_facet(sampler2D map, vec2 node, out vec3 normal, out float offset) {
  ivec2 cell = clamp(ivec2(floor(node)), ivec2(0), ivec2(floor_count.xy));
  vec2 beyond = node - vec2(cell);
  bool northern = beyond.x >= beyond.y;
  float first = floor_at(map, cell);
  float last = floor_at(map, cell + 1);
  float third = floor_at(map, cell + (northern ? ivec2(1, 0) : ivec2(0, 1)));
  vec2 rise = northern ? vec2(third - first, last - third) : vec2(last - third, third - first);
  vec2 corner = floor_node(cell);
  rise /= floor_node(cell + 1) - corner;
  normal = normalize(vec3(rise, -1.0));
  offset = dot(normal, vec3(corner, first - eye.z));
}

// Depth and normal of it between nodes, at a level place.
vec2 floor_texture(vec2 level) {
  vec2 node = clamp((level - floor_first.xy) / floor_step.xy, vec2(0.0), floor_count.zw - 1.0);
  return ((node + 0.5) / floor_count.zw).yx;
}
