// Sky, air and water, as `render.sky` and `render.live.between` have them.

uniform sampler2D sky;

// Of the sky without the sun's disc; below the horizon as above it.
vec3 sky_radiance(vec3 towards) {
  float sine = abs(towards.z);
  int row = min(int(sqrt(sine) * SKY_STEPS), int(SKY_STEPS));
  float cosine = sun.x * towards.x + sun.y * towards.y - sun.z * sine;
  vec4 path = texelFetch(sky, ivec2(row, 0), 0); // and clouds
  float rayleigh = 0.75 * (1.0 + cosine * cosine) + AGAIN;
  float wide = inversesqrt(1.0 + HAZE_COSINE * HAZE_COSINE - 2.0 * HAZE_COSINE * cosine);
  float forward = (1.0 - HAZE_COSINE * HAZE_COSINE) * wide * wide * wide;
  return path.rgb * (forward + molecular.rgb * (rayleigh - forward)) + path.w;
}

vec3 hazed(vec3 colour, float distance) {
  return horizon.rgb + exp(-horizon.w * distance) * (colour - horizon.rgb);
}

// How fast scattered daylight closes a way of some descent per metre.
vec3 veiled(float descent) {
  return max(attenuation.rgb + daylight.rgb * descent, 0.05 * attenuation.rgb);
}

// What it adds up to from the camera on, on a way without end.
vec3 veil_here(vec3 k) { return veiling_here.rgb * attenuation.rgb / k; }

// A colour behind a way through the water from the camera on.
vec3 faded(vec3 colour, float descent, float distance) {
  vec3 k = veiled(descent);
  vec3 veil = veil_here(k) * (1.0 - exp(-k * distance));
  return veil + colour * exp(-attenuation.rgb * distance);
}
