"""Every surface craft of the library touches the bottom with its own keel.

Its blocks stand for a hull that is finer below: an Otter's are 7 cm deep, she draws 13 cm.
"""

import jax
import jax.numpy as jnp
import pytest

import craft
from seatrial.core.contact import penetration
from seatrial.spatial.rotations import rotation
from seatrial.spec.library import library_names
from seatrial.spec.loading import load
from seatrial.spec.vehicle import SurfaceBuoyancy, Vehicle

DRAUGHTS = {
    "kvlcc2_l7": 0.46,
    "mariner": 7.5,
    "otter": 55.0 / 1025.0 / (2 * 0.4 * 0.25 * 2.0),  # block coefficient 0.4, MSS
    "smarty": 0.11,
    "sookshma": 0.210 - 0.136,  # of HydRA's panels
    "wamv": 0.0873,
    "wamv_azimuth": 0.0873,
}


def surface_craft():
    return [
        name
        for name in library_names("vehicle")
        if isinstance(load(name, Vehicle).buoyancy, SurfaceBuoyancy)
    ]


def test_every_surface_craft_of_the_library_has_its_draught_here():
    assert sorted(DRAUGHTS) == sorted(surface_craft())


@pytest.mark.parametrize("name", DRAUGHTS)
def test_it_floats_over_a_bottom_below_its_keel_and_touches_one_above(name):
    draught = DRAUGHTS[name]
    for depth, touches in ((1.02 * draught, False), (0.98 * draught, True)):
        ocean = craft.ocean_of(seabed={"depth": depth})
        model = craft.compiled(load(name, Vehicle), ocean)
        with jax.enable_x64(True):
            zero = jnp.zeros(())
            level = rotation(jnp.array([1.0, 0.0, 0.0, 0.0]))
            into = float(penetration(model.contact, ocean.seabed, (zero, zero, zero), level))
        assert (into > 0.0) == touches
        assert into == pytest.approx(draught - depth, abs=1e-3 * draught)


@pytest.mark.parametrize("name", DRAUGHTS)
def test_what_is_left_of_its_height_is_freeboard(name):
    vehicle = load(name, Vehicle)
    model = craft.compiled(vehicle)
    expected = vehicle.height - DRAUGHTS[name]
    assert float(model.restoring.freeboard) == pytest.approx(expected, rel=1e-3)


def test_a_draught_less_than_that_of_a_block_is_refused():
    block = {"shape": "box", "length": 2.0, "beam": 1.0, "draught": 0.3}
    with pytest.raises(ValueError, match="inside the hull"):
        SurfaceBuoyancy.model_validate({"craft": "surface", "draught": 0.2, "blocks": [block]})
    assert SurfaceBuoyancy.model_validate({"craft": "surface", "blocks": [block]}).keel_depth == 0.3
