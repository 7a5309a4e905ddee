"""How a vehicle floats and what waves do to its hull, from its description."""

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.conventions import GRAVITY
from seatrial.core.forces.restoring import SubmergedRestoring, SurfaceRestoring
from seatrial.core.forces.wave_excitation import WaveExcitation
from seatrial.hull import froude_krylov
from seatrial.hull.blocks import Block, hydrostatics
from seatrial.hull.heading_table import heading_table
from seatrial.ocean.synthesis import wavenumber
from seatrial.ocean.waves import Waves
from seatrial.pytree import constant
from seatrial.spec import vehicle as spec

Array = NDArray[np.float64]
DType = np.dtype[Any]

SLICES = 5
"""Slices along an underwater hull that leave the water one by one."""


def _blocks(buoyancy: spec.SurfaceBuoyancy) -> tuple[Block, ...]:
    return tuple(
        Block(b.shape == "ellipse", b.length, b.beam, b.draught, *b.at) for b in buoyancy.blocks
    )


def compile_restoring(vehicle: spec.Vehicle, dtype: DType) -> SurfaceRestoring | SubmergedRestoring:
    """Weight and buoyancy of a vehicle, after checking that it can float upright."""
    if isinstance(vehicle.buoyancy, spec.SurfaceBuoyancy):
        return _surface_restoring(vehicle, vehicle.buoyancy, dtype)
    return _submerged_restoring(vehicle, vehicle.buoyancy, dtype)


def _surface_restoring(
    vehicle: spec.Vehicle, buoyancy: spec.SurfaceBuoyancy, dtype: DType
) -> SurfaceRestoring:
    blocks = hydrostatics(_blocks(buoyancy))
    volume = vehicle.inertia.mass / vehicle.hydrodynamics.reference_density
    if not 0.5 < blocks.volume / volume < 2.5:
        raise vehicle.error(
            ("buoyancy", "blocks"),
            "the blocks do not displace what the vehicle weighs",
            value=f"{blocks.volume:.4g} m³ of blocks, {volume:.4g} m³ of water weigh as much",
            expected="blocks that displace between half and two and a half times the weight",
            mend="check mass, length, beam and draught",
        )
    gravity_depth = vehicle.inertia.centre_of_gravity[2] - buoyancy.waterline
    heights = []
    for name, given, radius in (
        ("transverse", buoyancy.transverse_metacentric_height, blocks.transverse_radius),
        ("longitudinal", buoyancy.longitudinal_metacentric_height, blocks.longitudinal_radius),
    ):
        # GM = KB + BM − KG, with depths below the waterline: BM − z_B + z_G
        height = given if given is not None else radius - blocks.buoyancy_depth + gravity_depth
        if vehicle.stable and height <= 0:
            key = f"{name}_metacentric_height"
            raise vehicle.error(
                ("buoyancy", key) if given is not None else ("inertia", "centre_of_gravity"),
                f"the centre of gravity lies above the {name} metacentre: the craft would capsize",
                value=f"GM = {height:.3g} m",
                expected="a positive metacentric height for a craft that is `stable: true`",
                mend="lower the centre of gravity (z is down), widen the hull, "
                "or say `stable: false`",
            )
        heights.append(height)
    draught = buoyancy.keel_depth
    if draught >= vehicle.height:
        raise vehicle.error(
            ("height",),
            "the hull is no higher than it is deep in the water: its deck would be awash",
            value=vehicle.height,
            expected=f"more than the draught of {draught:g} m",
            mend="`height` is measured from the keel to the deck",
        )
    flotation = (
        blocks.flotation if buoyancy.centre_of_flotation is None else buoyancy.centre_of_flotation
    )
    return SurfaceRestoring(
        mass=constant(vehicle.inertia.mass, dtype),
        volume=constant(volume, dtype),
        gravity_centre=constant(vehicle.inertia.centre_of_gravity, dtype),
        waterplane_area=constant(buoyancy.waterplane_area or blocks.area, dtype),
        flotation=constant([flotation, 0.0, buoyancy.waterline], dtype),
        freeboard=constant(vehicle.height - draught, dtype),
        gm_transverse=constant(heights[0], dtype),
        gm_longitudinal=constant(heights[1], dtype),
    )


def _submerged_restoring(
    vehicle: spec.Vehicle, buoyancy: spec.SubmergedBuoyancy, dtype: DType
) -> SubmergedRestoring:
    density = vehicle.hydrodynamics.reference_density
    volume = buoyancy.volume
    if buoyancy.force is not None:
        volume = buoyancy.force / (density * GRAVITY)
    elif volume is None:  # neutral, in reference water unless a scenario has settled its own
        volume = vehicle.inertia.mass / density
    centre = vehicle.inertia.centre_of_gravity
    if vehicle.stable and centre[2] <= buoyancy.centre[2]:
        raise vehicle.error(
            ("inertia", "centre_of_gravity"),
            "the centre of gravity is not below the centre of buoyancy: the craft would roll over",
            value=f"z_G = {centre[2]} m, z_B = {buoyancy.centre[2]} m",
            expected="z_G greater than z_B (z is down) for a craft that is `stable: true`",
            mend="lower the centre of gravity, or say `stable: false`",
        )
    stations = vehicle.length * ((np.arange(SLICES) + 0.5) / SLICES - 0.5)
    return SubmergedRestoring(
        mass=constant(vehicle.inertia.mass, dtype),
        volume=constant(volume, dtype),
        gravity_centre=constant(centre, dtype),
        buoyancy_centre=constant(buoyancy.centre, dtype),
        stations=constant(stations, dtype),
        height=constant(vehicle.height, dtype),
    )


def compile_excitation(
    vehicle: spec.Vehicle,
    restoring: SurfaceRestoring | SubmergedRestoring,
    waves: Waves | None,
    dtype: DType,
    loads: froude_krylov.SolvedLoads | None = None,
    drift: froude_krylov.MeanDrift | None = None,
) -> WaveExcitation | None:
    """Wave force amplitudes of a surface craft in a sea: stage one; None without waves."""
    if (
        waves is None
        or not isinstance(vehicle.buoyancy, spec.SurfaceBuoyancy)
        or not isinstance(restoring, SurfaceRestoring)
    ):
        return None
    blocks = _blocks(vehicle.buoyancy)
    depth = None if waves.depth is None else float(waves.depth)
    sea = froude_krylov.Sea(
        amplitude=np.asarray(waves.amplitude, np.float64),
        omega=np.asarray(waves.omega, np.float64),
        wavenumber=np.asarray(waves.wavenumber, np.float64),
        direction=np.asarray(waves.direction, np.float64),
        depth=depth,
    )
    band = np.asarray(waves.band, np.float64)
    typical = dataclasses.replace(sea, omega=band, wavenumber=wavenumber(band, depth))
    # GM = BM − z_B + z_G: the metacentric radius that belongs to the height in force
    centre_x, _, centre_z = vehicle.inertia.centre_of_gravity
    below = hydrostatics(blocks).buoyancy_depth - (centre_z - vehicle.buoyancy.waterline)
    in_waves = froude_krylov.HullInWaves(
        blocks=blocks,
        waterline=vehicle.buoyancy.waterline,
        volume=float(restoring.volume),
        buoyancy=centre_x,
        transverse_radius=float(restoring.gm_transverse) + below,
        longitudinal_radius=float(restoring.gm_longitudinal) + below,
        waterplane_area=float(restoring.waterplane_area),
        flotation=float(restoring.flotation[0]),
        density=vehicle.hydrodynamics.reference_density,
        pressure=vehicle.hull is None or vehicle.hull.hydrostatics == "linear",
        loads=loads,
        drift=drift,
    )
    return WaveExcitation(
        table=constant(heading_table(in_waves, sea, typical), np.float32),
        north=constant(sea.wavenumber * np.cos(sea.direction), dtype),
        east=constant(sea.wavenumber * np.sin(sea.direction), dtype),
        displaced=None
        if loads is not None
        else constant(in_waves.volume * in_waves.density, dtype),
        presses=in_waves.pressure or loads is not None,
    )
