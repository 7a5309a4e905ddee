// Faces of bodies: the plane of each and its owner, where they are seen in one of several ways.

uniform sampler2D bodies;
#ifdef SHADOWS
uniform vec4 sunward[3];
#endif

in vec3 corner;
in vec3 facing;
in int owner;

#ifndef SHADOWS
flat out vec4 face;
out float depth;
#endif

void main() {
  vec4 a = body_at(bodies, 0, owner);
  vec4 b = body_at(bodies, 1, owner);
  vec4 c = body_at(bodies, 2, owner);
  vec4 here = vec4(corner, 1.0);
  vec3 place = vec3(dot(a, here), dot(b, here), dot(c, here));
#ifdef SHADOWS
  here = vec4(place, 1.0);
  gl_Position = vec4(dot(sunward[0], here), dot(sunward[1], here), dot(sunward[2], here), 1.0);
#else
  vec3 normal = vec3(dot(a.xyz, facing), dot(b.xyz, facing), dot(c.xyz, facing));
  float board = body_at(bodies, 3, owner).w;
  float number = float(owner + FIRST_BODY) + (board >= 1.5 ? 0.5 : 0.0);
  face = vec4(folded(normal), dot(normal, place), number);
  depth = place.z + eye.z;
#if defined(MIRRORED)
  gl_Position = projected(in_mirror(place));
#elif defined(THROUGH)
  bool beyond = wet ? depth < 0.0 : depth > 0.0;
  float straight = length(place.xy) * abs(eye.z) / (abs(eye.z) + abs(depth) + 1e-6);
  gl_Position = projected(beyond ? apparent(place, straight, 5) : place);
#else
  gl_Position = projected(place);
#endif
#endif
}
