uniform sampler2D map;

in vec2 node;
out vec4 plane;

void main() {
  vec3 normal;
  float offset;
  floor_facet(map, node, normal, offset);
  plane = vec4(folded(normal), offset, float(BOTTOM));
  gl_FragDepth = coded(1.0 / gl_FragCoord.w);
}
