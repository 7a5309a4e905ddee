// What bodies that are seen by way of a calm surface send towards it, mirrored in it or through it,
// and how far their light has come to the eye.

uniform sampler2D layer;

out vec4 shown;

void main() {
  vec4 plane = texelFetch(layer, ivec2(gl_FragCoord.xy), 0);
  if (plane.w < 0.5) discard;
  vec2 across = gl_FragCoord.xy / vec2(textureSize(layer, 0));
  vec3 direction = to_world(normalize(vec3(1.0, frame.xy + across / frame.zw)));
  float down = abs(direction.z) < 1e-6 ? 1e-6 : direction.z;
  vec3 start = direction * max(-eye.z / down, 0.0);
  vec3 level = vec3(0.0, 0.0, wet ? 1.0 : -1.0);
  float cosine = max(-dot(direction, level), 1e-3);
#ifdef THROUGH
  vec3 way = refracted(direction, level, cosine, wet ? 1.0 / INDEX : INDEX);
#else
  vec3 way = mirrored(direction, level, cosine);
#endif
  vec3 normal = unfolded(plane.xy);
  float along = dot(normal, way);
  float distance = max((plane.z - dot(normal, start)) / along, 1e-3);
  if (along > 0.0) normal = -normal;
  Met met = Met(start + way * distance, normal, distance, int(floor(plane.w)));
#if defined(THROUGH) == defined(WET)
  vec3 seen = in_air(met, normal, body_albedo(own_of(met), 0.1), lit(met));
#else
  float footprint = picture.z * (distance + 5.0);
  vec3 seen = in_water(met, normal, body_albedo(own_of(met), footprint), 1.0);
#endif
  shown = vec4(seen, length(start) + distance);
}
