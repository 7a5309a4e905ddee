"""Where an agent learns: a vehicle, a sea, and how the agent's numbers become orders."""

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from seatrial.compile.autonomy.tuning import craft_of
from seatrial.compile.scenario import compile_scenario
from seatrial.core.actuators.thruster import Thruster
from seatrial.core.step import step
from seatrial.core.types import Model, State
from seatrial.engine.compiled.launch import Start, launch
from seatrial.geometry.grid import HeightGrid
from seatrial.geometry.terrain import terrain_of
from seatrial.ocean import Ocean
from seatrial.pytree import batched, constant, pytree, static
from seatrial.spatial.rotations import rotation, to_euler
from seatrial.spatial.vectors import Vec3, vec3
from seatrial.spec import scenario as spec
from seatrial.spec.vehicle import Vehicle
from seatrial.spec.world import World

if TYPE_CHECKING:
    from seatrial.design.authority import Craft

AREA = 200.0
"""Vehicles start within so many metres of the datum, north and east, where no map is smaller: in
a sea that is alike everywhere another place is another set of phases."""
EDGE = 0.2
"""Share of a map along its edges in which nobody starts."""
TIME_STEP = 0.04
"""Of the integration, s; actions come at whole multiples of it."""
EPISODES = 600.0
"""For which a map of the bottom is laid out, s."""


class Motion(NamedTuple):
    """How vehicles lie and move; every part (N,)."""

    position: Vec3
    """NED, m."""
    euler: Vec3
    """Roll, pitch, heading, rad."""
    velocity: tuple[jax.Array, ...]
    """u v w p q r in body axes, m/s and rad/s."""
    over_ground: Vec3
    """North, east, down, m/s."""
    actuators: jax.Array
    """(C, N) −1 to 1 of their limits."""

    @property
    def heading(self) -> jax.Array:
        """Clockwise from north, rad."""
        return jnp.asarray(self.euler[2])


@pytree
class Arena:
    """A vehicle in a sea, in single precision, and what scales its numbers."""

    model: Model = batched(where="varied")
    ocean: Ocean
    low: jax.Array
    """(C, 1) lowest orders of the channels."""
    neutral: jax.Array
    """(C, 1) orders that mean nothing, or the middle where all of them mean something."""
    high: jax.Array
    """(C, 1) highest orders."""
    mixing: jax.Array | None
    """(C, A) share of its limit that each channel gives to each force; None where an action is
    an order to every channel."""
    squared: jax.Array
    """(C, 1) whether a channel's thrust grows with the square of its order."""
    cruise: jax.Array
    """Speed at which it works, m/s."""
    length: jax.Array
    """m."""
    depth: jax.Array
    """At which it works, m; 0 for craft afloat."""
    area: jax.Array
    """(2, 2) lowest and highest north and east of the places where vehicles start, m."""
    fastest: jax.Array
    """No vehicle of this kind goes faster in this sea, m/s."""
    spin: jax.Array
    """Nor turns faster, rad/s."""
    varied: tuple[bool, ...] = static()
    actions: tuple[str, ...] = static()
    """What the A numbers of an action are: channels, or surge, sway, heave, yaw."""
    channels: tuple[str, ...] = static()
    actuator_states: int = static()
    dives: bool = static()
    time_step: float = static()
    substeps: int = static()

    @property
    def period(self) -> float:
        """Between two actions, s."""
        return self.time_step * self.substeps

    def orders(self, action: jax.Array) -> jax.Array:
        """Orders by channel (C, N) for actions (A, N) from −1 to 1."""
        share = jnp.clip(jnp.nan_to_num(action), -1.0, 1.0)
        if self.mixing is not None:
            thrust = jnp.clip(self.mixing @ share, -1.0, 1.0)
            root = jnp.sign(thrust) * jnp.sqrt(jnp.abs(thrust))
            share = jnp.where(self.squared, root, thrust)
        reach = jnp.where(share > 0.0, self.high - self.neutral, self.neutral - self.low)
        return self.neutral + share * reach

    def advance(self, vessel: State, action: jax.Array, clock: jax.Array) -> State:
        """The vehicles after one period; `clock` counts periods."""
        orders = self.orders(action)
        first = clock * self.substeps

        def one(i: jax.Array, at: State) -> State:
            t = (first + i) * self.time_step
            return step(self.model, self.ocean, at, orders, t, self.time_step)

        moved: State = jax.lax.fori_loop(0, self.substeps, one, vessel)
        return moved

    def launch(
        self, position: jax.Array, heading: jax.Array, speed: jax.Array, clock: jax.Array
    ) -> State:
        """Vehicles on the water, or at their depth in it, level."""
        level = jnp.zeros_like(heading)
        start = Start(
            position=position,
            euler=jnp.stack([level, level, heading]),
            speed=speed,
            actuators=jnp.zeros((self.actuator_states, *heading.shape), heading.dtype),
        )
        afloat: State = launch(self.model, self.ocean, start, clock * self.period)
        return afloat

    def motion(self, vessel: State) -> Motion:
        """How the vehicles lie and move."""
        euler = to_euler(vessel.attitude)
        turned = rotation(vessel.attitude)
        orders = vessel.actuators[: len(self.channels)]
        reach = jnp.where(orders > self.neutral, self.high - self.neutral, self.neutral - self.low)
        return Motion(
            position=vec3(vessel.position),
            euler=vec3(euler),
            velocity=tuple(vessel.velocity),
            over_ground=turned.to_world(vec3(vessel.velocity[:3])),
            actuators=(orders - self.neutral) / jnp.where(reach == 0.0, 1.0, reach),
        )

    def sound(self, vessel: State) -> jax.Array:
        """(N,) which vehicles can exist: finite, slower than any of their kind, not upside down."""
        fine = jnp.all(jnp.abs(vessel.velocity[:3]) < self.fastest, axis=0)
        fine &= jnp.all(jnp.abs(vessel.velocity[3:]) < self.spin, axis=0)
        for part in (vessel.position, vessel.attitude, vessel.actuators):
            fine &= jnp.all(jnp.isfinite(part), axis=0)
        return fine & (rotation(vessel.attitude).r22 > 0.0)


def build_arena(
    vehicle: Vehicle,
    world: World,
    *,
    count: int = 1,
    forces: bool = False,
    vary: dict[str, spec.Variation] | None = None,
    period: float = 0.2,
    time_step: float = TIME_STEP,
    seed: int = 0,
) -> Arena:
    """Compile a vehicle for a sea; with `vary`, `count` of them that differ.

    Actions are orders to the channels, or with `forces` surge, sway, heave and yaw, as far as the
    vehicle has them, which its thrusters share out.
    """
    start = spec.usual_start(vehicle)
    described = spec.Scenario(
        kind="scenario",
        name="learning",
        seed=seed,
        duration=EPISODES,
        time_step=time_step,
        control_period=period,
        frame_period=period,
        integrator="semi_implicit",
        precision="single",
        vehicles_touch=False,
        world=world,
        vehicles=(
            spec.Participant(
                name="agent",
                vehicle=vehicle,
                start=start,
                sensors=(),
                count=count if vary else 1,
                spacing=0.01,
                vary=vary or {},
            ),
        ),
    )
    plan = compile_scenario(described)
    group, ocean = plan.fleets[0].group, plan.fleets[0].ocean
    low, high = _limits(group.model, vehicle)
    channels = tuple(a.name for a in plan.header.vehicles[0].actuators)
    with jax.enable_x64(True):
        craft = craft_of(vehicle)
    actions, mixing = _mixing(vehicle, craft) if forces else (channels, None)
    single = np.dtype(np.float32)
    # Everything in single precision, so that it is the same whatever JAX is set to.
    model, ocean = jax.tree.map(
        lambda a: constant(a, single) if np.asarray(a).dtype == np.float64 else a,
        (group.model, ocean),
    )

    def number(value: Any) -> jax.Array:
        return constant(value, single)

    return Arena(
        model=model,
        ocean=ocean,
        low=number(low[:, None]),
        neutral=number(np.where((low < 0) & (high > 0), 0.0, 0.5 * (low + high))[:, None]),
        high=number(high[:, None]),
        mixing=None if mixing is None else number(mixing),
        squared=constant([[a.unit != "N"] for a in plan.header.vehicles[0].actuators]),
        cruise=number(_cruise(craft)),
        length=number(vehicle.length),
        depth=number(start.position[2]),
        area=number(_area(ocean)),
        fastest=number(group.limits.speed),
        spin=number(group.limits.spin),
        varied=group.varied,
        actions=actions,
        channels=channels,
        actuator_states=int(group.initial.actuators.shape[0]),
        dives=vehicle.buoyancy.craft == "submerged",
        time_step=plan.schedule.time_step,
        substeps=plan.schedule.substeps,
    )


def _limits(model: Model, vehicle: Vehicle) -> tuple[np.ndarray, np.ndarray]:
    """Of every channel; an azimuth without limits goes once round."""
    if model.channels == 0:
        raise vehicle.error(
            ("actuators",),
            "a vehicle without actuators has nothing to learn",
            expected="a thruster, a fin or a tank",
            mend="add one",
        )
    low, high = np.zeros(model.channels), np.zeros(model.channels)
    for actuator in model.actuators:
        drives = {actuator.channel: actuator.drive}
        if isinstance(actuator, Thruster) and actuator.azimuth is not None:
            drives[actuator.azimuth_channel] = actuator.azimuth
        for channel, drive in drives.items():
            if 0 <= channel < model.channels:
                low[channel], high[channel] = np.min(drive.low), np.max(drive.high)
    low, high = (
        np.where(np.isfinite(low), low, -math.pi),
        np.where(np.isfinite(high), high, math.pi),
    )
    return low, high


def _mixing(vehicle: Vehicle, craft: "Craft") -> tuple[tuple[str, ...], np.ndarray]:
    """The forces that a vehicle has, and the shares of its thrusters in the largest of each.

    The pseudo-inverse of what a unit of thrust does, without roll and pitch.
    """
    found = craft.effectors
    if found.azimuths is not None or np.any(found.fin) or len(found.names) != craft.model.channels:
        raise vehicle.error(
            ("actuators",),
            "actions as forces are for vehicles that fixed thrusters alone drive",
            expected="thrusters without azimuth, no fins and no tanks",
            mend='leave it at actions="actuators"',
        )
    columns = np.asarray(found.columns)
    names = {0: "surge", 1: "sway", 2: "heave", 5: "yaw"}
    dofs = [dof for dof in names if dof in craft.dofs]
    shares = np.linalg.pinv(columns, rcond=1e-6)[:, dofs]
    placed = np.zeros((craft.model.channels, len(dofs)))
    placed[list(found.channels)] = shares / np.abs(shares).max(axis=0)
    return tuple(names[dof] for dof in dofs), placed


def _cruise(craft: "Craft") -> float:
    from seatrial.design.tuning import cruise_speed

    with jax.enable_x64(True):
        return cruise_speed(craft)


def _area(ocean: Ocean) -> np.ndarray:
    """Where vehicles may start: inside the map of the bottom, away from its edges."""
    corners = np.array([[-AREA, -AREA], [AREA, AREA]])
    if ocean.seabed is None or not isinstance(ocean.seabed.depth, HeightGrid):
        return corners
    known = terrain_of(ocean.seabed.depth)
    first, last = known.origin, known.corner
    margin = EDGE * (last - first)
    return np.array([first + margin, last - margin])
