"""A run made of formulas: a boat on a circle in waves and an AUV that dives, in NED."""

import dataclasses

import numpy as np

from seatrial.engine.frames import (
    ActuatorInfo,
    Frames,
    LegInfo,
    RunHeader,
    RunSummary,
    VehicleFrames,
    VehicleInfo,
    VehicleSummary,
    frames_of,
)

BOAT = VehicleInfo(
    "otter",
    "otter",
    "surface",
    2.0,
    1.08,
    0.4,
    (ActuatorInfo("port", "rev/s"), ActuatorInfo("starboard", "rev/s")),
)
AUV = VehicleInfo(
    "remus-1",
    "remus100",
    "submerged",
    1.6,
    0.19,
    0.19,
    (
        ActuatorInfo("propeller", "rev/s"),
        ActuatorInfo("rudder", "rad"),
        ActuatorInfo("stern", "rad"),
    ),
)
SENT_BOAT = dataclasses.replace(
    BOAT,
    legs=(
        LegInfo("goto 1", "track", (0.0, 0.0, 0.0), (14.3, 14.3, 0.0), 3.0),
        LegInfo("goto 2", "track", (14.3, 14.3, 0.0), (0.0, 28.6, 0.0), 3.0),
        LegInfo("hold 1", "hold", (0.0, 28.6, 0.0), (0.0, 28.6, 0.0), 2.0),
    ),
    estimated=True,
)
"""The boat with a mission and a navigation filter."""
LEG_ENDS = (15.0, 32.0, 50.0)
"""When its legs end, s: the first reached, the second passed, the third held."""
LEG_CODES = (1, 2, 4)
PERIOD = 0.1


def header(vehicles=(BOAT, AUV), duration=60.0, water_depth=40.0, seed=7) -> RunHeader:
    return RunHeader(
        scenario="circle-and-dive",
        version="0.1.0",
        seed=seed,
        describe=lambda: "name: circle-and-dive\nseed: 7\n",
        frame_period=PERIOD,
        duration=duration,
        water_depth=water_depth,
        datum=(63.4, 10.4),
        vehicles=tuple(vehicles),
    )


def frames(vehicles=(BOAT, AUV), duration=60.0, seed=7) -> Frames:
    time = np.arange(round(duration / PERIOD) + 1) * PERIOD
    make = {"surface": _circle, "submerged": _dive}
    return frames_of(
        time, {v.name: make[v.craft](time, v, i + seed) for i, v in enumerate(vehicles)}
    )


def summary(vehicles=(BOAT, AUV), duration=60.0) -> RunSummary:
    figures = (93.4, 1.5, 1.62, 0.31, 4.2, 3.9)
    return RunSummary(
        "completed",
        duration,
        {
            v.name: VehicleSummary("completed", duration, *figures, {"advance": 3.5})
            for v in vehicles
        },
    )


def blocks(run: Frames, size: int) -> list[Frames]:
    """The same run in blocks of `size` frames, each with the samples taken before the next."""
    edges = run.time - 1e-6  # times of samples are rounded otherwise than those of frames
    return [
        frames_of(
            run.time[i : i + size],
            {
                name: VehicleFrames(**{k: a[i : i + size] for k, a in vars(v).items()})
                for name, v in run.vehicles.items()
            },
            {
                name: {
                    sensor: m.cut((m.time >= edges[i]) & (m.time < edges[i] + size * PERIOD))
                    for sensor, m in taken.items()
                }
                for name, taken in run.measurements.items()
            },
        )
        for i in range(0, len(run.time), size)
    ]


def _circle(time, vehicle, seed) -> VehicleFrames:
    speed, rate = 1.5, np.radians(6.0)
    radius = speed / rate
    heading = rate * time
    north, east = radius * np.sin(heading), radius * (1.0 - np.cos(heading)) + 4.0 * (seed - 7)
    elevation, slope = _sea(time, north, east)
    position = np.column_stack([north, east, -0.9 * elevation])
    euler = np.column_stack([0.6 * slope, 0.4 * np.roll(slope, 3), heading])
    velocity = np.zeros((len(time), 6))
    velocity[:, 0], velocity[:, 1], velocity[:, 5] = speed, -0.05 * speed, rate
    velocity[:, 2] = np.gradient(position[:, 2], time)
    command = np.tile([12.0, 8.0], (len(time), 1)) * (time[:, None] > 1.0)
    return _vehicle(time, vehicle, position, euler, velocity, command, elevation)


def _dive(time, vehicle, seed) -> VehicleFrames:
    speed = 1.8
    depth = 9.0 * (1.0 - np.cos(2 * np.pi * time / max(time[-1], 1.0)))
    north = -15.0 + speed * time * np.cos(0.5)
    east = -30.0 + 4.0 * (seed - 8) + speed * time * np.sin(0.5)
    elevation, _ = _sea(time, north, east)
    pitch = -np.arctan2(np.gradient(depth, time), speed)
    euler = np.column_stack([0.02 * np.sin(time), pitch, np.full_like(time, 0.5)])
    velocity = np.zeros((len(time), 6))
    velocity[:, 0], velocity[:, 4] = speed, np.gradient(pitch, time)
    command = np.column_stack(
        [np.full_like(time, 20.0), 0.1 * np.sign(np.sin(0.3 * time)), 0.3 * np.sign(pitch)]
    )[:, : len(vehicle.actuators)]
    position = np.column_stack([north, east, depth])
    return _vehicle(time, vehicle, position, euler, velocity, command, elevation)


def _sea(time, north, east):
    generator = np.random.default_rng(3)
    elevation, slope = np.zeros_like(time), np.zeros_like(time)
    for omega in np.linspace(0.7, 2.2, 12):
        k, phase = omega**2 / 9.81, generator.uniform(0, 2 * np.pi)
        angle = omega * time - k * (0.8 * north + 0.6 * east) + phase
        elevation += 0.15 * np.cos(angle)
        slope += 0.15 * k * np.sin(angle)
    return elevation, slope


def _vehicle(time, vehicle, position, euler, velocity, command, elevation) -> VehicleFrames:
    actual = np.empty_like(command)
    state = np.zeros(command.shape[1])
    for i, target in enumerate(command):
        state = state + (target - state) * (1 - np.exp(-PERIOD / 0.8))
        actual[i] = state
    decay = np.exp(-0.15 * np.maximum(position[:, 2], 0.0))
    wave_velocity = np.column_stack([0.5 * elevation, 0.4 * elevation, -0.8 * elevation])
    gust = 8.0 + 0.8 * np.sin(0.21 * time) + 0.5 * np.sin(0.9 * time)
    ones = np.ones_like(time)
    return VehicleFrames(
        position=position,
        attitude=quaternion(*euler.T),
        velocity=velocity,
        acceleration=np.gradient(velocity, time, axis=0),
        actuators=actual,
        command=command,
        current=np.column_stack([0.2 * decay, 0.35 * decay, 0.0 * time]),
        wave_elevation=elevation,
        wave_velocity=wave_velocity * decay[:, None],
        wind=np.column_stack([0.6 * gust, 0.8 * gust, 0.0 * time]),
        density=1024.0 + 0.05 * np.maximum(position[:, 2], 0.0),
        wet_fraction=ones * (0.5 if vehicle.craft == "surface" else 1.0),
        faults=np.column_stack([time > 1.0 + i for i in range(len(vehicle.faults))]).astype(float)
        if vehicle.faults
        else np.empty((len(time), 0)),
        estimate=_estimate(time, position, quaternion(*euler.T), velocity)
        if vehicle.estimated
        else np.empty((len(time), 0)),
        guidance=_guidance(time) if vehicle.legs else np.empty((len(time), 0)),
    )


def _estimate(time, position, attitude, velocity):
    """Errors that swing slowly within the stated deviation, which grows."""
    deviation = (0.2 + 0.02 * time[:, None]) * (1.0, 1.2, 0.3)
    error = 1.5 * deviation * np.sin(0.13 * time[:, None] + (0.3, 1.1, 2.0))
    current = np.column_stack([0.2 - 0.2 * np.exp(-time / 20), 0.3 + 0 * time, 0 * time])
    turned, moved = 0.02 * deviation, 0.1 * np.hstack([deviation, 0.3 * deviation])
    # The second sensor is rejected for a while, the third silent.
    lost = np.column_stack([np.where(time > 20, 2.0, 0.0), np.where(time > 30, 4.0, 0.0)])
    believed = [position + error, attitude, velocity + 0.01, current]
    return np.hstack([*believed, deviation, turned, moved, lost])


STATION = (12.0, -7.0)
"""North and east, m."""


def _guidance(time):
    leg = np.searchsorted(LEG_ENDS, time, side="right")
    outcome = np.array([0, *LEG_CODES])[leg]
    off = np.where(leg < 2, 1.5 * np.sin(0.4 * time) - 0.3, 0.0)
    to_go = np.abs(20.0 - (1.3 * time) % 20.0)
    rule = np.where((time > 3.0) & (time < 8.0), 2.0, 0.0)
    # A course is asked for on the tracks, a heading and a place on the station.
    asked = [np.where(leg < 2, 2 + 4, 1 + 64), np.where(leg < 2, 0.05 * time, 0.5)]
    asked += [np.where(leg < 2, 1.2, 0.0), *np.zeros((3, len(time)))]
    asked += [np.where(leg < 2, 0.0, part) for part in STATION]
    # The battery runs low, while the position is uncertain for a time.
    low, vague = time > 39.95, (time > 10.45) & (time < 11.95)
    failsafes = np.where(low, 8.0, 0.0) + np.where(vague, 1.0, 0.0)
    action = np.where(low, 4.0, np.where(vague, 3.0, 0.0))
    return np.column_stack([leg, outcome, off, to_go, rule, failsafes, action, *asked])


def quaternion(roll, pitch, yaw):
    """Scalar-first quaternion of ZYX Euler angles."""
    cr, sr = np.cos(roll / 2), np.sin(roll / 2)
    cp, sp = np.cos(pitch / 2), np.sin(pitch / 2)
    cy, sy = np.cos(yaw / 2), np.sin(yaw / 2)
    return np.stack(
        [
            cr * cp * cy + sr * sp * sy,
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
        ],
        axis=-1,
    )
