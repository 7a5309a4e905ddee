// A piece of a mapped bottom: nodes of its grid, some left out where it is far, with a hem around it
// that hangs down, so that nothing is seen between pieces of different fineness.

uniform sampler2D map;
uniform ivec3 piece; // first node towards north and east, and how many to a step

void main() {
  int side = PIECE + 3;
  ivec2 at = ivec2(gl_VertexID / side, gl_VertexID % side) - 1;
  ivec2 inside = clamp(at, 0, PIECE);
  ivec2 last = ivec2(floor_count.xy) + 1;
  ivec2 where = min(piece.xy + inside * piece.z, last);
  vec2 level = floor_node(where);
  float depth = floor_at(map, where);
  if (at != inside) depth += float(piece.z) * 0.5 * (floor_step.x + floor_step.y);
  gl_Position = projected(vec3(level, depth - eye.z));
}
