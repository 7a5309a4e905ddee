"""A run that goes on in another sea: a plan whose arrays lie between those of two others.

Everything that knows the sea follows: the ocean itself, the wave forces on the hulls, the bodies
afloat on it, and the sensors that meet them. What a vehicle is, where it started, who steers it
and what may break stay those of the run.
"""

import math
from dataclasses import replace
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from seatrial.core.forces.wave_excitation import WaveExcitation
from seatrial.engine.following import seeing
from seatrial.engine.plan import Fleet, Plan
from seatrial.engine.sea_change import Mix, SeaChange, turned
from seatrial.geometry.bodies import Body
from seatrial.geometry.rays import RayScene
from seatrial.geometry.solids import with_rides
from seatrial.hull.heading_table import refined
from seatrial.ocean import Current, Ocean, Turbulence, Waves, Wind
from seatrial.ocean.curves import Curve
from seatrial.pytree import constant

Array = NDArray[np.float64]


class OtherSea:
    """The way of a run from its sea to the one of another plan of the same vehicles."""

    def __init__(self, old: Plan, new: Plan, start: float) -> None:
        if [f.names for f in old.fleets] != [f.names for f in new.fleets]:
            raise ValueError("these are plans of other vehicles")
        self.change = SeaChange(old.scene, new.scene, start)
        self._old, self._new = old, new
        self._tables = [
            _same_rows(a.group.model.excitation, b.group.model.excitation)
            for a, b in zip(old.fleets, new.fleets, strict=True)
        ]

    def plan(self, t: float) -> Plan:
        """What is in force at a time; call it inside `jax.enable_x64(True)`."""
        mix = self.change.mix(t)
        scene = self.change.scene(t)
        fleets = zip(self._old.fleets, self._new.fleets, self._tables, strict=True)
        found = tuple(self._fleet(*one, mix, scene.bodies) for one in fleets)
        return replace(self._old, fleets=found, scene=scene)

    def _fleet(
        self,
        old: Fleet,
        new: Fleet,
        tables: tuple[WaveExcitation, WaveExcitation] | None,
        mix: Mix,
        bodies: tuple[Body, ...],
    ) -> Fleet:
        model = new.group.model
        if tables is not None:
            model = replace(model, excitation=_excitation(mix, *tables))
        group = replace(old.group, model=model, varied=new.group.varied, suite=new.group.suite)
        return replace(
            old,
            group=group,
            ocean=self._ocean(mix, old.ocean, new.ocean, bodies),
            dense={n: _meeting(bodies, old.dense[n], dense) for n, dense in new.dense.items()},
        )

    def _ocean(self, mix: Mix, old: Ocean, new: Ocean, bodies: tuple[Body, ...]) -> Ocean:
        start = self.change.start
        solids = old.solids
        if solids is not None and solids.rides is not None and new.solids is not None:
            others = [body for body in bodies if body.shape != "vehicle"]
            reach = np.maximum(np.asarray(solids.reach), np.asarray(new.solids.reach))
            solids = with_rides(replace(solids, reach=constant(reach)), others)
        return replace(
            old,
            waves=_waves(mix, self.change, old.waves, new.waves),
            current=_current(mix.share, old.current, new.current),
            wind=_wind(mix.share, old.wind, new.wind),
            turbulence=_turbulence(old.turbulence, new.turbulence, start),
            solids=solids,
        )


def _chosen(which: NDArray[np.bool_], new: Any, old: Any) -> jax.Array:
    return constant(np.where(which, np.asarray(new), np.asarray(old)), np.asarray(new).dtype)


def _between(share: float, old: Any, new: Any) -> jax.Array:
    a, b = np.asarray(old, np.float64), np.asarray(new, np.float64)
    return constant(a + share * (b - a), np.asarray(new).dtype)


def _waves(mix: Mix, change: SeaChange, old: Waves | None, new: Waves | None) -> Waves | None:
    """The components of the scene in the precision of an ocean."""
    if new is None:
        return None
    now, dtype = change.scene_waves(mix), np.asarray(new.amplitude).dtype
    omega, by_depth = np.asarray(new.omega), new.by_depth
    if old is not None:
        omega = np.where(mix.fresh, omega, np.asarray(old.omega))
    if by_depth is not None and old is not None and old.by_depth is not None:
        numbers = _chosen(mix.fresh, by_depth.wavenumber, old.by_depth.wavenumber)
        by_depth = replace(by_depth, wavenumber=numbers)
    return replace(
        new,
        amplitude=constant(now.amplitude, dtype),
        omega=constant(omega, np.float64),
        wavenumber=constant(now.wavenumber, dtype),
        direction=constant(now.direction, dtype),
        phase=constant(now.phase, dtype),
        observed=constant(now.omega, np.float64),
        by_depth=by_depth,
    )


def _excitation(mix: Mix, old: WaveExcitation, new: WaveExcitation) -> WaveExcitation:
    """Amplitudes are proportional to those of the waves, component by component."""
    before, after = (np.tile(part, 2).astype(np.float32) for part in (mix.old, mix.new))
    table = np.asarray(old.table) * before + np.asarray(new.table) * after
    return replace(
        new,
        table=constant(table, np.float32),
        north=_chosen(mix.fresh, new.north, old.north),
        east=_chosen(mix.fresh, new.east, old.east),
    )


def _same_rows(
    old: WaveExcitation | None, new: WaveExcitation | None
) -> tuple[WaveExcitation, WaveExcitation] | None:
    """Both with the rows of the finer one; a calm has no forces."""
    if new is None:
        return None
    if old is None:
        old = replace(new, table=constant(np.zeros_like(np.asarray(new.table))))
    rows = max(np.shape(old.table)[0], np.shape(new.table)[0])
    before, after = (
        replace(e, table=constant(refined(np.asarray(e.table), rows), np.float32))
        for e in (old, new)
    )
    return before, after


def _current(share: float, old: Current | None, new: Current | None) -> Current | None:
    if new is None:
        return None
    if isinstance(new.north, Curve) or isinstance(new.east, Curve):  # which nobody changes
        return new
    north, east = (0.0, 0.0) if old is None else (old.north, old.east)
    return replace(
        new, north=_between(share, north, new.north), east=_between(share, east, new.east)
    )


def _wind(share: float, old: Wind | None, new: Wind | None) -> Wind | None:
    if new is None:
        return None
    if old is None:
        return replace(new, speed=_between(share, 0.0, new.speed))
    gusts = new.gusts
    if gusts is not None and old.gusts is not None:
        gusts = replace(gusts, amplitude=_between(share, old.gusts.amplitude, gusts.amplitude))
    towards = turned(share, float(old.towards), float(new.towards))
    return replace(
        new,
        speed=_between(share, old.speed, new.speed),
        towards=constant(math.remainder(towards, math.tau), np.asarray(new.towards).dtype),
        gusts=gusts,
    )


def _turbulence(old: Turbulence | None, new: Turbulence | None, t: float) -> Turbulence | None:
    """The same eddies, carried by another current from where they are."""
    if old is None or new is None:
        return new
    phase, before, after = (np.asarray(a, np.float64) for a in (old.phase, old.omega, new.omega))
    going_on = np.remainder(phase + (after - before) * t, math.tau)
    return replace(new, phase=constant(going_on, np.asarray(new.phase).dtype))


def _meeting(bodies: tuple[Body, ...], old: Any, new: Any) -> Any:
    """A dense sensor of the new sea, in the world of the old one with its bodies where they are."""

    def following(held: str, scene: RayScene) -> RayScene:
        there: RayScene = getattr(old, held)
        return there.following(bodies)

    return seeing(new, following)
