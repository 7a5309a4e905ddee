"""Stage one in a file: wave force amplitudes of a hull in a sea, computed once, used elsewhere."""

import hashlib
from pathlib import Path
from typing import Any

import jax
import numpy as np

from seatrial.compile.surroundings.world import build_ocean
from seatrial.compile.vehicles.vehicle import compile_vehicle
from seatrial.core.forces.wave_excitation import DRIFT_OUTPUTS, OUTPUTS, WaveExcitation
from seatrial.errors import RecordingError
from seatrial.ocean import Ocean
from seatrial.pytree import constant
from seatrial.spec import scenario as spec
from seatrial.spec.loading import dump
from seatrial.spec.vehicle import Vehicle
from seatrial.spec.world import World

DType = np.dtype[Any]


def fingerprint(vehicle: Vehicle, ocean: Ocean) -> str:
    """Tells whether amplitudes belong to a vehicle and a sea."""
    assert ocean.waves is not None
    digest = hashlib.sha256(dump(vehicle).encode())
    waves = ocean.waves
    for array in (waves.amplitude, waves.omega, waves.direction, waves.phase, waves.depth):
        # Rounded to single precision, so that one file serves both precisions.
        digest.update(b"-" if array is None else np.asarray(array, np.float32).tobytes())
    return digest.hexdigest()


def precompute(vehicle: Vehicle, world: World, seed: int, out: Path) -> WaveExcitation:
    """Integrate the waves over the hull for all headings, and save the amplitudes."""
    if out.suffix != ".npz":  # under another name there may lie a description
        raise RecordingError(
            f"{out}: wave force amplitudes are arrays of NumPy\n"
            "  expected: a name that ends in .npz\n"
            f"  to mend:  --out {out.stem or vehicle.name}.npz"
        )
    with jax.enable_x64(True):
        dtype: DType = np.dtype(np.float64)
        ocean = build_ocean(world, seed, dtype)
        if ocean.waves is None:
            raise world.error(
                ("waves",),
                "this world has no waves",
                expected="a world with `waves`",
                mend="choose another world, for example sea-state-4",
            )
        excitation = compile_vehicle(vehicle, ocean, dtype).model.excitation
        if excitation is None:
            raise vehicle.error(
                ("buoyancy", "craft"),
                "wave force amplitudes exist for surface craft only",
                value=vehicle.buoyancy.craft,
                expected="`craft: surface`",
            )
        kept = {
            "table": np.asarray(excitation.table),
            "north": np.asarray(excitation.north),
            "east": np.asarray(excitation.east),
            "presses": np.array(excitation.presses),
            "fingerprint": np.array(fingerprint(vehicle, ocean)),
        }
        if excitation.displaced is not None:
            kept["displaced"] = np.asarray(excitation.displaced)
        try:
            with out.open("wb") as file:
                np.savez_compressed(file, allow_pickle=False, **kept)
        except OSError as error:
            raise RecordingError(f"{out}: cannot be written ({error.strerror})") from None
    return excitation


def load_wave_forces(
    scenario: spec.Scenario, index: int, ocean: Ocean, dtype: DType
) -> WaveExcitation:
    """Amplitudes from a file, after checking that they belong to this vehicle and this sea."""
    participant = scenario.vehicles[index]
    path = ("vehicles", index, "wave_forces")
    assert participant.wave_forces is not None
    file = Path(participant.wave_forces)
    if not file.is_absolute() and scenario._source is not None:
        file = Path(scenario._source.file).parent / file
    again = (
        f"seatrial waves precompute {participant.vehicle.name} WORLD --seed {scenario.seed} "
        f"--out {participant.wave_forces}"
    )
    try:
        with np.load(file, allow_pickle=False) as data:
            stored = {key: data[key] for key in data.files}
        excitation = WaveExcitation(
            table=constant(stored["table"], np.float32),
            north=constant(stored["north"], dtype),
            east=constant(stored["east"], dtype),
            displaced=constant(stored["displaced"], dtype) if "displaced" in stored else None,
            presses=bool(stored["presses"]),
        )
        belongs = str(stored["fingerprint"])
        outputs, columns = excitation.table.shape[1:]
        known = (len(OUTPUTS), len(OUTPUTS) + DRIFT_OUTPUTS)
        if outputs not in known or columns != 2 * len(excitation.north):
            raise ValueError(f"a table of shape {excitation.table.shape}")
    except (OSError, ValueError, KeyError, EOFError) as error:
        raise scenario.error(
            path,
            f"no wave force amplitudes can be read from `{file}` ({error})",
            expected="a file of `seatrial waves precompute`",
            mend=f"make it: {again}",
        ) from None
    if ocean.waves is None or belongs != fingerprint(participant.vehicle, ocean):
        raise scenario.error(
            path,
            "these wave force amplitudes belong to another vehicle, sea or seed",
            value=participant.wave_forces,
            expected=f"amplitudes of `{participant.vehicle.name}` in this scenario's sea",
            mend=f"make them again: {again}",
        )
    return excitation
