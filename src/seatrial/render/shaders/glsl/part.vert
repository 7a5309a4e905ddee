// A part of the picture, of what is of one kind: the depths of the target hold kinds.

uniform vec2 corners[6];
uniform float kind;

void main() { gl_Position = vec4(corners[gl_VertexID], 2.0 * kind - 1.0, 1.0); }
