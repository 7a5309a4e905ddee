flat in vec4 face;
in float depth;
out vec4 plane;

void main() {
#if defined(MIRRORED)
  if (wet ? depth < 0.0 : depth > 0.0) discard;
#elif defined(THROUGH)
  if (wet ? depth > 0.0 : depth < 0.0) discard;
#endif
  plane = face;
  gl_FragDepth = coded(1.0 / gl_FragCoord.w);
}
