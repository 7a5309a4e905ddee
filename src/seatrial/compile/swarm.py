"""Writes swarms out: where each vessel starts, and how it differs from the others."""

import math
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from seatrial.compile.surroundings.world import build_ocean
from seatrial.compile.vehicles.vehicle import compile_vehicle
from seatrial.core.types import Model
from seatrial.seeding import generator
from seatrial.spec import scenario as spec
from seatrial.spec.vehicle import Vehicle
from seatrial.spec.world import World

Array = NDArray[np.float64]
DType = np.dtype[Any]


@dataclass(frozen=True)
class Member:
    """One vehicle of the run."""

    name: str
    participant: spec.Participant
    index: int
    """Of its participant in the scenario."""
    number: int
    """Within the swarm."""
    position: tuple[float, float, float]


def members_of(participant: spec.Participant, index: int, seed: int) -> list[Member]:
    """The vehicles that a participant stands for."""
    if participant.count == 1:
        return [Member(participant.name, participant, index, 0, participant.start.position)]
    x, y, z = participant.start.position
    c, s = math.cos(participant.start.heading), math.sin(participant.start.heading)
    places = formation(participant, seed)
    north = x + c * places[:, 0] - s * places[:, 1]
    east = y + s * places[:, 0] + c * places[:, 1]
    digits = len(str(participant.count - 1))
    return [
        Member(f"{participant.name}_{i:0{digits}d}", participant, index, i, (n, e, z))
        for i, (n, e) in enumerate(zip(north.tolist(), east.tolist(), strict=True))
    ]


def formation(participant: spec.Participant, seed: int) -> Array:
    """Places (N, 2) ahead and to starboard of the swarm's centre, m."""
    count, spacing = participant.count, participant.spacing
    side = math.ceil(math.sqrt(count))
    if participant.formation == "grid":
        rows, columns = np.divmod(np.arange(count), side)
        places: Array = np.stack([-rows, columns], axis=1) * spacing
        centre: Array = 0.5 * (places.min(axis=0) + places.max(axis=0))
        return places - centre
    if participant.formation == "line":
        abreast = (np.arange(count) - 0.5 * (count - 1)) * spacing
        return np.stack([np.zeros(count), abreast], axis=1)
    if participant.formation == "circle":
        # The chord between neighbours is the spacing.
        radius = 0.5 * spacing / math.sin(math.pi / count)
        angle = 2.0 * math.pi * np.arange(count) / count
        return radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    random = generator(seed, f"formation/{participant.name}")
    return (random.random((count, 2)) - 0.5) * side * spacing


def vary_model(
    scenario: spec.Scenario, members: list[Member], model: Model, dtype: DType
) -> tuple[Model, tuple[bool, ...]]:
    """The Model with one column per vessel where they differ, and which arrays those are.

    Every vessel is compiled as its own description says. The wave forces stay those of the
    vehicle as described, because a matrix per vessel would undo what makes swarms fast.
    """
    leaves, tree = jax.tree.flatten(model)
    if not members[0].participant.vary:
        return model, (False,) * len(leaves)
    calm = build_ocean(World(kind="world", name="calm"), 0, dtype)
    still = compile_vehicle(members[0].participant.vehicle, calm, dtype, model.integrator).model
    columns = []
    for member, vehicle in zip(members, _varied(scenario, members), strict=True):
        own = compile_vehicle(vehicle, calm, dtype, model.integrator).model
        if str(jax.tree.structure(own)) != str(jax.tree.structure(still)):
            raise scenario.error(
                ("vehicles", member.index, "vary"),
                "a varied number changes which forces the vehicle has",
                expected="numbers that only change how strong the forces are",
                mend="remove numbers that are zero in the description",
            )
        columns.append(jax.tree.leaves(own))
    # The nominal model has more leaves (waves, wind, bottom); match them by their path.
    paths = [jax.tree_util.keystr(p) for p, _ in jax.tree_util.tree_leaves_with_path(still)]
    index = {path: i for i, path in enumerate(paths)}
    varied, result = [], []
    for path, leaf in jax.tree_util.tree_leaves_with_path(model):
        i = index.get(jax.tree_util.keystr(path))
        stacked = None if i is None else np.stack([np.asarray(c[i]) for c in columns], axis=-1)
        differs = stacked is not None and bool(np.any(stacked != stacked[..., :1]))
        varied.append(differs)
        result.append(stacked if differs else leaf)
    return jax.tree.unflatten(tree, result), tuple(varied)


def _varied(scenario: spec.Scenario, members: list[Member]) -> list[Vehicle]:
    """The description of every vessel."""
    participant = members[0].participant
    base = participant.vehicle.model_dump()
    numbers = {}
    for path in participant.vary:
        numbers[path] = _number_at(scenario, members[0].index, base, path)
    factors = {
        path: _factors(scenario.seed, participant, path, variation)
        for path, variation in participant.vary.items()
    }
    vehicles = []
    for member in members:
        described = base
        for path, (keys, value) in numbers.items():
            described = _with(described, keys, value * float(factors[path][member.number]))
        try:
            vehicles.append(Vehicle.model_validate(described))
        except ValidationError as error:
            raise scenario.error(
                ("vehicles", member.index, "vary"),
                f"vessel {member.number} cannot exist: {error.errors()[0]['msg']}",
                expected="a spread that leaves every vessel possible",
                mend="choose a smaller `relative`",
            ) from None
    return vehicles


def _with(described: dict[str, Any], keys: list[str], value: float) -> dict[str, Any]:
    """A description with another number."""
    key, *inner = keys
    return {**described, key: _with(described[key], inner, value) if inner else value}


def _number_at(
    scenario: spec.Scenario, index: int, described: dict[str, Any], path: str
) -> tuple[list[str], float]:
    """Keys and value of a number in a vehicle's description."""
    keys = path.split(".")
    place: Any = described
    for key in keys:
        place = place.get(key) if isinstance(place, dict) else None
    if isinstance(place, bool) or not isinstance(place, int | float):
        raise scenario.error(
            ("vehicles", index, "vary", path),
            f"the vehicle has no number at `{path}`",
            expected="the path of a number in its description, such as `inertia.mass`",
            mend="`seatrial show NAME` prints the description with its paths",
        )
    return keys, float(place)


def _factors(
    seed: int, participant: spec.Participant, path: str, variation: spec.Variation
) -> Array:
    random = generator(seed, f"vary/{participant.name}/{path}")
    if variation.distribution == "uniform":
        return 1.0 + variation.relative * random.uniform(-1.0, 1.0, participant.count)
    spread = np.clip(random.standard_normal(participant.count), -3.0, 3.0)
    return 1.0 + variation.relative * spread
