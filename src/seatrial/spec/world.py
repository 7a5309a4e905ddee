"""Description of a world: waves, current, wind, water, turbulence and the seabed.

Every direction is called `towards` and says where the waves, the water or the air move to.
"""

from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from seatrial.conventions import SEAWATER_DENSITY, WaterTypeName
from seatrial.spec.base import (
    KgPerCubicMetre,
    Metres,
    MetresPerSecond,
    Number,
    Plain,
    Radians,
    Seconds,
    Spec,
    Unit,
)
from seatrial.spec.bodies import WorldBody
from seatrial.spec.seabed import AnySeabed
from seatrial.spec.waves import Waves

TABLE = Field(strict=False, min_length=2, max_length=100_000)
Row = Annotated[tuple[Annotated[Number, Field(ge=-1e9, le=1e9)], ...], TABLE]
Speed = Annotated[Number, Field(ge=-15, le=15)]
Factor = Annotated[Number, Field(ge=-10, le=10)]
Celsius = Annotated[Number, Field(ge=-2.5, le=45), Unit("°C")]
PracticalSalinity = Annotated[Plain, Field(ge=0, le=42)]

SMALLEST_STEP = 1e-6
"""Closest that two rows of a table may lie: a steeper curve has no meaning."""


def _check_time(text: str) -> str:
    try:
        zone = datetime.fromisoformat(text).tzinfo
    except ValueError:
        zone = None
    if zone is None:
        raise ValueError(
            f"expected a date and time with its zone, such as 2026-06-21T04:30Z, found {text!r}"
        )
    return text


class Datum(Spec):
    """Where on Earth the origin of the world lies (WGS 84)."""

    latitude_deg: Annotated[Number, Field(ge=-90, le=90)] = 0.0
    """Degrees north."""
    longitude_deg: Annotated[Number, Field(ge=-180, le=180)] = 0.0
    """Degrees east."""


class DepthProfile(Spec):
    """How much of the current is left at each depth."""

    depth: Annotated[Row, Unit("m")]
    """Depths, rising, m."""
    factor: Annotated[tuple[Factor, ...], TABLE]
    """Share of the surface current at each depth; smooth between, constant beyond the ends."""

    @model_validator(mode="after")
    def _rows_match(self) -> Self:
        check_rows(depth=self.depth, factor=self.factor)
        return self


class CurrentSeries(Spec):
    """A current as measured over time."""

    time: Annotated[Row, Unit("s")]
    """Times since the start of the run, rising, s."""
    speed: Annotated[tuple[Speed, ...], TABLE, Unit("m/s")]
    """Speed at each time, m/s."""
    towards: Annotated[Row, Unit("rad")]
    """Direction at each time, rad from north through east."""

    @model_validator(mode="after")
    def _rows_match(self) -> Self:
        check_rows(time=self.time, speed=self.speed, towards=self.towards)
        return self


class TidalConstituent(Spec):
    """One harmonic of a tidal stream; two at right angles make an ellipse."""

    amplitude: Annotated[MetresPerSecond, Field(gt=0, le=10)]
    """Strongest flow, m/s."""
    period: Annotated[Seconds, Field(ge=60)]
    """s; 12.42 h for the principal lunar tide M2."""
    towards: Radians
    """Direction of the strongest flood, rad from north through east."""
    phase: Radians = 0.0
    """Lag of the strongest flood behind the start of the run, rad."""


class Current(Spec):
    """Horizontal flow of the water: steady or a series, with tides, over a depth profile."""

    speed: Annotated[MetresPerSecond, Field(ge=0, le=15)] | None = None
    """Steady speed at the surface, m/s; 0 when left out."""
    towards: Radians | None = None
    """Direction towards which the steady current sets, rad from north through east."""
    series: CurrentSeries | None = None
    """A time series instead of a steady current."""
    tide: Annotated[tuple[TidalConstituent, ...], Field(strict=False, max_length=60)] = ()
    """Tidal constituents on top."""
    profile: DepthProfile | None = None
    """Change over depth; the same at every depth when left out."""

    @model_validator(mode="after")
    def _steady_or_series(self) -> Self:
        if self.series is not None and (self.speed is not None or self.towards is not None):
            raise ValueError(
                "`series` already gives speed and direction over time: leave out `speed` and "
                "`towards`, or the series"
            )
        if self.speed and self.towards is None:
            raise ValueError("`speed` needs a direction: add for example `towards_deg: 90`")
        return self


class Gusts(Spec):
    """Gusts along the mean wind."""

    spectrum: Literal["norsok", "davenport"]
    """Spectrum of the along-wind speed at 10 m."""
    harmonics: Annotated[int, Field(ge=1, le=2000)] = 48
    """Number of harmonics between 1/600 and 1/2 Hz."""


class Wind(Spec):
    """Motion of the air."""

    speed: Annotated[MetresPerSecond, Field(ge=0, le=80)]
    """Mean at 10 m, m/s."""
    towards: Radians = 0.0
    """Direction towards which the air moves, rad from north through east."""
    profile: Literal["log", "power"] = "log"
    """Law of the boundary layer."""
    roughness: Annotated[Metres, Field(ge=1e-6, le=0.05)] | None = None
    """Roughness length of `profile: log`, m; 0.0002 (open sea) when left out."""
    exponent: Annotated[Plain, Field(gt=0, le=0.5)] | None = None
    """Exponent of `profile: power`; 0.12 (open sea with waves) when left out."""
    gusts: Gusts | None = None
    """A steady wind when left out."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.profile == "log" and self.exponent is not None:
            raise ValueError(
                "`exponent` belongs to `profile: power`: change the profile or drop it"
            )
        if self.profile == "power" and self.roughness is not None:
            raise ValueError("`roughness` belongs to `profile: log`: change the profile or drop it")
        if self.gusts is not None and self.speed < 1.0:
            raise ValueError(
                f"`gusts` need a mean wind of at least 1 m/s to carry them, found {self.speed:g} "
                "m/s: raise `speed` or drop the gusts"
            )
        return self


class ConstantWater(Spec):
    """The same water at every depth."""

    profile: Literal["constant"]
    """Selects this kind of water."""
    density: Annotated[KgPerCubicMetre, Field(ge=900, le=1100)] | None = None
    """kg/m³ at every depth; by TEOS-10, rising with pressure, when left out."""
    temperature: Celsius = 10.0
    """In-situ temperature (ITS-90), °C."""
    salinity: PracticalSalinity = 35.0
    """Practical salinity (PSS-78)."""


class WaterTable(Spec):
    """Water by a measured profile."""

    profile: Literal["table"]
    """Selects this kind of water."""
    depth: Annotated[Row, Unit("m")]
    """Depths, rising from 0 or below, m."""
    temperature: Annotated[tuple[Celsius, ...], TABLE, Unit("°C")]
    """In-situ temperature (ITS-90) at each depth, °C."""
    salinity: Annotated[tuple[PracticalSalinity, ...], TABLE]
    """Practical salinity (PSS-78) at each depth."""

    @model_validator(mode="after")
    def _rows_match(self) -> Self:
        check_rows(depth=self.depth, temperature=self.temperature, salinity=self.salinity)
        if self.depth[0] < 0.0 or self.depth[-1] > 12_000.0:
            raise ValueError(
                f"`depth` must lie between 0 and 12 000 m, found {self.depth[0]:g} … "
                f"{self.depth[-1]:g}: count it downwards from the surface"
            )
        return self


class WaterPreset(Spec):
    """Typical water of a mid-latitude ocean and season."""

    profile: Literal["preset"]
    """Selects this kind of water."""
    ocean: Literal["atlantic", "pacific"]
    """North Atlantic or North Pacific, at about 40° north."""
    season: Literal["summer", "winter"]
    """Of the northern hemisphere."""


Water = Annotated[ConstantWater | WaterTable | WaterPreset, Field(discriminator="profile")]


class Turbulence(Spec):
    """Isotropic turbulence by its dissipation rate."""

    dissipation_rate: Annotated[Number, Field(ge=1e-12, le=1.0), Unit("W/kg")]
    """Kinetic energy lost per unit mass, W/kg."""
    outer_length: Annotated[Metres, Field(ge=0.01, le=10_000)]
    """Size of the energy-containing eddies, m."""
    smallest_length: Annotated[Metres, Field(ge=0.001)] | None = None
    """Wavelength of the smallest eddies kept, m; a fiftieth of `outer_length` when left out."""
    modes: Annotated[int, Field(ge=8, le=5000)] = 64
    """Number of Fourier modes."""

    @model_validator(mode="after")
    def _lengths_in_order(self) -> Self:
        if self.smallest_length is not None and self.smallest_length >= self.outer_length:
            raise ValueError(
                f"`smallest_length` of {self.smallest_length:g} m must be below `outer_length` of "
                f"{self.outer_length:g} m: shorten it or leave it out"
            )
        return self


class Weather(Spec):
    """Fog and rain, which light and radio waves have to pass."""

    visibility: Annotated[Metres, Field(ge=10, le=100_000)] | None = None
    """How far a black target can be seen against the sky (meteorological optical range); clear air
    when left out."""
    rain: Annotated[Number, Field(ge=0, le=300), Unit("mm/h")] = 0.0
    """Rain rate, mm/h."""
    air_temperature: Annotated[Number, Field(ge=-50, le=50), Unit("°C")] = 15.0
    """Of the air, °C."""


class Daylight(Spec):
    """Sun and clouds, by which cameras see."""

    sun_elevation: Annotated[Radians, Field(ge=-1.5708, le=1.5708)] | None = None
    """Of the sun above the horizon; 0.7 (40°) when left out. Below −6° it is night."""
    sun_azimuth: Radians | None = None
    """Where the sun stands, from north through east; 2.4 (135°, south-east) when left out."""
    time: Annotated[str, AfterValidator(_check_time)] | None = None
    """Date and time with its zone, for example `2026-06-21T04:30Z`: the sun then stands where it
    does at the world's `datum`."""
    cloud: Annotated[Plain, Field(ge=0, le=1)] = 0.0
    """Share of the sky that is covered."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.time is not None and not (self.sun_elevation is self.sun_azimuth is None):
            raise ValueError(
                "`time` already says where the sun stands: leave out `sun_elevation` and "
                "`sun_azimuth`, or the time"
            )
        return self


class World(Spec):
    """Everything around the vehicles.

    >>> world = st.World(name="fjord", current={"speed_kn": 1, "towards_deg": 90})
    >>> round(world.current.speed, 3)
    0.514
    """

    kind: Literal["world"] = "world"
    """Says that this file describes a world."""
    name: Annotated[str, Field(min_length=1, max_length=80)]
    """Short name."""
    description: str = ""
    """One or two sentences for people."""
    source: str = ""
    """Where the numbers come from."""
    datum: Datum = Datum()
    """Origin of the world on Earth."""
    waves: Waves | None = None
    """A flat sea when left out."""
    current: Current | None = None
    """Water at rest when left out."""
    wind: Wind | None = None
    """No wind when left out; then vehicles feel no air at all."""
    water: Water = ConstantWater(profile="constant", density=SEAWATER_DENSITY)
    """Sea water of constant density when left out."""
    turbulence: Turbulence | None = None
    """None when left out."""
    weather: Weather | None = None
    """A clear day when left out."""
    light: Daylight = Daylight()
    """Sun and clouds; a clear day with the sun at 40° in the south-east when left out."""
    water_type: WaterTypeName = "II"
    """What the water does to light: Jerlov's types of open oceans (I the clearest, IA, IB, II,
    III), of coasts (1C the clearest, 3C, 5C, 7C, 9C), or `fjord`."""
    turbidity: Annotated[Plain, Field(ge=0, le=1000)] = 0.0
    """Of sediment that is stirred up beyond what the type has, FNU: 1 is hazy, 10 a flood."""
    marine_snow: Annotated[Plain, Field(ge=0, le=5000)] = 0.0
    """Flakes of more than 0.4 mm in a cubic metre, for path-traced pictures: 50 in clear water,
    thousands in a bloom."""
    seabed: AnySeabed | None = None
    """Deep water without a bottom when left out."""
    bodies: Annotated[tuple[WorldBody, ...], Field(strict=False, max_length=500)] = ()
    """What stands, lies, floats and passes in it."""


def check_rows(**rows: tuple[float, ...]) -> None:
    """Refuse rows of different lengths, and a first row that does not rise."""
    (first, along), *others = rows.items()
    for name, row in others:
        if len(row) != len(along):
            raise ValueError(
                f"`{name}` has {len(row)} values and `{first}` has {len(along)}: give one "
                f"for each `{first}`"
            )
    for i in range(1, len(along)):
        if along[i] - along[i - 1] < SMALLEST_STEP:
            raise ValueError(
                f"`{first}` must rise, found {along[i]:g} after {along[i - 1]:g}: sort the rows "
                "and drop repeated ones"
            )
