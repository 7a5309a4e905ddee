"""A vehicle's description to what its autopilot is designed from, and the finished design.

Designing takes seconds and depends on the description, the options and the code alone, so that
designs are kept on disk (`seatrial.cache`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import jax
import numpy as np

from seatrial import cache, fingerprint
from seatrial.channels import resolve_channels
from seatrial.compile.autonomy.allocation import build_effectors
from seatrial.compile.vehicles.vehicle import compile_vehicle
from seatrial.gnc.allocation.effectors import Effectors
from seatrial.ocean import Ocean, Water
from seatrial.pytree import constant
from seatrial.spec.mission import Control, Loop, LoopGains
from seatrial.spec.vehicle import Vehicle
from seatrial.spec.wording import did_you_mean

if TYPE_CHECKING:
    from seatrial.design.authority import Craft
    from seatrial.design.loop_bench import OwnGains
    from seatrial.design.loop_design import Law
    from seatrial.design.tuning import Tuning
    from seatrial.gnc.control.regulator import Regulator

DType = np.dtype[Any]
Designed = TypeVar("Designed")

LEAST_FLOW = 0.01
"""Speed ahead below which rudders and fins do nothing, m/s."""

KIND = "autopilot"


@dataclass(frozen=True)
class Design:
    """An autopilot, and the effectors for which it was designed; NumPy's arrays, double."""

    tuning: "Tuning"
    effectors: Effectors

    def effectors_in(self, dtype: DType) -> Effectors:
        """The effectors with arrays of a precision."""

        def cast(a: Any) -> Any:
            return constant(a, dtype) if np.issubdtype(a.dtype, np.floating) else a

        result: Effectors = jax.tree.map(cast, self.effectors)
        return result


def craft_of(vehicle: Vehicle) -> "Craft":
    """A vehicle for calm water; call inside `jax.enable_x64(True)`."""
    from seatrial.design.authority import Craft

    density = constant(vehicle.hydrodynamics.reference_density)
    ocean = Ocean(water=Water(density, density, density, density))
    dtype = np.dtype(np.float64)
    compiled = compile_vehicle(vehicle, ocean, dtype)
    ahead = None
    if (orders := vehicle.manoeuvring) is not None:
        ahead = tuple(resolve_channels(orders, ("ahead",), orders.ahead, list(compiled.channels)))
    return Craft(
        name=vehicle.name,
        length=vehicle.length,
        model=compiled.model,
        actuator_states=compiled.actuator_states,
        effectors=build_effectors(compiled, vehicle, dtype),
        ocean=ocean,
        ahead=ahead,
    )


def design(
    vehicle: Vehicle,
    speed: float | None = None,
    *,
    period: float = 0.1,
    wave_frequency: float | None = None,
    heading: "Law" = "pid",
    gains: Mapping[Loop, LoopGains] | None = None,
    control: Control | None = None,
) -> Design:
    """The autopilot of a vehicle, from disk where it was designed before; see `tune`.

    `control` is where the gains were given, and what is wrong with them is told of.
    """
    own = {
        loop.replace("_", " "): one.model_dump(exclude_none=True)
        for loop, one in (gains or {}).items()
    }
    options = (speed, period, wave_frequency, heading, own)

    found = _kept(vehicle, options, lambda: _design(vehicle, *options))
    _check_gains(vehicle, found.tuning, own, control or Control())
    return found


def _design(
    vehicle: Vehicle,
    speed: float | None,
    period: float,
    wave_frequency: float | None,
    heading: "Law",
    own: "OwnGains",
) -> Design:
    from seatrial.design.tuning import tune

    with jax.enable_x64(True):
        craft = craft_of(vehicle)
        _check_driven(vehicle, craft)
        if speed is not None:
            _check_speed(vehicle, craft, speed)
        tuning = tune(
            craft, speed, period=period, wave_frequency=wave_frequency, heading=heading, own=own
        )
        return Design(tuning, jax.tree.map(np.asarray, craft.effectors))


def design_regulator(vehicle: Vehicle, speed: float) -> "Regulator":
    """The regulator of a vehicle that hovers, from disk where it was designed before."""

    def make() -> "Regulator":
        from seatrial.design.regulator import regulator

        with jax.enable_x64(True):
            return regulator(craft_of(vehicle), speed)

    return _kept(vehicle, ("regulator", speed), make)


def _kept(vehicle: Vehicle, options: Any, make: Callable[[], Designed]) -> Designed:
    """What was designed for a vehicle, from disk where it was made before."""
    try:
        # The text of a description names every class and number that it is made of.
        key = fingerprint.digest(repr(vehicle), options, fingerprint.origin())
    except fingerprint.FingerprintError:
        return make()
    return cache.recall(KIND, key, vehicle.name, make) if fingerprint.is_current() else make()


def filters_waves(vehicle: Vehicle, frequency: float) -> bool:
    """Whether a surface craft keeps station, or steers too slowly to answer these waves."""
    from seatrial.design.loop_bench import FROUDE_LIMIT
    from seatrial.design.loop_design import WAVE_SHARE

    quickest = FROUDE_LIMIT / vehicle.length**0.5
    with jax.enable_x64(True):
        dofs = set(craft_of(vehicle).dofs)
    return {0, 1, 5} <= dofs or quickest < WAVE_SHARE * frequency


def _check_gains(vehicle: Vehicle, tuning: "Tuning", own: "OwnGains", control: Control) -> None:
    """Refuse gains of a loop that the vehicle does not have, or that the loop does not have."""
    loops = {report.name: report for report in tuning.loops}
    for name, gains in own.items():
        key = name.replace(" ", "_")
        known = [loop.replace(" ", "_") for loop in loops if loop != "depth by pitch"]
        if name not in loops:
            raise control.error(
                ("gains", key),
                f"`{vehicle.name}` has no loop `{key}` that gains could be given for",
                expected=f"one of {', '.join(known)}",
                mend=did_you_mean(key, known) or f"leave `{key}` out",
            )
        if "derivative" in gains and name in ("surge", "sway", "heave", "yaw rate"):
            raise control.error(
                ("gains", key, "derivative"),
                f"the loop `{key}` is of a velocity and has no derivative gain",
                expected="`proportional` and `integral`",
                mend="leave out `derivative`",
            )


def _check_driven(vehicle: Vehicle, craft: "Craft") -> None:
    """Refuse a craft that steers by fins or rudders alone and has nothing that gives them flow."""
    from seatrial.design.linearisation import linearise

    if 0 not in craft.dofs and linearise(craft, 1.0).speed < LEAST_FLOW:
        raise vehicle.error(
            ("actuators",),
            f"no autopilot can be designed for `{vehicle.name}`: nothing drives it ahead",
            expected="a thruster that pushes ahead, or a hull with a service speed of its own",
            mend="give it `commands`, or a controller of your own, in place of a mission",
        )


def _check_speed(vehicle: Vehicle, craft: "Craft", speed: float) -> None:
    from seatrial.design.linearisation import FASTEST

    if 0 not in craft.dofs:
        raise vehicle.error(
            ("actuators",),
            f"`{vehicle.name}` cannot choose its speed",
            value=speed,
            expected="no speed for a vehicle without a thruster that pushes ahead",
            mend="leave the speed out",
        )
    if not 0.0 < speed <= FASTEST:
        raise vehicle.error(
            ("manoeuvring",),
            "a vehicle cannot be tuned for this speed",
            value=speed,
            expected=f"a speed above 0 and up to {FASTEST:g} m/s",
            mend="give the speed at which it is to be used, m/s",
        )
