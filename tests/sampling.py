"""What `make test` runs of the suite, and what it leaves to `make test-all`.

Of a claim about the whole library that needs a program for every vehicle or scenario, a few cases
are shown (`sampled`). Of the files that take long, a sixth has its turn with each commit, so that
six commits in a row run them all; a run ends by naming the files that it left out.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent

TURNS = 6

LONG_FILES = [
    "scenarios/test_pairs",
    "oracle/test_hull_potential",
    "oracle/test_hull_drift",
    "oracle/test_traced_kernel",
    "analytic/test_hull_forces",
    "scenarios/test_hulls",
    "analytic/test_hull_mending",
    "scenarios/test_missions",
    "scenarios/test_gym",
    "oracle/test_fmu",
    "page/test_viewing",
    "page/test_drill",
    "oracle/test_camera_judges",
    "analytic/test_sea_change",
    "scenarios/test_command_line",
    "scenarios/test_engine",
    "scenarios/test_harbour_recording",
    "oracle/test_tuning",
    "analytic/test_allocation",
    "analytic/test_navigation_filter",
    "scenarios/test_helm",
    "analytic/test_core_wave_loads",
    "stochastic/test_navigation_sensors",
    "test_newcomer",
    "test_notebooks",
    "test_docs",
    "analytic/test_rollout",
    "analytic/test_sensors_strapdown",
    "scenarios/test_encounters",
    "scenarios/test_faults",
    "analytic/test_navigation_vehicles",
    "scenarios/test_tools",
    "analytic/test_core_integrators",
    "oracle/test_library_scenarios",
    "scenarios/test_failsafes",
    "scenarios/test_answering",
    "scenarios/test_python_use",
    "analytic/test_avoidance",
    "scenarios/test_one_program",
    "scenarios/test_programs",
    "stochastic/test_sensors_imu",
    "scenarios/test_record_swarm",
    "scenarios/test_record_outputs",
    "property/test_pytree",
    "scenarios/test_compiled_controllers",
    "stochastic/test_contact_sensors",
    "property/test_allocation_random",
    "stochastic/test_navigation_consistency",
    "stochastic/test_position_noise",
    "scenarios/test_user_controllers",
    "oracle/test_studies",
    "stochastic/test_allan",
    "analytic/test_sensors_water",
    "stochastic/test_colregs",
    "stochastic/test_sensors_water_noise",
    "analytic/test_core_restoring",
    "analytic/test_mission",
    "analytic/test_control_autopilot",
    "analytic/test_ocean_motion",
    "analytic/test_ocean_waves",
    "scenarios/test_record_measurements",
    "property/test_core_mechanics",
    "scenarios/test_sensing",
    "analytic/test_sensors_position",
    "analytic/test_faults_actuators",
    "scenarios/test_swarms",
    "scenarios/test_many_runs",
    "property/test_spec_malformed",
    "scenarios/test_record_mission",
    "analytic/test_core_currents",
    "property/test_allocation_gradients",
    "analytic/test_hull_heading_table",
    "property/test_spec_schema",
    "analytic/test_core_memory",
    "scenarios/test_record_scene",
    "scenarios/test_echograms",
    "oracle/test_library_mariner_slow",
    "scenarios/test_record_stores",
    "scenarios/test_record_damage",
    "property/test_spec_loading",
    "scenarios/test_acoustics",
    "scenarios/test_terrain",
    "analytic/test_acoustic_positioning",
    "analytic/test_contact",
    "analytic/test_renderers",
    "analytic/test_shaders",
    "scenarios/test_touching",
    "scenarios/test_pipelines",
    "scenarios/test_optical",
    "scenarios/test_datasets",
    "scenarios/test_dataset_exports",
    "scenarios/test_seabed_world",
    "scenarios/test_following",
    "scenarios/test_sonar_runs",
    "analytic/test_terrain_sensors",
    "scenarios/test_unseen",
    "scenarios/test_library_worlds",
    "oracle/test_lidar_judges",
    "bridges/test_autopilots",
    "bridges/test_rosbridge",
    "page/test_guests",
    "bridges/test_bridged_runs",
    "browser/test_instruments",
    "oracle/test_library_x_tail",
    "scenarios/test_mission_checks",
    "page/test_sensors",
    "scenarios/test_regulator",
    "analytic/test_shapes",
    "analytic/test_ocean_world",
    "analytic/test_waves_over_a_map",
    "analytic/test_core_surroundings",
    "analytic/test_core_thrusters",
    "analytic/test_guidance_laws",
    "scenarios/test_record_payloads",
    "analytic/test_core_fins",
]
"""Those that took more than nine seconds of processor time, the longest first, as far as the
list was sorted when it was last measured: the turns are then of about the same length."""


def in_turn(turn: int) -> tuple[frozenset[Path], frozenset[Path]]:
    """The long files that have their turn, and those that have not."""
    paths = [HERE / f"{name}.py" for name in LONG_FILES]
    missing = [str(path) for path in paths if not path.is_file()]
    assert not missing, f"no such files of tests, see tests/sampling.py: {missing}"
    chosen = frozenset(path for i, path in enumerate(paths) if i % TURNS == turn % TURNS)
    return chosen, frozenset(paths) - chosen


def sampled(names: Iterable[Any], *shown: Any) -> list[Any]:
    """The cases of a test, of which `make test` runs those `shown` and deselects the rest."""
    names = list(names)
    assert set(shown) <= set(names), f"no such case: {set(shown) - set(names)}"
    return [n if n in shown else pytest.param(n, marks=pytest.mark.rest) for n in names]
