uniform sampler2D map;

out vec4 plane;

// The place is that on the pixel's ray as far away as the rasterised piece. What cards interpolate
// across a piece is not good enough: those beyond the edges of a map are a cell wide and
// kilometres long.
void main() {
  float axial = 1.0 / gl_FragCoord.w;
  vec3 own = vec3(1.0, frame.xy + gl_FragCoord.xy * raster.xy) * axial;
  vec3 normal;
  float offset;
  floor_facet(map, floor_among(to_world(own).xy), normal, offset);
  plane = vec4(folded(normal), offset, float(BOTTOM));
  gl_FragDepth = coded(axial);
}
