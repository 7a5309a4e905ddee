"""Descriptions of waves: a spectrum and how it is spread, or the components themselves."""

import math
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from seatrial.conventions import GRAVITY
from seatrial.spec.base import Metres, MetresPerSecond, Plain, Radians, Seconds, Spec

Height = Annotated[Metres, Field(ge=0.001, le=30)]
Period = Annotated[Seconds, Field(ge=0.2, le=60)]

BREAKING_STEEPNESS = 0.142
"""Height over length at which a regular wave in deep water breaks (Michell 1893)."""


class Spread(Spec):
    """What a wind sea and a swell share: direction, spreading and number of components."""

    towards: Radians = 0.0
    """Mean direction towards which the waves travel, rad from north through east."""
    spreading: Literal["long_crested", "cos2", "cos2s"] = "cos2"
    """Spread of the energy over directions about the mean."""
    spreading_exponent: Annotated[Plain, Field(ge=1, le=200)] | None = None
    """s of `spreading: cos2s`; about 10 for a wind sea, 25 and more for a swell."""
    method: Literal["uniform", "equal_energy", "jittered"] = "jittered"
    """How the spectrum is cut into components. In each of them every direction has frequencies of
    its own, so that a record at one place has the height of the sea; a `uniform` sea repeats
    itself after 2π over the distance of its frequencies, which is the width of a band over the
    number of directions."""
    frequencies: Annotated[int, Field(ge=1, le=1000)] = 15
    """Number of frequency bands."""
    directions: Annotated[int, Field(ge=1, le=360)] | None = None
    """Number of direction bands; 5 when left out, 1 for a long-crested sea."""

    @model_validator(mode="after")
    def _spreading_is_consistent(self) -> Self:
        if self.spreading == "cos2s" and self.spreading_exponent is None:
            raise ValueError(
                "`spreading: cos2s` needs its exponent: add for example `spreading_exponent: 10`"
            )
        if self.spreading != "cos2s" and self.spreading_exponent is not None:
            raise ValueError(
                "`spreading_exponent` means something for `spreading: cos2s` only: leave it out "
                f"or change `spreading: {self.spreading}`"
            )
        if self.spreading == "long_crested" and self.directions not in (None, 1):
            raise ValueError(
                "`directions` must be 1 for a long-crested sea, found "
                f"{self.directions}: leave it out, or choose `spreading: cos2`"
            )
        return self

    @property
    def direction_count(self) -> int:
        """Number of direction bands with the default filled in."""
        if self.spreading == "long_crested":
            return 1
        return 5 if self.directions is None else self.directions


class Swell(Spread):
    """A second, older wave system from elsewhere, with a JONSWAP shape."""

    significant_height: Height
    """Hs of the swell alone, m."""
    peak_period: Period
    """Tp of the swell, s; longer than that of the wind sea."""
    gamma: Annotated[Plain, Field(ge=1, le=7)] = 5.0
    """Peak enhancement; swell is narrow."""

    @model_validator(mode="after")
    def _does_not_break(self) -> Self:
        check_steepness(self.significant_height, self.peak_period)
        return self


class Sea(Spread):
    """A sea by its spectrum."""

    stretching: Literal["constant", "wheeler", "linear"] = "constant"
    """Orbital motion above the mean level: held at its value there, measured from the
    instantaneous surface, or continued along the tangent."""


class WindSea(Sea):
    """A sea with one peak, to which a swell may be added."""

    swell: Swell | None = None
    """A second wave system."""

    def wind_sea_peak_period(self) -> float | None:
        """Tp of the wind sea, s; None where only the sea-state table knows it."""
        return None

    @model_validator(mode="after")
    def _swell_is_longer(self) -> Self:
        peak = self.wind_sea_peak_period()
        if self.swell is not None and peak is not None and self.swell.peak_period < peak:
            raise ValueError(
                f"`swell` has a peak period of {self.swell.peak_period:g} s, shorter than the "
                f"{peak:.3g} s of the wind sea: swell is the longer system, so swap the two or "
                "lengthen the swell"
            )
        return self


class PiersonMoskowitz(WindSea):
    """Fully developed sea by wind speed or by height (Pierson and Moskowitz 1964)."""

    spectrum: Literal["pierson_moskowitz"]
    """Selects this spectrum."""
    wind_speed: Annotated[MetresPerSecond, Field(ge=0.5, le=50)] | None = None
    """Wind 19.5 m above the sea, m/s."""
    significant_height: Height | None = None
    """Hs, m; instead of `wind_speed`."""

    @model_validator(mode="after")
    def _one_parameter(self) -> Self:
        if (self.wind_speed is None) == (self.significant_height is None):
            found = "neither" if self.wind_speed is None else "both"
            raise ValueError(
                "a Pierson–Moskowitz sea has one parameter: give either `wind_speed` or "
                f"`significant_height`, found {found}; for a height and a period choose "
                "`spectrum: bretschneider`"
            )
        return self

    def wind_sea_peak_period(self) -> float | None:
        """Tp, s: both forms follow from f_p = (4B/5)^¼ with α = 8.10e-3 and β = 0.74."""
        if self.wind_speed is not None:
            return 0.7304 * self.wind_speed
        return None if self.significant_height is None else 5.0 * math.sqrt(self.significant_height)


class Bretschneider(WindSea):
    """Two-parameter spectrum of Bretschneider, the ITTC and the ISSC."""

    spectrum: Literal["bretschneider"]
    """Selects this spectrum."""
    significant_height: Height
    """Hs, m."""
    peak_period: Period
    """Tp, s."""

    @model_validator(mode="after")
    def _does_not_break(self) -> Self:
        check_steepness(self.significant_height, self.peak_period)
        return self

    def wind_sea_peak_period(self) -> float | None:
        """Tp, s."""
        return self.peak_period


class Jonswap(WindSea):
    """Growing sea with a sharpened peak (Hasselmann et al. 1973)."""

    spectrum: Literal["jonswap"]
    """Selects this spectrum."""
    significant_height: Height
    """Hs, m."""
    peak_period: Period
    """Tp, s."""
    gamma: Annotated[Plain, Field(ge=1, le=7)] = 3.3
    """Peak enhancement; 1 is a Bretschneider sea, 3.3 the mean of the JONSWAP measurements."""

    @model_validator(mode="after")
    def _does_not_break(self) -> Self:
        check_steepness(self.significant_height, self.peak_period)
        return self

    def wind_sea_peak_period(self) -> float | None:
        """Tp, s."""
        return self.peak_period


class OchiHubbleSystem(Spec):
    """One of the two systems of an Ochi–Hubble spectrum."""

    significant_height: Height
    """Hs of this system, m."""
    peak_period: Period
    """Modal period, s."""
    shape: Annotated[Plain, Field(ge=0.5, le=10)]
    """λ; 1 is a Bretschneider shape, larger is narrower."""

    @model_validator(mode="after")
    def _does_not_break(self) -> Self:
        check_steepness(self.significant_height, self.peak_period)
        return self


class OchiHubble(Sea):
    """Six-parameter spectrum: swell and wind sea (Ochi and Hubble 1976)."""

    spectrum: Literal["ochi_hubble"]
    """Selects this spectrum."""
    systems: Annotated[
        tuple[OchiHubbleSystem, ...], Field(strict=False, min_length=2, max_length=2)
    ]
    """The two systems, the longer first."""

    @model_validator(mode="after")
    def _longer_first(self) -> Self:
        first, second = (s.peak_period for s in self.systems)
        if first < second:
            raise ValueError(
                f"`systems` begins with the longer one, found peak periods of {first:g} s and "
                f"{second:g} s: swap the two"
            )
        return self


class Torsethaugen(Sea):
    """Wind sea and swell by the height and the period of the whole (Torsethaugen, Haver 2004)."""

    spectrum: Literal["torsethaugen"]
    """Selects this spectrum."""
    significant_height: Height
    """Hs of the whole sea, m."""
    peak_period: Annotated[Seconds, Field(ge=0.2, le=25)]
    """Tp of the higher peak, s."""

    @model_validator(mode="after")
    def _does_not_break(self) -> Self:
        check_steepness(self.significant_height, self.peak_period)
        return self


class SeaState(WindSea):
    """A sea by its WMO code."""

    spectrum: Literal["sea_state"]
    """Selects this spectrum."""
    code: Annotated[int, Field(ge=0, le=9)]
    """WMO sea-state code 0 … 9; 0 is a calm sea without waves."""

    @model_validator(mode="after")
    def _calm_has_no_swell(self) -> Self:
        if self.code == 0 and self.swell is not None:
            raise ValueError(
                "`code: 0` is a sea without waves, yet a `swell` is given: raise the code, or "
                "describe the swell alone as `spectrum: jonswap`"
            )
        return self


class Regular(Spec):
    """One regular wave, as in a towing tank."""

    spectrum: Literal["regular"]
    """Selects this kind of waves."""
    height: Annotated[Metres, Field(gt=0, le=40)]
    """Crest to trough, m."""
    period: Period
    """s."""
    towards: Radians = 0.0
    """Direction towards which the wave travels, rad from north through east."""
    phase: Radians = 0.0
    """Phase at the datum at t = 0; 0 is a crest."""
    stretching: Literal["constant", "wheeler", "linear"] = "constant"
    """Orbital motion above the mean level."""

    @model_validator(mode="after")
    def _does_not_break(self) -> Self:
        check_regular("height", self.height, self.period)
        return self


class Component(Spec):
    """One component of a sea that is given as a list."""

    amplitude: Annotated[Metres, Field(gt=0, le=20)]
    """Half the height, m."""
    period: Period
    """s."""
    towards: Radians = 0.0
    """Direction towards which the component travels, rad from north through east."""
    phase: Radians = 0.0
    """Phase at the datum at t = 0; 0 is a crest."""

    @model_validator(mode="after")
    def _does_not_break(self) -> Self:
        check_regular("amplitude", 2.0 * self.amplitude, self.period)
        return self


class ComponentList(Spec):
    """A sea given component by component."""

    spectrum: Literal["components"]
    """Selects this kind of waves."""
    components: Annotated[tuple[Component, ...], Field(strict=False, min_length=1, max_length=5000)]
    """The regular waves that are added up."""
    stretching: Literal["constant", "wheeler", "linear"] = "constant"
    """Orbital motion above the mean level."""


Waves = Annotated[
    PiersonMoskowitz
    | Bretschneider
    | Jonswap
    | OchiHubble
    | Torsethaugen
    | SeaState
    | Regular
    | ComponentList,
    Field(discriminator="spectrum"),
]


def check_steepness(significant_height: float, peak_period: float) -> None:
    """Refuse a sea steeper than seas get: 2π Hs / (g Tp²) of DNV-RP-C205.

    The limit is 1/15 up to Tp = 8 s and 1/25 from 15 s, linear between.
    """
    share = min(max((peak_period - 8.0) / 7.0, 0.0), 1.0)
    limit = (1.0 - share) / 15.0 + share / 25.0
    length = GRAVITY * peak_period**2 / (2.0 * math.pi)
    if significant_height > limit * length:
        longest = limit * length
        raise ValueError(
            f"`significant_height` of {significant_height:g} m would break at a peak period of "
            f"{peak_period:g} s: expected at most {longest:.3g} m (steepness 1/{1 / limit:.3g}), "
            "so lower the height or lengthen the period"
        )


def check_regular(key: str, height: float, period: float) -> None:
    """Refuse a regular wave above the breaking limit in deep water."""
    highest = BREAKING_STEEPNESS * GRAVITY * period**2 / (2.0 * math.pi)
    if height > highest:
        raise ValueError(
            f"`{key}`: a wave {height:g} m high would break at a period of {period:g} s: expected "
            f"a height of at most {highest:.3g} m (0.142 of the length), so lower it or lengthen "
            "the period"
        )
