"""Light at the surface of the water: Fresnel's reflection, Snell's refraction, and glints.

With n the index of refraction of the other side over that of this one, and the cosine of incidence
c, sin²θ' = (1 − c²) / n²:

    R = ½ ((c − n c') / (c + n c'))² + ½ ((c' − n c) / (c' + n c))²,  1 where sin θ' > 1

Ripples that are too small to be drawn are facets whose slopes have a normal distribution of the
variance s² (both directions together), as Cox and Munk (1954) measured: s² = 0.003 + 0.00512 U at
the wind speed U. Of the sun's irradiance E they send towards the eye

    L = E R(ω) p(ζ) / (4 cos θ cos⁴ β),   p = exp(−|ζ|²/s²) / (π s²)

with ζ the slope of a facet that mirrors the sun, relative to the drawn surface, β its tilt, ω the
angle of incidence on it and θ that of the eye.
"""

import numpy as np
from numpy.typing import NDArray

Single = NDArray[np.float32]


def reflectance(cosine: NDArray[np.floating], index: float) -> Single:
    """R at the cosine of incidence, into something of a relative index of refraction."""
    c = np.asarray(cosine, np.float32)
    square = np.maximum(1.0 - (1.0 - c * c) * np.float32(1.0 / index**2), 0.0)
    bent = np.sqrt(square)
    n = np.float32(index)
    one = (c - n * bent) / np.maximum(c + n * bent, 1e-6)
    other = (bent - n * c) / np.maximum(bent + n * c, 1e-6)
    return np.asarray(0.5 * (one * one + other * other), np.float32)


def refracted(direction: Single, normal: Single, cosine: Single, index: float) -> Single:
    """(3, P) unit vectors behind a surface whose unit normal points to where the light comes from;
    `cosine` is that between it and the way back. Where there is none, along the surface."""
    ratio = np.float32(1.0 / index)
    bent = np.sqrt(np.maximum(1.0 - ratio * ratio * (1.0 - cosine * cosine), 0.0))
    return np.asarray(ratio * direction + (ratio * cosine - bent) * normal, np.float32)


def mirrored(direction: Single, normal: Single, cosine: Single) -> Single:
    """(3, P) unit vectors after reflection."""
    return np.asarray(direction + (2.0 * cosine) * normal, np.float32)


def cox_munk(speed: float) -> float:
    """Mean square slope s² of the sea in a wind."""
    return 0.003 + 0.00512 * speed


def glint(
    towards_eye: Single, sun: NDArray[np.floating], normal: Single, variance: Single, index: float
) -> Single:
    """(P,) radiance towards unit vectors (3, P), per irradiance of the sun from a unit vector (3,),
    of a surface with normals (3, P) up and facets of a variance (P,) of slopes on it."""
    x, y, z = (np.float32(c) for c in sun)
    fx, fy, fz = towards_eye[0] + x, towards_eye[1] + y, towards_eye[2] + z
    length = np.sqrt(fx * fx + fy * fy + fz * fz)
    up = np.maximum(-fz / length, 1e-3)
    # Slopes towards north and east are the level parts of the normal over its upward part.
    north = fx / (length * up) + normal[0] / normal[2]
    east = fy / (length * up) + normal[1] / normal[2]
    density = np.exp(-(north * north + east * east) / variance) / (np.float32(np.pi) * variance)
    incidence = np.clip((fx * x + fy * y + fz * z) / length, 0.0, 1.0)
    eye = np.maximum(-towards_eye[2], 0.05)
    square = up * up
    return np.asarray(
        reflectance(incidence, index) * density / (4.0 * eye * square * square), np.float32
    )
