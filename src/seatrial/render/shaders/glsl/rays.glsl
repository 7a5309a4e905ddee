// The ray of a pixel, as the lens bends it and when the shutter takes its row.

struct Ray {
  vec3 origin;
  vec3 direction;
  float axial; // along the camera's axis for each metre
  float late;  // s
};

#ifdef BENT
uniform sampler2D lens;
#endif
#ifdef ROLLING
uniform sampler2D rows;
#endif

Ray ray_of(vec2 pixel) {
#ifdef BENT
  vec2 tangent = texelFetch(lens, ivec2(pixel), 0).xy;
#else
  vec2 tangent = (pixel - 0.5 * picture.xy) * picture.z;
#endif
  float axial = inversesqrt(1.0 + dot(tangent, tangent));
  vec3 own = vec3(1.0, tangent) * axial;
#ifdef ROLLING
  int row = int(pixel.y);
  vec4 a = texelFetch(rows, ivec2(0, row), 0);
  vec4 b = texelFetch(rows, ivec2(1, row), 0);
  vec4 c = texelFetch(rows, ivec2(2, row), 0);
  float late = texelFetch(rows, ivec2(3, row), 0).x;
  vec3 direction = vec3(dot(a.xyz, own), dot(b.xyz, own), dot(c.xyz, own));
  return Ray(vec3(a.w, b.w, c.w), direction, axial, late);
#else
  return Ray(vec3(0.0), to_world(own), axial, 0.0);
#endif
}
