"""A small recording to damage, and all that can be read of it."""

import dataclasses

import record_frames as rf
import record_sensors as rs

from seatrial.engine.frames import Scene, vehicle_bodies
from seatrial.record.reader import read

BOAT = dataclasses.replace(rf.BOAT, sensors=(rs.SENSORS[0],), faults=rs.FAULTS[:1])
SCENE = Scene(water_depth=40.0, bodies=vehicle_bodies((BOAT,)))


def write(sink, block=10, finished=True):
    run = rs.whole_run((BOAT,))
    sink.open(rf.header((BOAT,), rs.DURATION), SCENE)
    for part in rf.blocks(run, block):
        sink.write(part)
    if finished:
        sink.close(rf.summary((BOAT,), rs.DURATION))


def everything(path):
    """All that can be read, as plain bytes; a refusal is the only exception allowed."""
    recording = read(path)
    data = recording.dataset.load()
    samples = recording.samples("otter", "imu")
    parts = [
        repr((recording.header, recording.summary, recording.scene, recording.complete)),
        *(f"{name} {data[name].values.tolist()}" for name in sorted(map(str, data.variables))),
        *(f"{name} {array}" for name, array in vars(samples).items()),
    ]
    return "\n".join(parts)


def flip(data, bit):
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << (bit % 8)
    return bytes(changed)
