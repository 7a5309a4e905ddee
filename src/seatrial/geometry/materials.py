"""What bodies and bottoms are made of, by name: one table for sound, light and radio.

Sources:

- Impedances of mud, sand, gravel and rock after the ratios of density and sound speed of APL-UW
  (1994), High-frequency ocean environmental acoustic models handbook, TR 9407, for silt, medium
  sand, gravel and rock. Of concrete, steel, aluminium, hard wood, PVC and rubber after the tables
  of Kinsler et al. (2000), Fundamentals of acoustics, appendix A10, over 1.54e6 Pa s/m of sea
  water, rounded.
- Slopes of facets and diffuse strengths are rounded values of the kind seen in the curves of TR
  9407, not a fit to a place; of what is built, an assumption.
- Reflectances at 905 nm are rounded, an assumption: of wet sediments and rock, weathered concrete,
  painted steel and bare aluminium, planks, light plastic, black rubber.
- Radar reflectivities are those of a smooth half-space at normal incidence by Fresnel, ((n − 1) /
  (n + 1))² with n = √ε and rounded permittivities near 10 GHz: 25 for wet mud, 20 wet sand, 6
  gravel, rock and concrete, 2 wood, 2.5 plastic, 3 rubber; metals reflect everything.
- Colours are shares of red, green and blue light (about 600, 530 and 450 nm) that are scattered
  diffusely, rounded, for wet and weathered surfaces; roughness as renderers mean it, from 0 of a
  mirror to 1. Both are assumptions, no measurement of a place.
- Emissivities between 8 and 14 µm after the usual tables of thermography (0.9 and more of anything
  but bare metal; steel painted, aluminium weathered), rounded.
"""

from typing import NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from seatrial.conventions import MaterialName

MATERIAL_NAMES: tuple[str, ...] = get_args(MaterialName)


class Material(NamedTuple):
    """What sound of tens to hundreds of kilohertz, light and radio waves find."""

    impedance: float
    """Density times sound speed, over those of the water."""
    slope: float
    """Standard deviation of the slope of its facets in each direction, rad."""
    diffuse: float
    """What is scattered at oblique incidence, by Lambert's law, at normal incidence; dB per m²."""
    reflectance: float
    """Share of light of 905 nm that is scattered back, diffusely by Lambert's law."""
    radar: float
    """Share of the power of radio waves near 10 GHz that a smooth piece reflects."""
    colour: tuple[float, float, float]
    """Albedo in red, green and blue, linear."""
    roughness: float
    """Of what it reflects: 0 a mirror, 1 dull."""
    emissivity: float
    """Between 8 and 14 µm."""

    @property
    def reflection(self) -> float:
        """Share of the intensity of sound that a flat piece reflects at normal incidence."""
        return ((self.impedance - 1.0) / (self.impedance + 1.0)) ** 2


MATERIALS: dict[str, Material] = {
    "mud": Material(
        1.147 * 0.985,
        0.05,
        -32.0,
        reflectance=0.15,
        radar=0.45,
        colour=(0.16, 0.12, 0.08),
        roughness=0.9,
        emissivity=0.96,
    ),
    "sand": Material(
        1.845 * 1.178,
        0.15,
        -22.0,
        reflectance=0.30,
        radar=0.40,
        colour=(0.42, 0.35, 0.24),
        roughness=0.9,
        emissivity=0.94,
    ),
    "gravel": Material(
        2.492 * 1.337,
        0.25,
        -17.0,
        reflectance=0.25,
        radar=0.18,
        colour=(0.3, 0.27, 0.23),
        roughness=0.9,
        emissivity=0.94,
    ),
    "rock": Material(
        2.5 * 2.5,
        0.35,
        -12.0,
        reflectance=0.25,
        radar=0.18,
        colour=(0.17, 0.16, 0.145),
        roughness=0.9,
        emissivity=0.95,
    ),
    "concrete": Material(
        5.2,
        0.15,
        -20.0,
        reflectance=0.40,
        radar=0.18,
        colour=(0.4, 0.38, 0.35),
        roughness=0.85,
        emissivity=0.94,
    ),
    "steel": Material(
        30.0,
        0.05,
        -25.0,
        reflectance=0.50,
        radar=1.0,
        colour=(0.3, 0.09, 0.06),
        roughness=0.45,
        emissivity=0.9,
    ),
    "aluminium": Material(
        11.0,
        0.05,
        -25.0,
        reflectance=0.60,
        radar=1.0,
        colour=(0.62, 0.63, 0.65),
        roughness=0.35,
        emissivity=0.25,
    ),
    "wood": Material(
        1.9,
        0.15,
        -25.0,
        reflectance=0.50,
        radar=0.03,
        colour=(0.27, 0.17, 0.09),
        roughness=0.8,
        emissivity=0.93,
    ),
    "plastic": Material(
        2.1,
        0.05,
        -28.0,
        reflectance=0.60,
        radar=0.05,
        colour=(0.75, 0.2, 0.03),
        roughness=0.4,
        emissivity=0.94,
    ),
    "rubber": Material(
        1.05,
        0.05,
        -30.0,
        reflectance=0.05,
        radar=0.07,
        colour=(0.03, 0.03, 0.03),
        roughness=0.7,
        emissivity=0.95,
    ),
}


def material_index(name: str) -> int:
    """Place of a material in columns of the table."""
    return MATERIAL_NAMES.index(name)


def material_column(quantity: str) -> NDArray[np.float64]:
    """(M,) a quantity of every material, in the order of `MATERIAL_NAMES`; (M, 3) of colours."""
    return np.array([getattr(MATERIALS[name], quantity) for name in MATERIAL_NAMES], np.float64)
