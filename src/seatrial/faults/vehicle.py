"""What faults do to actuators, to the hull and to the link that orders come by."""

import dataclasses

import jax
import jax.numpy as jnp

from seatrial.core.actuators import Actuator
from seatrial.core.actuators.drive import Drive
from seatrial.core.actuators.fin import Fin
from seatrial.core.actuators.thruster import Thruster
from seatrial.core.forces.coefficients import Coefficients
from seatrial.core.impairment import Harm, Impairment, Seizure
from seatrial.core.types import Model
from seatrial.faults.types import Faults, FaultState, VehicleFault
from seatrial.spatial.vectors import Scalar


def impair(faults: Faults, fault_state: FaultState, model: Model, t: jax.Array) -> Model:
    """The Model with what is broken in it; the same Model where no fault touches the vehicle.

    Where an actuator acts through the hull's coefficients, every coefficient that names it is
    multiplied by its effectiveness, so that its whole wrench is, as for one with a wrench of its
    own: drag that goes with δ² loses the same share as lift that goes with δ.
    """
    harms: dict[int, Harm] = {}
    seizures: list[Seizure] = []
    drag_area: jax.Array | None = None
    water: jax.Array | None = None
    dtype = model.reference_density.dtype
    for fault in faults.vehicle_faults:
        active = jnp.isfinite(fault_state.since[fault.index])
        k = fault.actuator
        if fault.kind == "reduced":
            left = jnp.where(active, _given(fault.value), 1.0).astype(dtype)
            harm = harms.get(k, Harm())
            so_far = harm.effectiveness
            left = left if so_far is None else so_far * left
            harms[k] = dataclasses.replace(harm, effectiveness=left)
        elif fault.kind == "free_float":
            harms[k] = dataclasses.replace(harms.get(k, Harm()), floating=active)
        elif fault.kind == "added_drag":
            area = jnp.where(active, _given(fault.value), 0.0).astype(dtype)
            drag_area = area if drag_area is None else drag_area + area
        elif fault.kind == "ingress":
            rate, most = _given(fault.value)
            mass = jnp.clip(rate * (t - fault_state.since[fault.index]), 0.0, most).astype(dtype)
            water = mass if water is None else water + mass
        elif fault.kind == "jam" or (fault.kind == "power_loss" and not _is_shaft(model, fault)):
            seizures += [Seizure(active, fault.value, s) for s in _states(model, fault)]
    if not harms and not seizures and drag_area is None and water is None:
        return model
    return dataclasses.replace(
        model,
        coefficients=_weakened(model, harms),
        impairment=Impairment(
            actuators=tuple(harms.get(k) for k in range(len(model.actuators))),
            seizures=tuple(seizures),
            drag_area=drag_area,
            water=water,
        ),
    )


def _given(value: jax.Array | None) -> jax.Array:
    """A number that this kind of fault always has."""
    assert value is not None
    return value


def _is_shaft(model: Model, fault: VehicleFault) -> bool:
    """Whether what stops turning without power goes to zero by itself, as a propeller does."""
    actuator = model.actuators[fault.actuator]
    return isinstance(actuator, Thruster) and fault.channel == actuator.channel


def _states(model: Model, fault: VehicleFault) -> list[int]:
    """States of what stands still: a fin takes its servo with it."""
    actuator = model.actuators[fault.actuator]
    if isinstance(actuator, Fin) and actuator.servo != fault.channel:
        return [fault.channel, actuator.servo]
    return [fault.channel]


def _weakened(model: Model, harms: dict[int, Harm]) -> Coefficients | None:
    """Coefficients times the effectiveness of the actuators that they name."""
    if model.coefficients is None:
        return None
    left: dict[int, jax.Array] = {}
    for k, harm in harms.items():
        if harm.effectiveness is not None:
            actuator = model.actuators[k]
            left[actuator.channel] = harm.effectiveness
            if isinstance(actuator, Thruster) and actuator.azimuth is not None:
                left[actuator.azimuth_channel] = harm.effectiveness
    terms = model.coefficients.terms
    if not any(a in left for term in terms for a in term.actuators):
        return model.coefficients
    shape = next(iter(left.values())).shape
    values: list[Scalar] = []
    for k, term in enumerate(terms):
        value: Scalar = model.coefficients.values[k]
        for a in sorted(left.keys() & set(term.actuators)):
            value = value * left[a]
        values.append(jnp.broadcast_to(value, shape))
    return dataclasses.replace(model.coefficients, values=jnp.stack(values))


def obey(
    faults: Faults, fault_state: FaultState, model: Model, orders: jax.Array
) -> tuple[FaultState, jax.Array]:
    """What the actuators are told: the orders, as far as they are heard and can be followed."""
    for fault in faults.vehicle_faults:
        if fault.kind == "loss":
            lost = jnp.isfinite(fault_state.since[fault.index])
            kept = jnp.where(jnp.isnan(fault_state.orders) | fault.zero, 0.0, fault_state.orders)
            orders = jnp.where(lost, kept, orders)
    fault_state = fault_state._replace(orders=orders)
    for fault in faults.vehicle_faults:
        if fault.kind == "runaway":
            drive = drive_of(model.actuators[fault.actuator], fault.channel)
            told: Scalar = drive.high if fault.upper else drive.low
        elif fault.kind == "power_loss":  # what has no shaft stands still: see `impair`
            told = 0.0
        else:
            continue
        active = jnp.isfinite(fault_state.since[fault.index])
        row = jnp.where(active, told, orders[fault.channel])
        orders = orders.at[fault.channel].set(row.astype(orders.dtype))
    return fault_state, orders


def drive_of(actuator: Actuator, channel: int) -> Drive:
    """What moves the state of a command channel."""
    if isinstance(actuator, Thruster) and actuator.azimuth is not None:
        return actuator.drive if channel == actuator.channel else actuator.azimuth
    return actuator.drive
