"""The vehicle axis, declared once: `take` picks vehicles out of anything that says where they are.

Trees of every nesting are made twice: with JAX's arrays, to be picked from, and as plain lists of
vehicles, from which picking is obvious.
"""

from typing import Any, NamedTuple

import hypothesis.strategies as some
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given

from seatrial.compile.scenario import compile_scenario
from seatrial.pytree import batched, pytree, static, take
from seatrial.spec.loading import load_text
from seatrial.spec.scenario import Scenario


class Pair(NamedTuple):
    first: Any
    second: Any


@pytree
class Box:
    """A node with a field of every sort."""

    own: Any = batched()
    shared: Any
    nested: Any
    mixed: Any = batched(where="counts")
    counts: tuple[bool, ...] = static(default=())
    label: str = static(default="")


VEHICLES = 5
DTYPES = [np.float32, np.float64, np.int32, np.uint32, bool]


@some.composite
def arrays(draw: Any, vehicles: bool) -> jax.Array:
    """An array of any precision whose last axis counts vehicles, or has their number by chance."""
    before = draw(some.lists(some.integers(1, 3), max_size=2))
    last = [VEHICLES] if vehicles else draw(some.sampled_from([[], [1], [VEHICLES]]))
    shape = (*before, *last)
    values = np.arange(np.prod(shape, dtype=int)).reshape(shape) % 7
    return jnp.asarray(values.astype(draw(some.sampled_from(DTYPES))))


def trees(leaves: Any) -> Any:
    """Tuples, named tuples, lists, dictionaries and None around `leaves`."""
    return some.recursive(
        some.none() | leaves,
        lambda part: (
            some.tuples(part, part)
            | some.builds(Pair, part, part)
            | some.lists(part, max_size=2)
            | some.dictionaries(some.sampled_from("ab"), part, max_size=2)
        ),
        max_leaves=3,
    )


@some.composite
def boxes(draw: Any, depth: int = 2) -> Box:
    """A node whose parts may hold nodes again."""
    mixed = draw(trees(arrays(True) | arrays(False)))
    leaves = jax.tree.leaves(mixed)
    counts = [draw(some.booleans()) and bool(np.shape(a)[-1:] == (VEHICLES,)) for a in leaves]
    inside = arrays(False) | boxes(depth - 1) if depth else arrays(False)
    return Box(
        own=draw(trees(arrays(True))),
        shared=draw(arrays(False)),
        nested=draw(trees(inside)),
        mixed=mixed,
        counts=tuple(counts),
        label=draw(some.sampled_from(["", "name"])),
    )


def leaves_of(tree: Any) -> list[tuple[bool, Any]]:
    """Every array in order, with whether it counts vehicles: written without looking at fields."""
    if isinstance(tree, Box):
        counting = [(True, a) for a in jax.tree.leaves(tree.own)]
        mixed = list(zip(tree.counts, jax.tree.leaves(tree.mixed), strict=True))
        return [*counting, (False, tree.shared), *leaves_of(tree.nested), *mixed]
    if isinstance(tree, dict):
        return [leaf for key in sorted(tree) for leaf in leaves_of(tree[key])]
    if isinstance(tree, tuple | list):
        return [leaf for part in tree for leaf in leaves_of(part)]
    return [] if tree is None else [(False, tree)]


PLACES = some.lists(some.integers(0, VEHICLES - 1), min_size=1, max_size=2 * VEHICLES)


@pytest.fixture(scope="module", autouse=True)
def double() -> Any:
    with jax.enable_x64(True):
        yield


@given(boxes(), PLACES)
def test_batched_arrays_are_picked_and_all_others_are_the_same_objects(tree: Box, places: Any):
    picked = take(tree, np.array(places))
    before, after = leaves_of(tree), leaves_of(picked)
    assert len(before) == len(after)
    for (counts, old), (_, new) in zip(before, after, strict=True):
        if not counts:
            assert new is old
            continue
        assert new.dtype == old.dtype
        columns = [np.asarray(old)[..., i] for i in places]
        np.testing.assert_array_equal(np.asarray(new), np.stack(columns, axis=-1))


@given(boxes(), PLACES)
def test_static_fields_and_the_shape_of_a_tree_stay(tree: Box, places: Any):
    assert jax.tree.structure(take(tree, np.array(places))) == jax.tree.structure(tree)


@given(boxes(), PLACES, some.data())
def test_to_pick_twice_is_to_pick_once(tree: Box, first: Any, data: Any):
    second = data.draw(some.lists(some.integers(0, len(first) - 1), min_size=1, max_size=6))
    twice = take(take(tree, np.array(first)), np.array(second))
    once = take(tree, np.array(first)[second])
    jax.tree.map(np.testing.assert_array_equal, twice, once)


def test_precision_stays_when_jax_is_set_to_single():
    tree = Box(jnp.array([0.1, 0.2], jnp.float64), None, None, None)
    with jax.enable_x64(False):
        assert take(tree, np.array([1])).own.dtype == jnp.float64


def test_a_mask_of_another_length_than_the_tree_is_an_error():
    with pytest.raises(ValueError, match="shorter"):
        take(Box(None, None, None, (jnp.zeros(2), jnp.zeros(2)), (True,)), np.array([0]))


COUNT = 29
"""Vehicles of the fleets below: no other axis of theirs has this length."""

FLEETS = {
    "sensors, faults and a timetable": """
    commands: {left_rpm: 500, right_rpm: [[0, 500], [2, 300]]}
    sensors:
      - {type: imu, name: imu, rate: 50, latency: 0.01, jitter: 0.002, errors: adis16448}
      - {type: compass, name: compass, rate: 10}
    faults:
      - {target: compass, kind: noise, deviation: 0.1, random: {per_hour: 900, duration: 1}}
      - {target: left, kind: reduced, effectiveness: 0.5, when: {quantity: speed, above: 1}}
      - {target: compass, kind: dropout, probability: 0.3, start: 1, duration: 1}
""",
    "vessels that differ, in a manoeuvre": """
    vary: {inertia.mass: {relative: 0.1}}
    manoeuvre: {type: zigzag, helm_deg: 10, heading_change_deg: 10, approach: 1}
    sensors: []
""",
    "a mission among obstacles": """
    avoidance: {}
    mission: [{do: goto, waypoints: [[80, 0], [80, 40]]}]
""",
}


def fleet(kind: str, count: int) -> Scenario:
    text = f"""
kind: scenario
name: fleet
duration: 4
precision: double
obstacles:
  - vessel: {{position: [75, 75], course_deg: -90, speed: 1.2, length: 8, beam: 2.5}}
  - circle: {{centre: [40, 0], radius: 5}}
  - polygon: {{corners: [[130, -6], [150, -6], [150, 6], [130, 6]], margin: 3}}
vehicles:
  - name: otter
    vehicle: otter
    count: {count}
    spacing: 20
    start: {{speed: 1.5}}{FLEETS[kind]}
"""
    return load_text(text, Scenario)


@pytest.mark.parametrize("kind", FLEETS)
def test_nothing_in_a_compiled_fleet_still_counts_the_vehicles_that_were_left_behind(kind: str):
    """A field that somebody forgets to declare `batched()` keeps the old length and is found."""
    group = compile_scenario(fleet(kind, COUNT)).fleets[0].group
    picked = take(group, np.array([3, 1, 4]))
    paths = jax.tree_util.tree_leaves_with_path(picked)
    counting = jax.tree.leaves(group)
    assert sum(np.shape(a)[-1:] == (COUNT,) for a in counting) > 5
    for (path, leaf), old in zip(paths, counting, strict=True):
        where = jax.tree_util.keystr(path)
        assert COUNT not in np.shape(leaf), where
        assert (np.shape(leaf) == np.shape(old)) or np.shape(leaf)[-1] == 3, where
        if np.shape(old)[-1:] == (COUNT,):
            np.testing.assert_array_equal(leaf, np.asarray(old)[..., [3, 1, 4]], err_msg=where)
