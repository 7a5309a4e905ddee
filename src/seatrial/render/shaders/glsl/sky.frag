// Rays that meet nothing.

layout(location = 0) out vec4 colour;
layout(location = 1) out vec4 albedo;

void main() {
  if (number_of(met_at(gl_FragCoord.xy)) != NOTHING) discard;
  Ray ray = ray_of(gl_FragCoord.xy);
#ifdef WET
  vec3 seen = veil_here(veiled(ray.direction.z));
#ifdef LAMPS
  seen += lamp_veil(ray, LAMP_REACH);
#endif
#else
  vec3 seen = sky_radiance(ray.direction);
  float cosine = dot(sun.xyz, ray.direction);
  if (cosine > SUN_EDGE) seen += sun_irradiance.rgb * SUN_SHARPNESS;
#ifdef FOGGY
  float through = exp(-horizon.w * FOG_HEIGHT / max(-ray.direction.z, 1e-3));
  seen = horizon.rgb + through * (seen - horizon.rgb);
#endif
#endif
  colour = vec4(seen, 1.0);
  albedo = vec4(0.0);
}
