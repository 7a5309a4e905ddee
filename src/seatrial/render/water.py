"""How water takes and scatters light, by the types of Jerlov and by the fjord of the dataset.

A type has, over the wavelength, the absorption a and the scattering b, 1/m, from which come

    c = a + b                                   beam attenuation, by which a target fades
    bb = 0.5 b_w + 0.0183 (b − b_w)             backscatter, which veils it
    K_d = √(a² + 0.256 a b) / 0.86              by which daylight fades with depth

with the scattering b_w of the molecules of sea water (Morel 1974: 0.00193 (550 nm / λ)^4.32, half
of it backwards), the backscattered share of Petzold's average particle (Mobley 1994, Light and
Water, table 3.10) and Kirk's (1984, Limnology and Oceanography 29) relation for a sun whose
refracted rays have a cosine of 0.86 to the vertical.

Sources of the types:

- IB, II, III, 1C, 3C and 5C: a and b of Williamson and Hollins (2022), Measured IOPs of Jerlov
  water types, Applied Optics 61(33), at twenty wavelengths, as others quote them; the paper's own
  table could not be opened to check them. Held against what defines the types, K_d of Jerlov
  (1976), they give 1.0 to 1.3 of it from 500 nm on (IB 1.5 at 500 and 1.4 at 525 nm, 1C 1.4 at
  550 nm), in blue 1.8 of it for IB, 1.4 for II, 0.8 to 1.3 for the others, and half of it for 1C
  and 3C at 400 nm.
- I and IA: K_d of Jerlov (1976), Marine Optics, table XXVII, after two copies that agree with each
  other but for type I at 400 nm (0.028 or 0.027, here 0.028); b = b(550) (550 / λ)^0.5
  with b(550) = 0.30 C^0.62 of 0.025 and 0.075 mg/m³ of chlorophyll (Gordon and Morel 1983), whose
  choice is an assumption; a by Kirk's relation solved for it.
- 7C and 9C: the same, with b(550) = 2.3 and 3.1 1/m after Solonenko and Mobley (2015), Inherent
  optical properties of Jerlov water types, Applied Optics 54(17), as quoted; falling with
  λ^−0.3 as 5C does.
- `fjord`: the medium by which P. G. O. Zwilgmeyer (2021), Creating a Synthetic Underwater Dataset
  for Egomotion Estimation and 3D Reconstruction, table 5.2, matched footage from 90 m of depth in
  the Trondheimsfjord by eye. A renderer's volume of density D, colour C and
  absorption colour A scatters D C and absorbs D (1 − C)(1 − √A) per metre.

Where light is followed in its paths, it is scattered by Henyey and Greenstein's phase function

    bb / b = (1 − g)/2g ((1 + g)/√(1 + g²) − 1)

with the mean cosine g of which that share goes backwards, of the three bands together: how much
comes back decides on the light in water, and not the shape of the rest (Mobley, Sundman and Boss
2002, Applied Optics 41(6)). For Petzold's particle it is 0.92, for the molecules and few particles
of type I 0.76. That of the fjord is the thesis's.

Turbidity adds suspended sediment, of which 1 FNU is about 1 g/m³ (Neukermans et al. 2012, Limnology
and Oceanography: Methods 10). A gram scatters 0.51 m² at 555 nm (Babin et al. 2003, Limnology and
Oceanography 48), which is taken for all wavelengths, and absorbs 0.041 m² at 443 nm, less by
exp(−0.0123/nm) beyond (Babin et al. 2003, Journal of Geophysical Research 108).

Each colour of a camera is a band of wavelengths, and water that takes some of them faster leaves
less of those. `Medium.parts` are the same water at wavelengths spread evenly over the bands; the
picture in wavelengths is the mean of pictures in them. Lamps, sky and surfaces are taken as even
within a band.
"""

import math
from dataclasses import dataclass
from functools import cache
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from seatrial.conventions import WaterTypeName

Array = NDArray[np.float64]

WATER_TYPES: tuple[str, ...] = get_args(WaterTypeName)

BANDS = np.array([600.0, 530.0, 450.0])
"""Wavelengths that stand for red, green and blue, nm."""
EDGES = ((570.0, 490.0, 400.0), (700.0, 570.0, 490.0))
"""First and last wavelengths that count as red, green and blue, nm."""
PARTS = 4
"""Wavelengths of each band that are followed where a spectrum is asked for."""
INDEX = 1.34
"""Of refraction, of sea water in visible light."""
BACKWARD = 0.0183
"""Share of light that particles scatter backwards."""

_MEASURED_AT = np.linspace(400.0, 700.0, 20)
_MEASURED: dict[str, tuple[str, str]] = {
    "IB": (
        "144 141 138 135 133 130 129 127 124 123 121 120 119 117 116 115 114 113 112 111",
        "189 184 180 176 171 167 167 173 176 182 193 208 257 369 402 425 461 525 565 684",
    ),
    "II": (
        "209 204 200 196 192 189 186 183 180 178 175 173 171 169 167 165 164 162 161 159",
        "283 275 267 259 250 243 239 240 241 244 253 267 314 424 456 479 514 578 618 734",
    ),
    "III": (
        "324 319 315 310 306 302 298 295 292 289 285 282 280 277 275 273 270 268 266 264",
        "454 447 439 424 408 394 383 378 374 372 377 387 434 543 576 598 635 706 741 845",
    ),
    "1C": (
        "474 468 462 456 451 446 442 437 433 429 425 421 418 414 411 408 405 402 399 396",
        "660 646 630 608 585 563 549 538 530 525 526 534 579 687 719 741 778 856 886 981",
    ),
    "3C": (
        "713 704 695 687 680 673 666 660 653 647 642 636 631 625 621 616 611 607 603 599",
        "949 938 922 893 862 834 814 799 784 774 769 772 814 918 950 969 1005 1091 1116 1197",
    ),
    "5C": (
        "1320 1304 1288 1273 1257 1241 1235 1219 1210 1198 "
        "1190 1176 1170 1160 1150 1143 1130 1122 1116 1110",
        "1789 1730 1672 1598 1532 1474 1442 1407 1383 1360 "
        "1343 1333 1371 1470 1501 1520 1550 1655 1671 1724",
    ),
}
"""Type -> 1000 b and 1000 c at these wavelengths, 1/m."""

_DAYLIGHT_AT = np.linspace(400.0, 700.0, 13)
_DAYLIGHT: dict[str, tuple[tuple[float, ...], float, float]] = {
    "I": (
        (28, 22, 19, 18, 27, 43, 63, 89, 235, 305, 360, 420, 560),
        0.30 * 0.025**0.62,
        0.5,
    ),
    "IA": (
        (38, 31, 26, 25, 32, 48, 67, 94, 240, 310, 370, 430, 570),
        0.30 * 0.075**0.62,
        0.5,
    ),
    "7C": (
        (1600, 1200, 890, 710, 580, 490, 460, 460, 480, 540, 630, 780, 920),
        2.3,
        0.3,
    ),
    "9C": (
        (2400, 1900, 1600, 1230, 990, 780, 630, 580, 600, 650, 760, 920, 1100),
        3.1,
        0.3,
    ),
}
"""Type -> 1000 K_d at these wavelengths, 1/m; b at 550 nm, 1/m; the power with which it falls."""

SEDIMENT_SCATTERING, SEDIMENT_ABSORPTION, SEDIMENT_SLOPE = 0.51, 0.041, 0.0123
"""m²/g, m²/g at 443 nm, 1/nm."""
_KIRK = 0.256
_SLANT = 0.86

FJORD_DENSITY = 0.125
FJORD_COLOUR = np.array([0.014061, 0.146473, 0.34509])
FJORD_ABSORPTION_COLOUR = np.array([0.0, 0.394458, 1.0])
FJORD_MEAN_COSINE = 0.8


@dataclass(frozen=True)
class Medium:
    """Water in the bands that stand for red, green and blue; all in 1/m."""

    absorption: Array
    """(3,) a."""
    scattering: Array
    """(3,) b."""
    backscatter: Array
    """(3,) bb."""
    mean_cosine: float
    """Of the scattering angle, for a phase function of Henyey and Greenstein."""
    parts: tuple["Medium", ...] = ()
    """The same water at wavelengths of red, green and blue each."""

    @property
    def attenuation(self) -> Array:
        """(3,) c."""
        return self.absorption + self.scattering

    @property
    def daylight(self) -> Array:
        """(3,) K_d."""
        return daylight_attenuation(self.absorption, self.scattering)

    @property
    def veil(self) -> Array:
        """(3,) radiance of water without end, seen level, per irradiance of daylight there, 1/sr:
        bb / (2π (a + bb))."""
        return np.asarray(
            self.backscatter / (2.0 * np.pi * np.maximum(self.absorption + self.backscatter, 1e-6))
        )


@cache
def medium(name: str, turbidity: float = 0.0) -> Medium:
    """A type in the three bands, with so many FNU of sediment more."""
    low, high = np.array(EDGES)
    parts = tuple(
        _at(name, turbidity, low + (k + 0.5) / PARTS * (high - low), ()) for k in range(PARTS)
    )
    return _at(name, turbidity, BANDS, parts)


def _at(name: str, turbidity: float, wavelength: Array, parts: tuple[Medium, ...]) -> Medium:
    sediment = SEDIMENT_ABSORPTION * np.exp(-SEDIMENT_SLOPE * (wavelength - 443.0))
    scattering = scattering_at(name, wavelength) + turbidity * SEDIMENT_SCATTERING
    backscatter = _backscatter(wavelength, scattering)
    return Medium(
        absorption_at(name, wavelength) + turbidity * sediment,
        scattering,
        backscatter,
        FJORD_MEAN_COSINE if name == "fjord" else mean_cosine(backscatter.sum() / scattering.sum()),
        parts,
    )


def mean_cosine(backward: float) -> float:
    """Of Henyey and Greenstein's phase function that sends such a share of the light back."""

    def more(g: float) -> float:
        return (1.0 - g) / (2.0 * g) * ((1.0 + g) / math.hypot(1.0, g) - 1.0) - backward

    return float(brentq(more, 1e-6, 1.0))


def absorption_at(name: str, wavelength: ArrayLike) -> Array:
    """a of a type at wavelengths in nm, 1/m; the fjord has its three bands, linear between."""
    at = np.asarray(wavelength, np.float64)
    if name == "fjord":
        root = np.sqrt(FJORD_ABSORPTION_COLOUR)
        return _banded(at, FJORD_DENSITY * (1.0 - FJORD_COLOUR) * (1.0 - root))
    if name in _MEASURED:
        b, c = (_row(row) for row in _MEASURED[name])
        return np.asarray(np.interp(at, _MEASURED_AT, c - b))
    daylight = _SLANT * np.interp(at, _DAYLIGHT_AT, 1e-3 * np.array(_DAYLIGHT[name][0]))
    half = 0.5 * _KIRK * scattering_at(name, at)
    return np.asarray(np.hypot(half, daylight) - half)


def scattering_at(name: str, wavelength: ArrayLike) -> Array:
    """b of a type at wavelengths in nm, 1/m."""
    at = np.asarray(wavelength, np.float64)
    if name == "fjord":
        return _banded(at, FJORD_DENSITY * FJORD_COLOUR)
    if name in _MEASURED:
        return np.asarray(np.interp(at, _MEASURED_AT, _row(_MEASURED[name][0])))
    _, level, power = _DAYLIGHT[name]
    return np.asarray(level * (550.0 / at) ** power)


def backscatter_at(name: str, wavelength: ArrayLike) -> Array:
    """bb of a type at wavelengths in nm, 1/m."""
    return _backscatter(np.asarray(wavelength, np.float64), scattering_at(name, wavelength))


def daylight_attenuation(absorption: Array, scattering: Array) -> Array:
    """K_d by Kirk's relation, 1/m."""
    return np.asarray(np.sqrt(absorption**2 + _KIRK * absorption * scattering) / _SLANT)


def _backscatter(wavelength: Array, scattering: Array) -> Array:
    molecules = np.minimum(0.00193 * (550.0 / wavelength) ** 4.32, scattering)
    return 0.5 * molecules + BACKWARD * (scattering - molecules)


def _row(numbers: str) -> Array:
    return 1e-3 * np.array(numbers.split(), np.float64)


def _banded(wavelength: Array, values: Array) -> Array:
    return np.asarray(np.interp(wavelength, BANDS[::-1], values[::-1]))
