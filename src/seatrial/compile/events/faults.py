"""Fault descriptions to faults: names are resolved, random onsets drawn, nonsense refused."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from seatrial.compile.events.triggers import FaultContext, compile_trigger, factor_to_si
from seatrial.compile.vehicles.actuators import expand
from seatrial.core.actuators.ballast import Ballast
from seatrial.core.actuators.drive import Drive
from seatrial.core.actuators.fin import FIXED, Fin
from seatrial.core.actuators.thruster import Thruster
from seatrial.core.types import Model
from seatrial.faults import (
    MOST_FAULTS,
    ORDER,
    Faults,
    SensorFault,
    Trigger,
    VehicleFault,
    drive_of,
)
from seatrial.pytree import constant
from seatrial.sensors.noise import draws
from seatrial.signals import FaultInfo, SensorInfo
from seatrial.spec import faults as spec
from seatrial.spec.wording import did_you_mean

Array = NDArray[np.float64]

LOSES_LOCK = ("gnss", "dvl", "uwb", "lbl")
"""Types of sensor that follow something and can lose it."""


@dataclass(frozen=True)
class CompiledFaults:
    """What the faults of a participant become."""

    faults: Faults | None
    """Triggers and vehicle_faults; None without any fault."""
    sensors: dict[str, tuple[SensorFault, ...]]
    """Faults by the name of the sensor that shows them."""
    infos: tuple[FaultInfo, ...]
    """In the order of rows and of label bits."""


def fault_infos(faults: Sequence[spec.AnyFault]) -> tuple[FaultInfo, ...]:
    """Names of the faults; a second one of the same kind on the same target gets a number."""
    infos: list[FaultInfo] = []
    for fault in faults:
        same = sum((i.target, i.kind) == (fault.target, fault.kind) for i in infos)
        name = f"{fault.target}: {fault.kind}" + (f" {same + 1}" if same else "")
        infos.append(FaultInfo(name, fault.target, fault.kind))
    return tuple(infos)


def compile_faults(faults: Sequence[spec.AnyFault], context: FaultContext) -> CompiledFaults:
    """Build the faults of the vehicles of a group; call inside `jax.enable_x64(True)`."""
    if len(faults) > MOST_FAULTS:
        raise faults[MOST_FAULTS].error(
            (),
            f"a vehicle has {len(faults)} faults",
            expected=f"at most {MOST_FAULTS}, each of which is a bit of a label",
            mend="spread them over several runs",
        )
    infos = fault_infos(faults)
    triggers: list[Trigger] = []
    vehicle_faults: list[VehicleFault] = []
    sensors: dict[str, tuple[SensorFault, ...]] = {}
    for row, (fault, info) in enumerate(zip(faults, infos, strict=True)):
        triggers.append(compile_trigger(fault, info.name, context))
        if isinstance(fault, spec.SensorFault):
            built = _sensor_fault(fault, row, info.name, context)
            some = (*sensors.get(fault.target, ()), built)
            sensors[fault.target] = tuple(sorted(some, key=lambda f: ORDER.index(f.kind)))
        else:
            vehicle_faults.append(_vehicle_fault(fault, row, context))
    if not faults:
        return CompiledFaults(None, {}, ())
    return CompiledFaults(Faults(tuple(triggers), tuple(vehicle_faults)), sensors, infos)


_VALUES = {"stuck": "value", "bias": "value", "drift": "rate", "spikes": "magnitude",
           "noise": "deviation"}  # fmt: skip
"""Which key of a description holds the size of the fault."""


def _sensor_fault(
    fault: spec.SensorFault, row: int, name: str, context: FaultContext
) -> SensorFault:
    sensor = _sensor(fault, context)
    size = len(sensor.components)
    chosen = list(range(size))
    if isinstance(
        fault, spec.Freeze | spec.Stuck | spec.Bias | spec.Drift | spec.Spikes | spec.Noise
    ):
        chosen = _components(fault, sensor)
    mask = np.zeros((size, 1), bool)
    mask[chosen] = True
    sizes = _sizes(fault, sensor, chosen) if fault.kind in _VALUES else np.zeros((size, 1))
    if sensor.payload is not None:
        mask, sizes = _of_tap(fault, mask, sizes, context.views[sensor.name])
    value: jax.Array | None = None
    if fault.kind in _VALUES:
        value = constant(sizes, context.dtype)
    elif isinstance(fault, spec.Delay):
        value = constant(fault.delay)
    chance = getattr(fault, "probability", None)
    keys = [draws.key(context.seed, f"fault/{vehicle}/{name}/draws") for vehicle in context.names]
    return SensorFault(
        keys=constant(np.stack(keys, axis=-1)),
        chosen=constant(mask),
        value=value,
        probability=None if chance is None else constant(chance),
        index=row,
        kind=fault.kind,
    )


def _of_tap(
    fault: spec.SensorFault, mask: NDArray[np.bool_], sizes: Array, rows: int
) -> tuple[NDArray[np.bool_], Array]:
    """What a fault strikes in the tap of a dense sensor, whose view has some `rows`."""
    whole = isinstance(fault, spec.Freeze)
    if whole and not mask.all():
        raise fault.error(
            ("components",),
            "a sensor with an array freezes whole: the same array and the same numbers again",
            expected="`freeze` without `components`",
            mend="leave out `components`, or use `stuck` with a value for one of the numbers",
        )
    view = np.full((rows, 1), whole)
    keep = mask & (whole or isinstance(fault, spec.Stuck))
    nothing = np.zeros((rows + len(mask), 1))
    return np.concatenate([view, keep, mask]), np.concatenate([nothing, sizes])


def _sensor(fault: spec.SensorFault, context: FaultContext) -> SensorInfo:
    names = [s.name for s in context.sensors]
    if fault.target not in names:
        raise fault.error(
            ("target",),
            f"the vehicle has no sensor `{fault.target}` that `{fault.kind}` could strike",
            value=fault.target,
            expected=f"one of {', '.join(names)}" if names else "a vehicle with sensors",
            mend=did_you_mean(fault.target, names) or "name one of the vehicle's sensors",
        )
    sensor = context.sensors[names.index(fault.target)]
    if isinstance(fault, spec.LossOfLock) and sensor.type not in LOSES_LOCK:
        raise fault.error(
            ("kind",),
            f"a sensor of type `{sensor.type}` follows nothing that it could lose",
            value=fault.kind,
            expected=f"a sensor of type {', '.join(LOSES_LOCK)}",
            mend="use `dropout` for missing samples",
        )
    return sensor


def _components(fault: spec._Numbers, sensor: SensorInfo) -> list[int]:
    """Places of the numbers that a fault strikes."""
    known = sensor.components
    if fault.components is None:
        return list(range(len(known)))
    chosen: list[int] = []
    for i, wanted in enumerate(fault.components):
        found = [k for k, c in enumerate(known) if c == wanted or c.startswith(f"{wanted}_")]
        if not found:
            raise fault.error(
                ("components", i),
                f"`{sensor.name}` measures no `{wanted}`",
                value=wanted,
                expected=f"some of {', '.join(known)}",
                mend=did_you_mean(wanted, known) or "name one of these",
            )
        chosen += [k for k in found if k not in chosen]
    return chosen


def _sizes(fault: Any, sensor: SensorInfo, chosen: list[int]) -> Array:
    """Size of the fault for every number of the sensor, (D, 1), SI units."""
    key = _VALUES[fault.kind]
    given = getattr(fault, key)
    units = [sensor.units[k] for k in chosen]
    if not isinstance(given, tuple) and len(set(units)) > 1:
        raise fault.error(
            (key,),
            f"one number cannot be {' and '.join(dict.fromkeys(units))} at once",
            value=given,
            expected="`components` of one unit, or one number for each component",
            mend=f"choose `components` among {', '.join(sensor.components)}",
        )
    each = given if isinstance(given, tuple) else (given,) * len(chosen)
    if len(each) != len(chosen):
        names = ", ".join(sensor.components[k] for k in chosen)
        raise fault.error(
            (key,),
            f"{len(each)} numbers for {len(chosen)} components",
            value=list(each),
            expected=f"one number for each of {names}",
            mend="give one number for all, or choose `components`",
        )
    sizes = np.zeros((len(sensor.components), 1))
    for k, number, unit in zip(chosen, each, units, strict=True):
        sizes[k] = number * factor_to_si(fault, fault.unit, unit)
    return sizes


def _vehicle_fault(
    fault: spec.ActuatorFault | spec.AddedDrag | spec.CommsLoss | spec.LinkLoss | spec.Ingress,
    row: int,
    context: FaultContext,
) -> VehicleFault:
    if isinstance(fault, spec.AddedDrag):
        area = constant(fault.drag_area, context.dtype)
        return VehicleFault(value=area, index=row, kind=fault.kind)
    if isinstance(fault, spec.Ingress):
        water = constant([fault.rate, fault.mass], context.dtype)
        return VehicleFault(value=water, index=row, kind=fault.kind)
    if isinstance(fault, spec.LinkLoss):
        return VehicleFault(value=None, index=row, kind=fault.kind)
    if isinstance(fault, spec.CommsLoss):
        return VehicleFault(value=None, index=row, kind=fault.kind, zero=fault.then == "zero")
    model = context.compiled.model
    actuator, channel = _actuator(fault, context)
    _check_possible(fault, model, actuator, channel)
    value: float | None = None
    if isinstance(fault, spec.Reduced):
        value = fault.effectiveness
    elif isinstance(fault, spec.Jam) and fault.value is not None:
        moved = drive_of(model.actuators[actuator], channel)
        value = _jammed_at(fault, fault.value, moved, context.compiled.channels[channel].unit)
    return VehicleFault(
        value=None if value is None else constant(value, context.dtype),
        index=row,
        kind=fault.kind,
        actuator=actuator,
        channel=channel,
        upper=not isinstance(fault, spec.Runaway) or fault.towards == "upper",
    )


def _actuator(fault: spec.FaultSpec, context: FaultContext) -> tuple[int, int]:
    """Index among the actuators, and command channel, of what a fault strikes."""
    channels = [c.name for c in context.compiled.channels]
    owners = {a.name: i for i, a in enumerate(expand(context.vehicle.actuators))}
    name = fault.target
    if name in owners:
        return owners[name], channels.index(name) if name in channels else FIXED
    if name in channels:  # the angle of an azimuth thruster
        return owners[name.removesuffix("_angle")], channels.index(name)
    known = list(dict.fromkeys([*owners, *channels]))
    raise fault.error(
        ("target",),
        f"the vehicle has no actuator `{name}`",
        value=name,
        expected=f"one of {', '.join(known)}" if known else "a vehicle with actuators",
        mend=did_you_mean(name, known) or "name one of the vehicle's actuators",
    )


def _check_possible(fault: spec.ActuatorFault, model: Model, index: int, channel: int) -> None:
    actuator = model.actuators[index]
    named = {
        a for t in (model.coefficients.terms if model.coefficients else ()) for a in t.actuators
    }
    is_angle = isinstance(actuator, Thruster) and channel == actuator.azimuth_channel
    reason = expected = ""
    if isinstance(fault, spec.FreeFloat):
        expected = "a movable fin with `lift` or `table`"
        if not isinstance(actuator, Fin) or channel == FIXED:
            reason = "only a movable fin can come loose from its servo"
        elif actuator.surface is None or channel in named:
            reason = "this fin acts through the hull's coefficients, which do not know its flow"
    elif isinstance(fault, spec.Reduced):
        expected = "a thruster or a fin"
        if isinstance(actuator, Ballast):
            reason = "water in a tank cannot lose a part of its weight"
        elif is_angle:
            reason = "an angle has no force of its own"
    elif channel == FIXED:
        reason, expected = "a fixed fin does not move", "an actuator with a command channel"
    if reason:
        raise fault.error(
            ("target",),
            f"`{fault.kind}` cannot strike `{fault.target}`: {reason}",
            value=fault.target,
            expected=expected,
            mend="choose another target or another kind of fault",
        )


def _jammed_at(fault: spec.Jam, given: float, drive: Drive, unit: str) -> float:
    value = given * factor_to_si(fault, fault.unit, unit)
    low, high = float(drive.low), float(drive.high)
    tolerance = 1e-6 * (high - low)
    if not low - tolerance <= value <= high + tolerance:
        raise fault.error(
            ("value",),
            f"`{fault.target}` cannot stand there",
            value=given,
            expected=f"between {low:g} and {high:g} {unit}",
            mend="stay within the actuator's limits",
        )
    return value
