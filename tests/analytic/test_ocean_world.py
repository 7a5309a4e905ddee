"""Worlds: what the library ships compiles, and what contradicts itself is refused."""

import math
from importlib.resources import files

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from pydantic import ValidationError

from seatrial.compile.surroundings.world import build_ocean
from seatrial.errors import SpecError
from seatrial.ocean import current, turbulence, water, waves, wind
from seatrial.spec.loading import dump, load, load_text
from seatrial.spec.world import World

pytestmark = pytest.mark.usefixtures("x64")

LIBRARY = sorted(
    f.name.removesuffix(".yaml") for f in files("seatrial").joinpath("library/worlds").iterdir()
)
SEA = {"significant_height": 2.0, "peak_period": 8.0}


def world(**parts):
    return World.model_validate({"kind": "world", "name": "test", **parts})


def sampled(ocean, position, t):
    parts = [water.density(ocean.water, position[2]), water.sound_speed(ocean.water, position[2])]
    for field, module in (
        (ocean.waves, waves),
        (ocean.current, current),
        (ocean.wind, wind),
        (ocean.turbulence, turbulence),
    ):
        if field is not None:
            parts += jax.tree.leaves(module.sample(field, position, t))
    return parts


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", LIBRARY)
def test_every_library_world_compiles_and_samples_finite_values_of_its_precision(name, dtype):
    ocean = build_ocean(load(name, World), 1, jnp.dtype(dtype))
    position = tuple(jnp.asarray(v, dtype) for v in ([3.0, 40.0], [-2.0, 7.0], [-0.5, 1.5]))
    for value in jax.jit(sampled)(ocean, position, jnp.float64(1234.5)):
        assert value.dtype == dtype
        assert np.all(np.isfinite(value))


@pytest.mark.parametrize("name", LIBRARY)
def test_every_library_world_names_its_source_and_survives_being_written_out(name):
    loaded = load(name, World)
    assert loaded.source
    assert loaded.name == name
    assert load_text(dump(loaded), World).model_dump() == loaded.model_dump()


def test_sea_state_4_has_the_height_of_its_sources():
    ocean = build_ocean(load("sea-state-4", World), 1, jnp.float64)
    height = 4 * math.sqrt(float(jnp.sum(ocean.waves.amplitude**2)) / 2)
    np.testing.assert_allclose(height, math.hypot(1.88, 0.8), rtol=1e-9)


def test_calm_parts_are_absent_from_the_ocean():
    ocean = build_ocean(world(waves={"spectrum": "sea_state", "code": 0}), 1, jnp.float64)
    assert ocean.waves is None
    assert ocean.current is None
    assert ocean.wind is None
    assert ocean.turbulence is None
    assert ocean.seabed is None


def test_seabed_gives_the_waves_their_depth():
    regular = {"spectrum": "regular", "height": 0.2, "period": 4.0}
    shallow = build_ocean(world(waves=regular, seabed={"depth": 2.0}), 1, jnp.float64).waves
    k = float(shallow.wavenumber[0])
    np.testing.assert_allclose(9.80665 * k * math.tanh(2.0 * k), (2 * math.pi / 4.0) ** 2)


def test_listed_components_are_taken_as_they_stand():
    listed = {
        "spectrum": "components",
        "components": [
            {"amplitude_cm": 30.0, "period": 6.0, "towards_deg": 90.0, "phase_deg": 180.0},
            {"amplitude": 0.1, "period": 4.0},
        ],
    }
    made = build_ocean(world(waves=listed), 1, jnp.float64).waves
    np.testing.assert_allclose(made.amplitude, [0.3, 0.1])
    np.testing.assert_allclose(made.direction, [math.pi / 2, 0.0])
    np.testing.assert_allclose(waves.elevation(made, 0.0, 0.0, 0.0), -0.2)


REFUSED = {
    "two parameters": (
        {"waves": {"spectrum": "pierson_moskowitz", "wind_speed": 9.0, "significant_height": 2.0}},
        "one parameter",
    ),
    "no parameter": ({"waves": {"spectrum": "pierson_moskowitz"}}, "found neither"),
    "breaking sea": ({"waves": {"spectrum": "jonswap", **SEA, "peak_period": 3.0}}, "would break"),
    "breaking system": (
        {
            "waves": {
                "spectrum": "ochi_hubble",
                "systems": [SEA | {"shape": 3.0}, {**SEA, "peak_period": 4.0, "shape": 1.0}],
            }
        },
        "would break",
    ),
    "systems in the wrong order": (
        {
            "waves": {
                "spectrum": "ochi_hubble",
                "systems": [SEA | {"shape": 3.0}, {**SEA, "peak_period": 12.0, "shape": 1.0}],
            }
        },
        "longer one",
    ),
    "peak enhancement": ({"waves": {"spectrum": "jonswap", **SEA, "gamma": 9.0}}, "gamma"),
    "negative height": (
        {"waves": {"spectrum": "bretschneider", **SEA, "significant_height": -1.0}},
        "significant_height",
    ),
    "short swell": (
        {
            "waves": {
                "spectrum": "jonswap",
                **SEA,
                "swell": {"significant_height": 1.0, "peak_period": 6.0},
            }
        },
        "shorter than the 8 s",
    ),
    "swell on a calm sea": (
        {
            "waves": {
                "spectrum": "sea_state",
                "code": 0,
                "swell": {"significant_height": 1.0, "peak_period": 10.0},
            }
        },
        "without waves",
    ),
    "sea state": ({"waves": {"spectrum": "sea_state", "code": 10}}, "code"),
    "steep regular wave": (
        {"waves": {"spectrum": "regular", "height": 2.0, "period": 2.5}},
        "0.142",
    ),
    "exponent without cos2s": (
        {"waves": {"spectrum": "jonswap", **SEA, "spreading_exponent": 10.0}},
        "cos2s",
    ),
    "cos2s without exponent": (
        {"waves": {"spectrum": "jonswap", **SEA, "spreading": "cos2s"}},
        "needs its exponent",
    ),
    "directions of a long-crested sea": (
        {"waves": {"spectrum": "jonswap", **SEA, "spreading": "long_crested", "directions": 5}},
        "long-crested",
    ),
    "current without direction": ({"current": {"speed": 1.0}}, "direction"),
    "steady current and series": (
        {
            "current": {
                "speed": 1.0,
                "towards": 0.0,
                "series": {"time": [0, 1], "speed": [0, 1], "towards": [0, 0]},
            }
        },
        "leave out",
    ),
    "uneven rows": (
        {"current": {"profile": {"depth": [0.0, 1.0, 2.0], "factor": [1.0, 0.5]}}},
        "has 2 values",
    ),
    "depths not rising": (
        {
            "water": {
                "profile": "table",
                "depth": [0.0, 5.0, 5.0],
                "temperature": [9.0, 8.0, 7.0],
                "salinity": [35.0, 35.0, 35.0],
            }
        },
        "must rise",
    ),
    "roughness of a power law": (
        {"wind": {"speed": 5.0, "profile": "power", "roughness": 1e-3}},
        "roughness",
    ),
    "gusts without wind": (
        {"wind": {"speed": 0.0, "gusts": {"spectrum": "norsok"}}},
        "at least 1 m/s",
    ),
    "eddies out of order": (
        {
            "turbulence": {
                "dissipation_rate": 1e-6,
                "outer_length": 1.0,
                "smallest_length": 2.0,
            }
        },
        "must be below",
    ),
    "misspelt key": ({"waves": {"spectrum": "jonswap", **SEA, "gama": 3.3}}, "gama"),
    "unknown spectrum": ({"waves": {"spectrum": "johnswap", **SEA}}, "johnswap"),
    "text for a number": ({"seabed": {"depth": "deep"}}, "depth"),
    "list for a mapping": ({"waves": [1, 2]}, "waves"),
    "mapping for a list": ({"current": {"tide": {"a": 1}}}, "tide"),
    "nothing for waves": ({"waves": {}}, "waves"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_contradicting_or_misspelt_world_is_refused_with_a_reason(case):
    parts, reason = REFUSED[case]
    with pytest.raises(ValidationError, match=reason):
        world(**parts)


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        (
            {"waves": {"spectrum": "bretschneider", **SEA}, "seabed": {"depth": 3.0}},
            "breaks in water",
        ),
        (
            {
                "waves": {"spectrum": "regular", "height": 1.5, "period": 6.0},
                "seabed": {"depth": 1.0},
            },
            "breaks in water",
        ),
        (
            {
                "waves": {
                    "spectrum": "sea_state",
                    "code": 5,
                    "swell": {"significant_height": 1.0, "peak_period": 9.0},
                }
            },
            "shorter than the wind sea",
        ),
    ],
)
def test_what_only_the_physics_can_tell_is_refused_when_compiling(parts, reason):
    with pytest.raises(SpecError, match=reason):
        build_ocean(world(**parts), 1, jnp.float64)


def test_refusal_points_at_the_file_line_and_key():
    text = (
        "kind: world\nname: x\nwaves:\n  spectrum: jonswap\n  significant_height: 5\n"
        "  peak_period: 4\n"
    )
    with pytest.raises(SpecError) as refused:
        load_text(text, World, file="steep.yaml")
    problem = refused.value.problems[0]
    assert (problem.file, problem.line) == ("steep.yaml", 5)
    assert problem.path == ("waves", "significant_height")
