// Whether a kind that is written as a depth is found again.

uniform float kind;

out vec4 colour;

void main() {
#ifdef WRITTEN
  colour = vec4(0.0);
  gl_FragDepth = kind;
#else
  colour = vec4(1.0);
#endif
}
