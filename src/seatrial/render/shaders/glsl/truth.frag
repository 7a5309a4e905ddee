// Normals of what is met.

out vec4 normals;

void main() {
  vec4 found = met_at(gl_FragCoord.xy);
  vec3 normal = unfolded(found.xy);
  if (wet && number_of(found) == SURFACE) normal = -normal;
  normals = number_of(found) == NOTHING ? vec4(0.0) : vec4(normal, 1.0);
}
