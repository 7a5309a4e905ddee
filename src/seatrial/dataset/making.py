"""A sequence on the disk: the tables of a flight first, then its pictures, in any order.

The manifest is written when all tables are there; from then on everything that is to be drawn can
be told from the folder, and whoever is killed goes on where it stopped.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from io import BufferedRandom
from pathlib import Path
from typing import Any, TypeVar

from seatrial._version import __version__
from seatrial.dataset.files import (
    JOURNAL,
    PARTIAL,
    SUMS,
    Journal,
    complaints,
    line,
    put,
    trouble,
)
from seatrial.dataset.flight import Array, Motion, Samples
from seatrial.dataset.names import CAMERA_TYPES, LETTERS, Picture, sensor_folder
from seatrial.dataset.pictures.drawing import (
    DEPTH_RANGE,
    FILES,
    Drawn,
    Frame,
    Painter,
    Take,
    Viewpoint,
)
from seatrial.dataset.pictures.pool import shared_out
from seatrial.dataset.sequence import (
    FORMAT,
    MANIFEST,
    Camera,
    Dataset,
    DatasetSensor,
    read_manifest,
)
from seatrial.dataset.stream import check_stream, write_stream
from seatrial.dataset.tables import MOTION, motion_table, read_motion, read_table, table, words
from seatrial.errors import DatasetError
from seatrial.locking import open_alone

LOCK = ".lock"
OURS = re.compile(
    rf"veh[0-9A-Za-z]|{re.escape(LOCK)}"
    rf"|({re.escape(MANIFEST)}|scenario\.yaml|{SUMS}|{re.escape(JOURNAL)})(\.\d+{re.escape(PARTIAL)})?"
)
"""What a kill before the manifest was there may leave, whole or half written."""
AnyFrame = TypeVar("AnyFrame", bound=Frame)


@dataclass(frozen=True)
class Settings:
    """What decides the bytes of a dataset besides its scenario."""

    sequence: str
    renderer: str
    letters: str
    options: dict[str, Any] = field(default_factory=dict)
    """Of the renderer."""


@dataclass(frozen=True)
class CameraFlight:
    """A camera, and where it was."""

    camera: Camera
    motion: Motion
    """Of its vehicle, at every frame and one more, to which the last one's optical flow leads."""
    others: Array | None
    """(F + 1, V, 7) poses of all vehicles at the same instants, NaN for its own where the camera
    does not see it; None where there is no vehicle to be seen."""


@dataclass(frozen=True)
class Flight:
    """Everything that was flown."""

    scenario: str
    seed: int
    vehicles: tuple[str, ...]
    samples: tuple[Samples, ...]
    cameras: tuple[CameraFlight, ...]


def check_counts(**counts: int | None) -> None:
    """Refuse counts by the names of their options that are given and below 1."""
    for name, value in counts.items():
        if value is not None and value < 1:
            raise DatasetError(
                f"--{name} {value}: out of range\n  expected: a whole number, at least 1"
            )


def manifest_of(
    described: dict[str, Any], settings: Settings, cameras: Sequence[Camera], classes: Sequence[str]
) -> dict[str, Any]:
    """What a dataset says of itself; the sensors come with the flight."""
    return {
        "format": FORMAT,
        "seatrial": __version__,
        "sequence": settings.sequence,
        "renderer": settings.renderer,
        "options": settings.options,
        "cameras": [_plain(camera) for camera in cameras],
        "passes": {letter: list(FILES[letter]) for letter in settings.letters},
        "depth_range": list(DEPTH_RANGE),
        "classes": list(classes),
        **described,
    }


def _plain(of: Camera | DatasetSensor) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(json.dumps(asdict(of)))
    return plain


class Making:
    """A folder in which a dataset is made, by one at a time."""

    def __init__(self, folder: Path, wanted: dict[str, Any]) -> None:
        """`wanted` is the manifest without what only the flight tells."""
        self.folder = folder
        with complaints(folder):
            if folder.exists() and not folder.is_dir():
                raise DatasetError(
                    f"{folder}: is a file\n  expected: a folder, or a name that is free\n"
                    "  to mend:  choose another one with --out"
                )
            found = read_manifest(folder)
            if found is None:
                _refuse_other_things(folder)
            else:
                _refuse_another(folder, found, wanted)
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = _alone(folder)
        self.manifest = found
        self._wanted = wanted
        self.journal = Journal(folder)
        if found is None:
            # Begun by a flight that was killed, which may have been another one.
            self.journal.forget()
        elif MANIFEST not in self.journal.known:
            # A kill came between the manifest and its checksum.
            self.journal.add([line(MANIFEST, (folder / MANIFEST).read_bytes())])

    def put(self, name: str, data: bytes) -> None:
        """A file that is told of at once."""
        self.journal.add([put(self.folder, name, data)])

    def begin(self, sensors: Sequence[DatasetSensor]) -> None:
        """The tables are there: from now on what is missing is pictures."""
        self.manifest = self._wanted | {"sensors": [_plain(sensor) for sensor in sensors]}
        text = json.dumps(self.manifest, indent=2, ensure_ascii=False)
        self.put(MANIFEST, (text + "\n").encode())

    @property
    def data(self) -> Dataset:
        """What is there."""
        assert self.manifest is not None
        return Dataset(self.folder, self.manifest)

    def missing(self, frames: Sequence[AnyFrame]) -> list[AnyFrame]:
        """Frames of which a file is not there, or not as it was written."""
        return [frame for frame in frames if not self.journal.has(self._names(frame))]

    def check_tables(self) -> None:
        """Refuse a folder in which what the pictures are drawn from was changed."""
        known = self.journal.known
        written = {n for n in known if n.endswith((".csv", ".yaml", ".json")) and "/L/" not in n}
        for name in sorted(written.union(_tables(self.data))):
            wrong = (
                trouble(self.folder, name, known[name])
                if name in known
                else "its checksum is lost, nobody can tell whether it was changed"
            )
            if wrong is not None:
                raise DatasetError(
                    f"{self.folder / name}: {wrong}\n"
                    "  expected: the tables of a dataset as they were written\n"
                    "  to mend:  remove the folder, or choose another one with --out"
                )

    def _names(self, frame: Frame) -> list[str]:
        passes = self.data.manifest["passes"]
        return [
            self._name(frame, letter, ending)
            for letter, endings in passes.items()
            for ending in endings
        ]

    def _name(self, frame: Frame, letter: str, ending: str) -> str:
        camera = self.data.cameras[frame.camera]
        sequence = self.data.manifest["sequence"]
        return Picture(sequence, camera.vehicle, camera.camera, letter, frame.number, ending).path

    def draw(
        self,
        painter: Callable[[], Callable[[Any], tuple[Frame, list[Drawn]]]],
        frames: Sequence[Any],
        workers: int,
        progress: Callable[[float], None] | None,
    ) -> None:
        """Draw frames, in any order, and write each as it comes."""
        for done, (frame, drawn) in enumerate(shared_out(painter, frames, workers), start=1):
            self.journal.add(
                put(self.folder, self._name(frame, d.letter, d.ending), d.data) for d in drawn
            )
            if progress is not None:
                progress(done / len(frames))

    def finish(self) -> None:
        """The checksums of everything."""
        self.journal.finish()
        self.close()

    def close(self) -> None:
        """Let others have the folder."""
        self.journal.close()
        self._lock.close()
        (self.folder / LOCK).unlink(missing_ok=True)


def _tables(data: Dataset) -> Iterator[str]:
    """What every sequence has besides pictures."""
    yield "scenario.yaml"
    for sensor in data.sensors:
        for name in ("noisy.csv", "noise_free.csv", "ground_truth.csv", "sensor.yaml"):
            yield f"{sensor.folder}/{name}"
    for camera in data.cameras:
        for name in ("data.csv", "ground_truth.csv", "shots.csv", "sensor.yaml"):
            yield f"{camera.folder}/{name}"


def _alone(folder: Path) -> BufferedRandom:
    try:
        return open_alone(folder / LOCK)
    except BlockingIOError:
        raise DatasetError(
            f"{folder}: another process is making a dataset there\n"
            "  expected: a folder of its own for each\n"
            "  to mend:  wait until the other one has ended, or choose another one with --out"
        ) from None


def _refuse_other_things(folder: Path) -> None:
    """A folder without a manifest is empty, or was left before its tables were written."""
    if not folder.is_dir():
        return
    other = sorted(p.name for p in folder.iterdir() if not OURS.fullmatch(p.name))
    if other:
        raise DatasetError(
            f"{folder}: holds other things\n"
            f"  found:    {', '.join(other[:5])}\n"
            "  expected: an empty folder, one that is not there, or a dataset to be gone on with\n"
            "  to mend:  choose another one with --out"
        )


def _refuse_another(folder: Path, found: dict[str, Any], wanted: dict[str, Any]) -> None:
    """A dataset of another scenario, or with other settings, is not mixed with this one."""
    different = _difference({k: found.get(k) for k in wanted}, wanted)
    if different is None:
        return
    path, there, expected = different
    raise DatasetError(
        f"{folder}: holds another dataset, which differs in `{path}`\n"
        f"  found:    {json.dumps(there)}\n"
        f"  expected: {json.dumps(expected)}\n"
        "  to mend:  choose another folder with --out, or say what was said when it was begun"
    )


def _difference(there: Any, wanted: Any, path: str = "") -> tuple[str, Any, Any] | None:
    """Where two manifests first differ, and what stands there."""
    if isinstance(there, dict) and isinstance(wanted, dict) and there.keys() == wanted.keys():
        parts = [(f"{path}.{key}" if path else key, there[key], wanted[key]) for key in wanted]
    elif isinstance(there, list) and isinstance(wanted, list) and len(there) == len(wanted):
        parts = [(f"{path}[{i}]", *pair) for i, pair in enumerate(zip(there, wanted, strict=True))]
    else:
        return None if there == wanted else (path, there, wanted)
    return next((d for p, a, b in parts if (d := _difference(a, b, p)) is not None), None)


def write_tables(making: Making, flight: Flight, scenario: str) -> None:
    """Everything of a flight but its pictures, then the manifest."""
    making.put("scenario.yaml", scenario.encode())
    sensors = []
    for s in flight.samples:
        folder = sensor_folder(s.vehicle, s.kind, s.number)
        making.put(f"{folder}/noisy.csv", table(s.columns, s.motion.stamp, s.noisy))
        making.put(f"{folder}/noise_free.csv", table(s.columns, s.motion.stamp, s.exact))
        making.put(f"{folder}/ground_truth.csv", motion_table(s.motion))
        sensor = DatasetSensor(folder, s.name, s.vehicle, s.kind, s.rate, s.mounting, s.noise)
        making.put(f"{folder}/sensor.yaml", _sheet(_plain(sensor)))
        sensors.append(sensor)
    for flown in flight.cameras:
        _write_camera(making, flown, making._wanted["sequence"])
    making.begin(sensors)


def _write_camera(making: Making, flown: CameraFlight, sequence: str) -> None:
    camera, motion = flown.camera, flown.motion
    folder = camera.folder
    seen = motion.part(slice(0, camera.frames))
    making.put(f"{folder}/ground_truth.csv", motion_table(seen))
    making.put(f"{folder}/shots.csv", motion_table(motion))
    if flown.others is None:
        # What a kill left of a flight with others, before its checksum was told.
        (making.folder / folder / "others.csv").unlink(missing_ok=True)
    else:
        count = flown.others.shape[1]
        names = tuple(f"veh{v} {c}" for v in range(count) for c in MOTION[:7])
        rows = flown.others.reshape(len(motion.stamp), -1)
        making.put(f"{folder}/others.csv", table(names, motion.stamp, rows))
    names_of = [
        (Picture(sequence, camera.vehicle, camera.camera, "A", i).file,)
        for i in range(camera.frames)
    ]
    making.put(f"{folder}/data.csv", words(("filename",), seen.stamp, names_of))
    making.put(f"{folder}/sensor.yaml", _sheet(_plain(camera)))


def _sheet(facts: dict[str, Any]) -> bytes:
    """Facts of a sensor as YAML, of which JSON is a part."""
    facts = dict(facts)
    position, orientation = facts.pop("mounting")
    facts["position"] = position
    facts["orientation"] = orientation
    notes = {
        "position": "in the vehicle's axes (forward, starboard, down), m",
        "orientation": "quaternion, scalar first, from the sensor's axes to the vehicle's",
        "intrinsics": "fx, fy, cx, cy, px; the middle of the first pixel is 0",
        "distortion": "Brown's k1, k2, p1, p2, k3, in OpenCV's order",
        "rate": "Hz",
    }
    lines = []
    for key, value in facts.items():
        note = f"  # {notes[key]}" if key in notes else ""
        lines.append(f"{key}: {json.dumps(value, ensure_ascii=False)}{note}")
    return ("\n".join(lines) + "\n").encode()


def frames_of(data: Dataset, viewpoints: Sequence[Viewpoint]) -> list[Take]:
    """Every frame of every camera, from the tables."""
    found = []
    for k, (camera, viewpoint) in enumerate(zip(data.cameras, viewpoints, strict=True)):
        motion = read_motion(data.folder / camera.folder / "shots.csv")
        path = data.folder / camera.folder / "others.csv"
        others = read_table(path)[2].reshape(len(motion.stamp), -1, 7) if path.is_file() else None
        shots = [
            viewpoint.shot(motion.part(slice(i, i + 1)), None if others is None else others[i])
            for i in range(len(motion.stamp))
        ]
        found += [Take(k, i, shots[i], shots[i + 1]) for i in range(camera.frames)]
    return found


def finish_sequence(making: Making) -> None:
    """The stream of everything, then the checksums."""
    name = f"seq{making.data.manifest['sequence']}.stream"
    making.put(name, write_stream(making.data))
    check_stream(making.data, making.folder / name)
    making.finish()


def camera_name(looks_down: bool, pair: str, taken: Sequence[str]) -> str:
    """Type and number of a vehicle's next camera; `pair` is `L` or `R` of a stereo pair."""
    letter = pair or ("D" if looks_down else "M")
    assert letter in CAMERA_TYPES
    return f"{letter}{LETTERS[sum(name[0] == letter for name in taken)]}"


def draw_sequence(
    making: Making,
    painter: Painter,
    viewpoints: Sequence[Viewpoint],
    workers: int,
    progress: Callable[[float], None] | None,
) -> int:
    """Draw what is missing, and finish; returns how many frames were drawn."""
    making.check_tables()
    missing = making.missing(frames_of(making.data, viewpoints))
    making.draw(painter, missing, workers, progress)
    finish_sequence(making)
    return len(missing)
