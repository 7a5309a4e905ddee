"""A tank with an ROV that carries cameras, of which tests make small datasets."""

import seatrial as st

BOTTOM = 8.0
FRAMES = 3
CAMERA = {"type": "camera", "rate": 10, "width": 64, "height": 48, "field_of_view_deg": 70,
          "pitch_deg": -30}  # fmt: skip


def scenario(**changes):
    """A sinking ROV that turns before a box on a flat bottom; no mission, little to compile."""
    sensors = [
        {"type": "imu", "name": "imu", "rate": 200, "errors": "adis16448",
         "position": [0.1, 0.2, -0.1], "pitch_deg": 20},
        {"type": "pressure", "name": "depth", "rate": 200, "position": [-0.2, 0.0, 0.1]},
        CAMERA | {"name": "left", "position": [0.2, -0.1, 0.0]},
        CAMERA | {"name": "right", "position": [0.2, 0.1, 0.0], "baseline": 0.2},
    ]  # fmt: skip
    rov = {"vehicle": "bluerov2_heavy", "name": "rov", "sensors": sensors,
           "start": {"position": [0, 0, 6], "heading_deg": 10, "roll_deg": 4},
           "commands": {"front_port": 4.0}}  # fmt: skip
    crate = {"name": "crate", "box": {"size": [0.6, 0.8, 0.6]}, "position": [2.4, 0.3],
             "on_bottom": True, "kind": "crate"}  # fmt: skip
    world = {"name": "tank", "seabed": {"depth": BOTTOM}, "bodies": [crate]}
    return st.Scenario(**{"name": "tank", "seed": 3, "duration": 2.0, "world": world,
                          "vehicles": [rov]} | changes)  # fmt: skip


def every_file(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
