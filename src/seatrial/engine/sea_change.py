"""How one sea becomes another while a run goes on: nothing jumps, and no array changes its shape.

A sum of regular waves cannot turn into one of other lengths or directions by turning their
numbers: far from the origin the phase k x would race. So components are exchanged one after the
other. Each fades out as it is, and fades in as what it will be; in between it is not there, and
may take any wavenumber, direction and phase. At any time most of the energy is that of components
that are whole, old or new. A component that keeps wavenumber and direction (a higher sea of the
same shape, another current) only changes its amplitude; where its frequency changes with the
current, its phase goes on from where it is:

    ε' = ε + (ω − ω') t₀.

Wind and current go over by a smooth step, the wind by the shorter turn. Nothing here needs JAX: a
playback draws the same sea.
"""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.engine.scene import CurrentField, Harmonics, Scene, WaveComponents, WindField
from seatrial.geometry.bodies import Body, Ride

Array = NDArray[np.float64]

SPAN = 20.0
"""How long a change takes, simulated s."""

WINDOW = 0.3
"""Share of it in which one component fades out and in."""

_ALIKE = 1e-6
"""Relative difference of wavenumbers, and difference of directions, of one and the same wave."""


class Mix(NamedTuple):
    """What is there of the old and of the new sea at a time."""

    old: Array
    """(C,) factor of the amplitudes of the old components."""
    new: Array
    """(C,) factor of the new ones; of a component one of both is 0, unless it stays the same."""
    fresh: NDArray[np.bool_]
    """(C,) whether a component has the numbers of the new sea."""
    share: float
    """Of wind and current, from 0 to 1."""


class SeaChange:
    """From one scene to another, from a time on."""

    def __init__(self, old: Scene, new: Scene, start: float) -> None:
        """The seas have the same number of components; one without waves rises from calm."""
        self.start, self.end = start, start + SPAN
        self.old = old if new.waves is None or old.waves is not None else _calm(old, new)
        self.new = replace(new, waves=_continued(self.old.waves, new.waves, start))
        self._same = _same(self.old.waves, self.new.waves)

    def mix(self, t: float) -> Mix:
        """The state of the exchange at a time."""
        along = min(max((t - self.start) / SPAN, 0.0), 1.0)
        share = _smooth(along)
        other = np.flatnonzero(~self._same)
        old, new = np.full((2, len(self._same)), 0.0)
        old[self._same], new[self._same] = 1.0 - share, share
        fresh = self._same.copy()
        # Neighbours in the list have neighbouring frequencies: go through it in large strides.
        turn = np.argsort(np.arange(len(other)) * 0.618033988749895 % 1.0, kind="stable")
        rank = np.empty(len(other))
        rank[turn] = np.arange(len(other)) / max(len(other) - 1, 1)
        within = np.clip((along - (1.0 - WINDOW) * rank) / WINDOW, 0.0, 1.0)
        gone = within >= 0.5
        fade = np.cos(math.pi * within) ** 2
        old[other], new[other] = np.where(gone, 0.0, fade), np.where(gone, fade, 0.0)
        fresh[other] = gone
        return Mix(old, new, fresh, share)

    def scene(self, t: float) -> Scene:
        """Waves, wind, current and floating bodies at a time; the rest is as it was."""
        mix = self.mix(t)
        return replace(
            self.old,
            waves=_waves(mix, self.old.waves, self.new.waves),
            wind=_wind(mix.share, self.old.wind, self.new.wind),
            current=_current(mix.share, self.old.current, self.new.current),
            bodies=self.bodies(mix),
        )

    @property
    def destination(self) -> Scene:
        """Where it leads: all of a scene that a change has to know of."""
        afloat = tuple(body for body in self.new.bodies if body.ride is not None)
        new = self.new
        return Scene(waves=new.waves, current=new.current, wind=new.wind, bodies=afloat)

    def scene_waves(self, mix: Mix) -> WaveComponents:
        """The components of a sea that has waves, or gets some."""
        waves = _waves(mix, self.old.waves, self.new.waves)
        assert waves is not None
        return waves

    def bodies(self, mix: Mix) -> tuple[Body, ...]:
        """All bodies, those afloat on the waves of the mix."""
        others = {body.name: body.ride for body in self.new.bodies}
        return tuple(
            body
            if body.ride is None or (after := others.get(body.name)) is None
            else replace(body, ride=self._ride(mix, body.ride, after))
            for body in self.old.bodies
        )

    def _ride(self, mix: Mix, old: Ride, new: Ride) -> Ride:
        if not len(old.amplitude):
            old = replace(new, amplitude=0.0 * new.amplitude, sway=0.0 * new.sway, lean=old.lean)
        going_on = old.phase + (old.omega - new.omega) * self.start
        return Ride(
            amplitude=mix.old * old.amplitude + mix.new * new.amplitude,
            sway=mix.old * old.sway + mix.new * new.sway,
            omega=np.where(mix.fresh, new.omega, old.omega),
            phase=np.where(mix.fresh, np.where(self._same, going_on, new.phase), old.phase),
            direction=np.where(mix.fresh, new.direction, old.direction),
            lean=old.lean + mix.share * (new.lean - old.lean),
            radius=old.radius,
        )


def turned(share: float, old: float, new: float) -> float:
    """A direction on the shorter way from one to another, rad."""
    return old + share * math.remainder(new - old, math.tau)


def graded(share: float, old: float, new: float) -> float:
    """From one to another by equal ratios: visibilities are felt so."""
    return float(new * (old / new) ** (1.0 - share))


def _smooth(along: float) -> float:
    return along * along * (3.0 - 2.0 * along)


def _calm(old: Scene, new: Scene) -> Scene:
    assert new.waves is not None
    return replace(old, waves=replace(new.waves, amplitude=np.zeros_like(new.waves.amplitude)))


def _same(old: WaveComponents | None, new: WaveComponents | None) -> NDArray[np.bool_]:
    """(C,) which components stay the same but for their amplitude."""
    if old is None or new is None:
        return np.zeros(0, bool)
    away = np.abs(np.remainder(old.direction - new.direction + math.pi, math.tau) - math.pi)
    alike = np.abs(old.wavenumber - new.wavenumber) <= _ALIKE * new.wavenumber
    same: NDArray[np.bool_] = alike & (away <= _ALIKE)
    return same


def _continued(
    old: WaveComponents | None, new: WaveComponents | None, t: float
) -> WaveComponents | None:
    """The new waves with the phases of those that stay the same."""
    if old is None or new is None:
        return new
    going_on = np.remainder(old.phase + (old.omega - new.omega) * t + math.pi, math.tau) - math.pi
    return replace(new, phase=np.where(_same(old, new), going_on, new.phase))


def _waves(
    mix: Mix, old: WaveComponents | None, new: WaveComponents | None
) -> WaveComponents | None:
    if old is None or new is None:
        return new

    def chosen(name: str) -> Array:
        found: Array = np.where(mix.fresh, getattr(new, name), getattr(old, name))
        return found

    return replace(
        new,
        amplitude=mix.old * old.amplitude + mix.new * new.amplitude,
        omega=chosen("omega"),
        wavenumber=chosen("wavenumber"),
        direction=chosen("direction"),
        phase=chosen("phase"),
    )


def _wind(share: float, old: WindField | None, new: WindField | None) -> WindField | None:
    if new is None or old is None:
        return None if new is None else replace(new, speed=share * new.speed)
    gusts = new.gusts
    if gusts is not None and old.gusts is not None:
        before, after = old.gusts.amplitude, gusts.amplitude
        gusts = Harmonics(before + share * (after - before), gusts.omega, gusts.phase)
    return replace(
        new,
        speed=old.speed + share * (new.speed - old.speed),
        towards=turned(share, old.towards, new.towards),
        gusts=gusts,
    )


def _current(
    share: float, old: CurrentField | None, new: CurrentField | None
) -> CurrentField | None:
    if new is None:
        return None
    before = (0.0, 0.0) if old is None else (old.north, old.east)
    steady = [
        b if not isinstance(a, float) or not isinstance(b, float) else a + share * (b - a)
        for a, b in zip(before, (new.north, new.east), strict=True)
    ]
    return replace(new, north=steady[0], east=steady[1])
