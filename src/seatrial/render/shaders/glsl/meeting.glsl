// What a ray meets first, as it was written by `first.frag`: the normal of a face, or of the surface
// up, folded into two numbers, the distance along the ray, and the number of the instance (a half
// more on boards, and where something is looked for behind the surface).

uniform sampler2D met;

// Something solid that was met.
struct Met {
  vec3 place;
  vec3 normal; // of the face, towards the eye
  float distance;
  int number; // of the instance
};

vec4 met_at(vec2 pixel) { return texelFetch(met, ivec2(pixel), 0); }

int number_of(vec4 found) { return int(floor(found.w)); }

Met meeting(vec4 found, Ray ray) {
  vec3 normal = unfolded(found.xy);
  return Met(ray.origin + ray.direction * found.z, normal, found.z, number_of(found));
}
