"""The Mariner in the library against an integration of the published polynomial written here."""

import numpy as np
import pytest

from seatrial.compile.scenario import compile_scenario
from seatrial.engine.run import run
from seatrial.spec.loading import load
from seatrial.spec.scenario import Scenario
from seatrial.spec.vehicle import Vehicle

L, U0 = 160.93, 7.7175

# Chislett and Strøm-Tejsen (1965), × 1e-5: factors in u, v, r, delta -> coefficient.
SURGE = {"u": -184, "uu": -110, "uuu": -215, "vv": -899, "rr": 18, "dd": -95, "udd": -190}
SURGE |= {"rv": 798, "vd": 93, "uvd": 93}
SWAY = {"v": -1160, "r": -499, "vvv": -8078, "vvr": 15356, "vu": -1160, "ru": -499, "d": 278}
SWAY |= {"ddd": -90, "ud": 556, "uud": 278, "vdd": -4, "vvd": 1190, "": -4, "0u": -8, "0uu": -4}
YAW = {"v": -264, "r": -166, "vvv": 1636, "vvr": -5483, "vu": -264, "ru": -166, "d": -139}
YAW |= {"ddd": 45, "ud": -278, "uud": -139, "vdd": 13, "vvd": -489, "": 3, "0u": 6, "0uu": 3}
MASS = 1e-5 * np.array(
    [
        [798 + 42, 0, 0],
        [0, 798 + 748, 798 * -0.023 + 9.354],
        [0, 798 * -0.023 - 4.646, 39.2 + 43.8],
    ]
)


def polynomial(table, values):
    return 1e-5 * sum(
        c * np.prod([values[letter] for letter in name.lstrip("0")]) for name, c in table.items()
    )


def rate(state, order):
    u, v, r, _, _, heading, rudder = state
    speed = np.hypot(u, v)
    values = {"u": (u - U0) / speed, "v": v / speed, "r": r * L / speed, "d": rudder}
    force = [polynomial(table, values) for table in (SURGE, SWAY, YAW)]
    a = np.linalg.solve(MASS, force) * speed**2 / L
    throw = np.clip(order - rudder, -np.radians(5), np.radians(5))
    north = u * np.cos(heading) - v * np.sin(heading)
    east = u * np.sin(heading) + v * np.cos(heading)
    return np.array([a[0], a[1], a[2] / L, north, east, r, throw])


def turn(order, h=0.5):
    """Advance and tactical diameter over L of a turn that starts at once (RK4)."""
    track = [np.array([U0, 0, 0, 0, 0, 0, 0.0])]
    while abs(track[-1][5]) < np.pi:
        s = track[-1]
        k1 = rate(s, order)
        k2 = rate(s + h / 2 * k1, order)
        k3 = rate(s + h / 2 * k2, order)
        k4 = rate(s + h * k3, order)
        track.append(s + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
    path = np.array(track)
    heading = np.abs(path[:, 5])
    advance = np.interp(np.pi / 2, heading, path[:, 3])
    diameter = np.interp(np.pi, heading, path[:, 4])
    return advance / L, diameter / L


def zigzag(helm, change, h=0.1, reversals=3):
    """Overshoots in degrees of a zig-zag by the published polynomial; to starboard first (RK4).

    The helm is looked at every 0.5 s, as in the scenario.
    """
    state, side, headings = np.array([U0, 0, 0, 0, 0, 0, 0.0]), 1, [[]]
    for step in range(100_000):
        heading = state[5]
        if step % 5 == 0 and side * heading >= change:
            side = -side
            headings.append([])
        if len(headings) > reversals + 1:
            break
        headings[-1].append(heading)
        order = -side * helm  # the published rudder is positive to port
        k1 = rate(state, order)
        k2 = rate(state + h / 2 * k1, order)
        k3 = rate(state + h / 2 * k2, order)
        k4 = rate(state + h * k3, order)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return [np.degrees(np.abs(after).max() - change) for after in headings[1 : reversals + 1]]


@pytest.fixture(scope="module")
def published():
    return turn(np.radians(-35))


def test_published_polynomial_gives_the_published_turning_circle(published):
    assert published[0] == pytest.approx(3.54, rel=0.005)
    assert published[1] == pytest.approx(6.40, rel=0.005)


def test_library_mariner_turns_like_the_published_polynomial(published):
    summary = run(compile_scenario(load("mariner-turning-circle", Scenario))).summary
    indices = summary.vehicles["mariner"].indices
    assert summary.status == "completed"
    assert indices["advance_over_length"] == pytest.approx(published[0], rel=0.01)
    assert indices["tactical_diameter_over_length"] == pytest.approx(published[1], rel=0.005)
    assert summary.vehicles["mariner"].roll_max_deg == 0.0


def test_library_mariner_holds_all_published_coefficients():
    vehicle = load("mariner", Vehicle)
    found = vehicle.hydrodynamics.coefficients
    for letter, table in (("X", SURGE), ("Y", SWAY), ("N", YAW)):
        for name, value in table.items():
            key = _library_key(letter, name)
            matches = [k for k in found if _sorted_key(k) == _sorted_key(key)]
            assert len(matches) == 1, key
            assert found[matches[0]] == pytest.approx(value * 1e-5, rel=1e-12)
    prime = 0.5 * 1025 * L**3
    assert vehicle.inertia.mass == pytest.approx(798e-5 * prime, rel=1e-5)
    x_g, k_z = vehicle.inertia.centre_of_gravity[0], vehicle.inertia.gyration[2]
    assert x_g == pytest.approx(-0.023 * L, rel=1e-4)
    about_origin = vehicle.inertia.mass * (k_z**2 + x_g**2)
    assert about_origin == pytest.approx(39.2e-5 * prime * L**2, rel=1e-4)


def _library_key(letter, name):
    velocities = name.replace("d", "")
    parts = [letter, *([velocities or "0"] if velocities or not name else [])]
    return "_".join([*parts, *["delta"] * name.count("d")])


def _sorted_key(key):
    """Two spellings of one product agree: Y_vu and Y_uv."""
    head, *rest = key.split("_")
    letters = sorted("".join(r for r in rest if r != "delta"))
    return head, "".join(letters), rest.count("delta")


def test_library_mariner_overshoots_like_the_published_polynomial_and_less_than_imo_allows():
    ending = run(compile_scenario(load("mariner-zigzag", Scenario)))
    indices = ending.summary.vehicles["mariner"].indices
    expected = zigzag(np.radians(20), np.radians(20))
    for name, overshoot in zip(("first", "second", "third"), expected, strict=True):
        assert indices[f"{name}_overshoot_deg"] == pytest.approx(overshoot, abs=0.3), name
    assert indices["first_overshoot_deg"] < 25.0  # 20/20, MSC.137(76)
