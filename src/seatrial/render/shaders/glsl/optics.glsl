// As `render.optics`, which says where it is from.

float reflectance(float c, float n) {
  float bent = sqrt(max(1.0 - (1.0 - c * c) / (n * n), 0.0));
  float one = (c - n * bent) / max(c + n * bent, 1e-6);
  float other = (bent - n * c) / max(bent + n * c, 1e-6);
  return 0.5 * (one * one + other * other);
}

vec3 refracted(vec3 direction, vec3 normal, float cosine, float n) {
  float ratio = 1.0 / n;
  float bent = sqrt(max(1.0 - ratio * ratio * (1.0 - cosine * cosine), 0.0));
  return ratio * direction + (ratio * cosine - bent) * normal;
}

vec3 mirrored(vec3 direction, vec3 normal, float cosine) {
  return direction + 2.0 * cosine * normal;
}

float glint(vec3 towards_eye, vec3 sun, vec3 normal, float variance, float n) {
  vec3 facet = towards_eye + sun;
  float size = length(facet);
  float up = max(-facet.z / size, 1e-3);
  vec2 slope = facet.xy / (size * up) + normal.xy / normal.z;
  float density = exp(-dot(slope, slope) / variance) / (PI * variance);
  float incidence = clamp(dot(facet, sun) / size, 0.0, 1.0);
  float view = max(-towards_eye.z, 0.05);
  return reflectance(incidence, n) * density / (4.0 * view * up * up * up * up);
}
