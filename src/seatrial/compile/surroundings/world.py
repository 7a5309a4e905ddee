"""From the description of a world to the fields that are sampled."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.compile.padding import room_for
from seatrial.compile.surroundings.seabed import SHALLOWEST, Bottom, bottom_of
from seatrial.geometry.terrain import Terrain
from seatrial.ocean import (
    Current,
    Ocean,
    Seabed,
    Turbulence,
    Water,
    Waves,
    Wind,
    sea_states,
    spectra,
    turbulence,
    wind,
)
from seatrial.ocean.current import Tide
from seatrial.ocean.curves import curve
from seatrial.ocean.spectra import Spectrum
from seatrial.ocean.spreading import Spreading
from seatrial.ocean.synthesis import Components, discretise, wavenumber, waves_from
from seatrial.ocean.water import PRESETS, water_from_profile
from seatrial.pytree import constant
from seatrial.seeding import generator
from seatrial.spec import waves as wave_spec
from seatrial.spec import world as world_spec
from seatrial.spec.world import World

DEEPEST_TABLE = 6000.0
"""How far down the water is tabulated when the world has no seabed, m."""

SHELF = 256.0
"""How far down at least where a run may load other parts of a map, m: what lies all over a large
map is deeper than what is near, and maps of shelves shall share a program all the same."""

OPEN_SEA_ROUGHNESS = 2e-4
"""Roughness length of the open sea, m (DNV-RP-C205, table 2-1: 1e-4 calm … 1e-2 rough)."""
OPEN_SEA_EXPONENT = 0.12
"""Power-law exponent of the open sea with waves (DNV-RP-C205, table 2-1)."""

FORECAST = 200
"""Bands of frequency by which a forecast tells a spectrum."""

DEPTH_LIMIT = 0.6
"""Largest Hs over water depth: higher seas have broken on a flat bottom (Goda 2010)."""

Dtype = Any
"""`np.float64` or `np.float32`."""


def build_ocean(world: World, seed: int, dtype: Dtype, bottom: Bottom | None = None) -> Ocean:
    """Compile a world; call it inside `jax.enable_x64(True)`.

    The same seed gives the same arrays; every random field draws from a stream of its own name.
    `bottom` is the part of the world's that the vehicles of a run can reach; all when left out.
    """
    bottom = bottom or bottom_of(world, seed)
    return Ocean(
        water=_water(world, bottom, dtype),
        waves=_waves(world, bottom, seed, dtype),
        current=_current(world.current, dtype),
        wind=_wind(world.wind, seed, dtype),
        turbulence=_turbulence(world, seed, dtype),
        seabed=_seabed(bottom, dtype),
    )


def _seabed(bottom: Bottom | None, dtype: Dtype) -> Seabed | None:
    if bottom is None:
        return None
    depth = bottom.depth
    return Seabed(depth.grid() if isinstance(depth, Terrain) else constant(depth, dtype))


def _waves(world: World, bottom: Bottom | None, seed: int, dtype: Dtype) -> Waves | None:
    def drawn(spectrum: Spectrum, spread: wave_spec.Spread, stream: str) -> Components:
        return discretise(
            spectrum,
            Spreading(spread.spreading, spread.spreading_exponent or 1.0),
            _wrapped(spread.towards),
            spread.frequencies,
            spread.direction_count,
            spread.method,
            generator(seed, stream),
        )

    sea, systems = world.waves, _systems(world, drawn)
    if sea is None or not systems:
        return None
    carrying = _carrying(world.current)
    if bottom is None:
        return waves_from(systems, None, sea.stretching, dtype, carrying)
    _check_depth(world, systems, bottom.for_waves)
    mapped = isinstance(bottom.depth, Terrain)
    depths = (SHALLOWEST, bottom.deepest) if mapped else None
    return waves_from(systems, bottom.for_waves, sea.stretching, dtype, carrying, depths)


def forecast(world: World, waves: Waves | None) -> Waves | None:
    """What can be known beforehand of the `waves` of a world: the same for every seed.

    Their spectra are cut finely and nothing is drawn. All go one way, which is not told.
    """

    def even(spectrum: Spectrum, _: wave_spec.Spread, stream: str) -> Components:
        alone = Spreading("long_crested", 1.0)
        return discretise(
            spectrum, alone, 0.0, FORECAST, 1, "uniform", generator(0, f"forecast/{stream}")
        )

    if waves is None:
        return None
    depth = None if waves.depth is None else float(waves.depth)
    return waves_from(_systems(world, even), depth, waves.stretching, np.float64)


def _systems(
    world: World, cut: Callable[[Spectrum, wave_spec.Spread, str], Components]
) -> list[Components]:
    """Systems of waves; `cut` makes components of those that have a spectrum."""
    sea = world.waves
    if sea is None:
        return []
    if isinstance(sea, wave_spec.Regular):
        alone = wave_spec.Component(
            amplitude=0.5 * sea.height, period=sea.period, towards=sea.towards, phase=sea.phase
        )
        return [_listed((alone,))]
    if isinstance(sea, wave_spec.ComponentList):
        return [_listed(sea.components)]
    spectrum = _spectrum(sea)
    if spectrum is None:
        return []
    systems = [cut(spectrum, sea, "waves")]
    swell = sea.swell if isinstance(sea, wave_spec.WindSea) else None
    if swell is not None:
        _check_swell(world, spectrum, swell)
        shape = spectra.jonswap(swell.significant_height, swell.peak_period, swell.gamma)
        systems.append(cut(shape, swell, "waves/swell"))
    return systems


def _carrying(current: world_spec.Current | None) -> tuple[float, float]:
    """North and east velocity of the water that carries the waves: at the surface, at the start.

    Tides and series change over hours, in which the waves' frequencies do not follow them.
    """
    if current is None:
        return 0.0, 0.0
    flow = complex(0.0)
    if current.series is not None:
        series = current.series
        speed, towards = np.array(series.speed), np.array(series.towards)
        flow += np.interp(0.0, series.time, speed * np.exp(1j * towards))
    else:
        flow += (current.speed or 0.0) * np.exp(1j * (current.towards or 0.0))
    for part in current.tide or ():
        flow += part.amplitude * math.cos(part.phase) * np.exp(1j * part.towards)
    if current.profile is not None:
        flow *= np.interp(0.0, current.profile.depth, current.profile.factor)
    return float(flow.real), float(flow.imag)


def wave_frequency(world: World) -> float | None:
    """At which the waves of a world carry most energy, rad/s; None in a calm."""
    sea = world.waves
    if sea is None:
        return None
    if isinstance(sea, wave_spec.Regular):
        return math.tau / sea.period
    if isinstance(sea, wave_spec.ComponentList):
        return math.tau / max(sea.components, key=lambda c: c.amplitude).period
    spectrum = _spectrum(sea)
    return None if spectrum is None else spectrum.peaks[0]


def _listed(components: tuple[wave_spec.Component, ...]) -> Components:
    def column(values: list[float]) -> NDArray[np.float64]:
        return np.array(values, np.float64)

    return Components(
        amplitude=column([c.amplitude for c in components]),
        omega=column([2.0 * math.pi / c.period for c in components]),
        direction=column([_wrapped(c.towards) for c in components]),
        phase=column([_wrapped(c.phase) for c in components]),
    )


def _spectrum(sea: wave_spec.Sea) -> Spectrum | None:
    match sea:
        case wave_spec.PiersonMoskowitz(wind_speed=float(speed)):
            return spectra.pierson_moskowitz_by_wind(speed)
        case wave_spec.PiersonMoskowitz(significant_height=float(height)):
            return spectra.pierson_moskowitz_by_height(height)
        case wave_spec.Bretschneider():
            return spectra.bretschneider(sea.significant_height, sea.peak_period)
        case wave_spec.Jonswap():
            return spectra.jonswap(sea.significant_height, sea.peak_period, sea.gamma)
        case wave_spec.OchiHubble():
            return spectra.ochi_hubble(
                tuple((s.significant_height, s.peak_period, s.shape) for s in sea.systems)
            )
        case wave_spec.Torsethaugen():
            return spectra.torsethaugen(sea.significant_height, sea.peak_period)
        case wave_spec.SeaState():
            return sea_states.sea_state(sea.code)
    raise TypeError(f"no spectrum for {type(sea).__name__}")


def _check_swell(world: World, wind_sea: Spectrum, swell: wave_spec.Swell) -> None:
    """Refuse a swell shorter than the wind sea; only here is the period of a sea state known."""
    if swell.peak_period < wind_sea.peak_period:
        raise world.error(
            ("waves", "swell", "peak_period"),
            "the swell is shorter than the wind sea",
            value=swell.peak_period,
            expected=f"at least the {wind_sea.peak_period:.3g} s of the wind sea",
            mend="lengthen the swell, or describe it as the wind sea",
        )


def _check_depth(world: World, systems: list[Components], depth: float) -> None:
    """Refuse waves that the water is too shallow for."""
    if isinstance(world.waves, wave_spec.Regular):
        k = float(wavenumber(systems[0].omega, depth)[0])
        highest = wave_spec.BREAKING_STEEPNESS * 2.0 * math.pi / k * math.tanh(k * depth)
        height, what = world.waves.height, "regular wave"
    else:
        highest = DEPTH_LIMIT * depth
        variance = 0.5 * sum(float(np.sum(s.amplitude**2)) for s in systems)
        height, what = 4.0 * math.sqrt(variance), "sea"
    if height > highest:
        raise world.error(
            ("seabed", "depth") if hasattr(world.seabed, "depth") else ("seabed",),
            f"a {what} {height:.3g} m high breaks in water of this depth",
            value=depth,
            expected=f"waves of at most {highest:.3g} m in {depth:g} m of water",
            mend="lower the waves or deepen the water",
        )


def _current(current: world_spec.Current | None, dtype: Dtype) -> Current | None:
    if current is None:
        return None
    if current.series is not None:
        series = current.series
        speed, towards = np.array(series.speed), np.array(series.towards)
        north: Any = curve(series.time, speed * np.cos(towards), dtype)
        east: Any = curve(series.time, speed * np.sin(towards), dtype)
    else:
        speed_now, towards_now = current.speed or 0.0, current.towards or 0.0
        north = constant(speed_now * math.cos(towards_now), dtype)
        east = constant(speed_now * math.sin(towards_now), dtype)
    profile = current.profile
    return Current(
        north=north,
        east=east,
        tide=_tide(current.tide, dtype) if current.tide else None,
        profile=None if profile is None else curve(profile.depth, profile.factor, dtype),
    )


def _tide(constituents: tuple[world_spec.TidalConstituent, ...], dtype: Dtype) -> Tide:
    return Tide(
        north=constant([c.amplitude * math.cos(c.towards) for c in constituents], dtype),
        east=constant([c.amplitude * math.sin(c.towards) for c in constituents], dtype),
        omega=constant([2.0 * math.pi / c.period for c in constituents], np.float64),
        phase=constant([_wrapped(c.phase) for c in constituents], dtype),
    )


def _wind(described: world_spec.Wind | None, seed: int, dtype: Dtype) -> Wind | None:
    if described is None:
        return None
    if described.profile == "log":
        shape = described.roughness or OPEN_SEA_ROUGHNESS
    else:
        shape = described.exponent or OPEN_SEA_EXPONENT
    gusts = described.gusts
    return Wind(
        speed=constant(described.speed, dtype),
        towards=constant(_wrapped(described.towards), dtype),
        shape=constant(shape, dtype),
        gusts=None
        if gusts is None
        else wind.synthesise_gusts(gusts.spectrum, described.speed, gusts.harmonics, seed, dtype),
        profile=described.profile,
    )


def _water(world: World, seabed: Bottom | None, dtype: Dtype) -> Water:
    described, density = world.water, None
    if isinstance(described, world_spec.ConstantWater):
        depth: tuple[float, ...] = (0.0,)
        temperature: tuple[float, ...] = (described.temperature,)
        salinity: tuple[float, ...] = (described.salinity,)
        density = described.density
    elif isinstance(described, world_spec.WaterTable):
        depth, temperature, salinity = described.depth, described.temperature, described.salinity
    else:
        depth, temperature, salinity = PRESETS[described.ocean, described.season]
    if seabed is None:
        bottom = max(DEEPEST_TABLE, depth[-1])
    else:
        # To the next of 4, 8, 16, … m: a range of depths has tables of the same size.
        floor = seabed.deepest
        if seabed.loaded is not None and seabed.loaded.follow is not None:
            floor = max(floor, SHELF)
        bottom = max(min(float(room_for(math.ceil(floor))), DEEPEST_TABLE), floor)
    return water_from_profile(
        depth,
        temperature,
        salinity,
        bottom,
        world.datum.latitude_deg,
        world.datum.longitude_deg,
        dtype,
        density,
    )


def _turbulence(world: World, seed: int, dtype: Dtype) -> Turbulence | None:
    described = world.turbulence
    if described is None:
        return None
    current = world.current
    drift = (0.0, 0.0)
    if current is not None and current.speed and current.towards is not None:
        # the steady surface current carries the eddies; tides and series turn too slowly to matter
        drift = (
            current.speed * math.cos(current.towards),
            current.speed * math.sin(current.towards),
        )
    return turbulence.synthesise_turbulence(
        described.dissipation_rate,
        described.outer_length,
        described.smallest_length or described.outer_length / 50.0,
        described.modes,
        drift,
        seed,
        dtype,
    )


def _wrapped(angle: float) -> float:
    """The same angle within ±π, where single precision and the fast sine are at their best."""
    return math.remainder(angle, 2.0 * math.pi)
