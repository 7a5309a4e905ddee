"""A recording for other programs: CSV for spreadsheets, NetCDF for xarray, MATLAB and Panoply.

Exports go through a recording part by part, as it lies in its file, so that they need no more
memory for a long one than for a short one.
"""

import csv
import errno
import math
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seatrial.errors import RecordingError
from seatrial.record.dataset import FAULT
from seatrial.record.foxglove import write_foxglove
from seatrial.record.lazy import LazyArray
from seatrial.record.place import as_path
from seatrial.record.reader import Recording, read
from seatrial.record.samples import label_samples, payload_dimensions
from seatrial.ros.layout import Array
from seatrial.signals import SensorInfo

if TYPE_CHECKING:
    import xarray

MOST_IN_CSV = 100
"""Vehicles that a folder of tables is of use for."""
FORMATS = {"csv": ".csv", "netcdf": ".nc", "foxglove": "-foxglove.mcap"}
"""What the names of files end in, beside the recording's."""
_SUFFIXES = {"csv": (".csv", ".txt"), "netcdf": (".nc", ".nc4"), "foxglove": (".mcap",)}
"""What names of the user's own may end in: under any other there may lie a description, a picture
or a recording, which an export would replace."""
_PAYLOAD_BYTES_AT_ONCE = 8 << 20
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_HDF5_HEADS = 4 << 20
"""What HDF5 may write beside the numbers, bytes."""
Told = Callable[[float], None]
"""Is told which share is done, 0 to 1."""

_COMPONENT_COLUMNS = {
    "position": ("north_m", "east_m", "down_m"),
    "attitude": ("q_w", "q_x", "q_y", "q_z"),
    "euler": ("roll_rad", "pitch_rad", "yaw_rad"),
    "velocity": ("u_m_s", "v_m_s", "w_m_s"),
    "angular_velocity": ("p_rad_s", "q_rad_s", "r_rad_s"),
    "acceleration": ("udot_m_s2", "vdot_m_s2", "wdot_m_s2"),
    "angular_acceleration": ("pdot_rad_s2", "qdot_rad_s2", "rdot_rad_s2"),
    "wave_velocity": ("wave_north_m_s", "wave_east_m_s", "wave_down_m_s"),
    "current": ("current_north_m_s", "current_east_m_s", "current_down_m_s"),
    "wind": ("wind_north_m_s", "wind_east_m_s", "wind_down_m_s"),
    "estimate_position": ("estimate_north_m", "estimate_east_m", "estimate_down_m"),
    "estimate_attitude": ("estimate_q_w", "estimate_q_x", "estimate_q_y", "estimate_q_z"),
    "estimate_velocity": ("estimate_u_m_s", "estimate_v_m_s", "estimate_w_m_s"),
    "estimate_angular_velocity": ("estimate_p_rad_s", "estimate_q_rad_s", "estimate_r_rad_s"),
    "estimate_current": (
        "estimate_current_north_m_s",
        "estimate_current_east_m_s",
        "estimate_current_down_m_s",
    ),
    "estimate_deviation": (
        "estimate_deviation_north_m",
        "estimate_deviation_east_m",
        "estimate_deviation_down_m",
    ),
}
_SCALAR_COLUMNS = {
    "speed": "speed_m_s",
    "wave_elevation": "wave_elevation_m",
    "density": "density_kg_m3",
    "wet_fraction": "wet_fraction",
    "leg": "leg",
    "leg_outcome": "leg_outcome",
    "cross_track_error": "cross_track_error_m",
    "distance_to_go": "distance_to_go_m",
}


def export(
    recording: str | Path | Recording,
    to: str,
    out: str | Path | None = None,
    progress: Told | None = None,
) -> list[Path]:
    """Write `recording` as `csv`, `netcdf` or for `foxglove` and return the files made.

    Without `out` the files lie beside the recording. CSV makes one file per vehicle: `out` itself
    for a single vehicle, `STEM-NAME.csv` for several; and one per sensor, with `-SENSOR` added.
    NetCDF makes one file, with a group `VEHICLE/SENSOR` for every sensor; it alone has the arrays
    of dense sensors. For Foxglove it is the recording once more, with what a 3-D view and a map
    need, and a layout beside it. `progress` is told the share that is done.
    """
    if to not in FORMATS:
        raise RecordingError(
            f"cannot export to {to!r}\n  expected: one of {', '.join(FORMATS)}\n"
            "  to mend:  seatrial export RUN.mcap --to csv"
        )
    run = recording if isinstance(recording, Recording) else read(recording)
    if to == "csv" and len(run.header.vehicles) > MOST_IN_CSV:
        raise RecordingError(
            f"{run.path}: {len(run.header.vehicles):,} vehicles are too many for CSV tables\n"
            f"  expected: at most {MOST_IN_CSV} vehicles, each with a table of its own\n"
            f"  to mend:  seatrial export {run.path} --to netcdf, or open it with xarray"
        )
    beside = run.path.with_name(f"{run.path.stem}{FORMATS[to]}")
    target = beside if out is None else as_path(out)
    _check_name(target, to, beside)
    files = _list_tables(run, target) if to == "csv" else [target]
    for file in files:
        _check_target(run.path, file)
    try:
        write = {"csv": _write_csv, "netcdf": _write_netcdf, "foxglove": write_foxglove}[to]
        return write(run, target, progress or (lambda share: None))
    except OSError as error:
        if error.errno in _NO_ROOM:  # what was cut short looks whole
            for file in files:
                file.unlink(missing_ok=True)
        raise RecordingError(
            f"{target}: cannot write the export ({error.strerror or error})\n"
            "  expected: a file in a folder that exists and is writable"
        ) from error


def _check_name(out: Path, to: str, beside: Path) -> None:
    """Refuse a name that is not one of a file of this format."""
    if out.suffix.lower() not in _SUFFIXES[to]:
        raise RecordingError(
            f"{out}: this is no name for an export to {to}\n"
            f"  expected: a file name that ends in {' or '.join(_SUFFIXES[to])}\n"
            f"  to mend:  --out {beside.name}"
        )


def _check_target(source: Path, target: Path) -> None:
    """Refuse to write an export over the recording that it is made from."""
    own, wanted = source.resolve(), target.resolve()
    same = target.exists() and source.exists() and target.samefile(source)
    if same or wanted == own or own in wanted.parents:
        raise RecordingError(
            f"{target}: this is the recording itself, which the export would overwrite\n"
            "  expected: another file\n"
            "  to mend:  choose another name with --out, or leave it out"
        )
    if target.is_dir():
        raise RecordingError(
            f"{target}: is a folder\n"
            "  expected: a file to write\n"
            "  to mend:  choose another name with --out"
        )


def _write_netcdf(run: Recording, target: Path, progress: Told) -> list[Path]:
    tables = [(v.name, s.name) for v in run.header.vehicles for s in v.sensors]
    _append_netcdf(target, None, run.dataset, _frames(run))
    for k, (vehicle, sensor) in enumerate(tables):
        progress((k + 1) / (len(tables) + 1))
        group = f"{_plain(vehicle)}/{_plain(sensor)}"
        parts = _samples(run, vehicle, sensor)
        empty = next(parts).isel(time=slice(0, 0))
        _append_netcdf(target, group, empty, _samples(run, vehicle, sensor))
    return [target]


def _frames(run: Recording) -> Iterator["xarray.Dataset"]:
    for part in run.source.parts():
        yield run.dataset.isel(time=part)


def _samples(run: Recording, vehicle: str, name: str) -> Iterator["xarray.Dataset"]:
    """The samples of a sensor with its arrays, part by part; the first part is an empty one."""
    info = next(v for v in run.header.vehicles if v.name == vehicle)
    sensor = next(s for s in info.sensors if s.name == name)
    payload = None if sensor.payload is None else run.payload(vehicle, name)
    row = 0
    yield _with_arrays(run.sensor(vehicle, name, (0.0, -1.0)), sensor, payload, slice(0, 0))
    for some in run.sample_parts(vehicle, name):
        samples = label_samples(info, sensor, some)
        count = samples.sizes["time"]
        per_row = 1 if payload is None else max(1, payload.nbytes // max(len(payload), 1))
        step = count if payload is None else max(1, _PAYLOAD_BYTES_AT_ONCE // per_row)
        for first in range(0, count, max(step, 1)):
            part = samples.isel(time=slice(first, first + step))
            rows = slice(row + first, row + first + part.sizes["time"])
            yield _with_arrays(part, sensor, payload, rows)
        row += count


def _with_arrays(
    samples: "xarray.Dataset", sensor: SensorInfo, payload: LazyArray | None, rows: slice
) -> "xarray.Dataset":
    if payload is None or sensor.payload is None:
        return samples
    info = sensor.payload
    about: dict[str, Any] = {"units": info.unit, "long_name": f"{info.kind} by {sensor.name}"}
    if info.fields:
        about["fields"] = " ".join(info.fields)
    array = payload[rows]
    return samples.assign({info.kind: (("time", *payload_dimensions(info)), array, about)})


def _append_netcdf(
    target: Path, group: str | None, whole: "xarray.Dataset", parts: Iterator["xarray.Dataset"]
) -> None:
    """Write a dataset whose variables over time come part by part."""
    import h5netcdf

    _check_room(target, 0)
    whole.isel(time=slice(0, 0)).to_netcdf(
        target,
        mode="w" if group is None else "a",
        group=group,
        engine="h5netcdf",
        unlimited_dims=["time"],
    )
    with h5netcdf.File(target, "a") as file:
        place = file if group is None else file[group]
        end = 0
        for part in parts:
            first, end = end, end + part.sizes["time"]
            place.resize_dimension("time", end)
            rows = {n: v for n, v in part.variables.items() if "time" in v.dims and end > first}
            _check_room(target, sum(_most_of(place.variables[n], end - first) for n in rows))
            for name, variable in rows.items():
                place.variables[name][first:end] = variable.values
            file.flush()


def _most_of(variable: Any, rows: int) -> int:
    """Bytes that so many rows take at most, where they begin and end within a chunk."""
    chunk = variable.chunks
    blocks = math.ceil(rows / chunk[0]) + 1
    others = math.prod(math.ceil(n / c) for n, c in zip(variable.shape[1:], chunk[1:], strict=True))
    return int(blocks * others * math.prod(chunk) * variable.dtype.itemsize)


def _check_room(target: Path, needed: int) -> None:
    """Raise what a full disk would: HDF5 that meets one when it closes a file ends the process."""
    if shutil.disk_usage(target.absolute().parent).free < needed + _HDF5_HEADS:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))


def _list_tables(run: Recording, target: Path) -> list[Path]:
    """Every CSV file of an export, in order."""
    tables = []
    for vehicle in run.header.vehicles:
        own = _own_table(run, target, vehicle.name)
        tables += [own, *(_beside(own, sensor.name) for sensor in vehicle.sensors)]
    return tables


def _own_table(run: Recording, target: Path, vehicle: str) -> Path:
    return target if len(run.header.vehicles) == 1 else _beside(target, vehicle)


def _write_csv(run: Recording, target: Path, progress: Told) -> list[Path]:
    steps = 1 + sum(len(v.sensors) for v in run.header.vehicles)
    done = 0
    with ExitStack() as stack:  # all vehicles at once: the recording is read once
        tables = {
            v.name: stack.enter_context(_Table(_own_table(run, target, v.name)))
            for v in run.header.vehicles
        }
        for part in (slice(0, 0), *run.source.parts()):
            for name, table in tables.items():
                table.write(_columns(run.vehicle(name, part)))
    for vehicle in run.header.vehicles:
        own = _own_table(run, target, vehicle.name)
        for sensor in vehicle.sensors:
            done += 1
            progress(done / steps)
            with _Table(_beside(own, sensor.name)) as table:
                table.write(_sensor_columns(run.sensor(vehicle.name, sensor.name, (0.0, -1.0))))
                for some in run.sample_parts(vehicle.name, sensor.name):
                    table.write(_sensor_columns(label_samples(vehicle, sensor, some)))
    return _list_tables(run, target)


def _plain(name: str) -> str:
    return re.sub(r"[^\w.-]", "_", name)


def _beside(path: Path, name: str) -> Path:
    return path.with_name(f"{path.stem}-{_plain(name)}{path.suffix or '.csv'}")


class _Table:
    """A CSV file that grows; its first columns, which may be empty, give the heading."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w", newline="", encoding="utf-8")
        self._writer = csv.writer(self._file, lineterminator="\n")
        self._begun = False

    def __enter__(self) -> "_Table":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, columns: dict[str, Array]) -> None:
        """Add rows."""
        if not self._begun:
            self._writer.writerow(columns)
            self._begun = True
        self._writer.writerows(zip(*(v.tolist() for v in columns.values()), strict=True))


def _sensor_columns(samples: "xarray.Dataset") -> dict[str, Array]:
    """Column name with its unit -> values, one sensor."""
    columns: dict[str, Array] = {"time_s": samples["time"].values}
    for name, variable in samples.data_vars.items():
        # `m s-2` becomes `m_s2`, and pure numbers have no unit
        unit = re.sub(r"\W+", "_", variable.attrs.get("units", "").replace("-", ""))
        columns[f"{name}_{unit}" if unit and not unit[0].isdigit() else str(name)] = variable.values
    return columns


def _columns(data: "xarray.Dataset") -> dict[str, Array]:
    """Column name with its unit -> values, one vehicle."""
    columns: dict[str, Array] = {"time_s": data["time"].values}
    for variable, names in _COMPONENT_COLUMNS.items():
        if variable in data:  # a Zarr store leaves some out
            columns |= {name: data[variable].values[:, i] for i, name in enumerate(names)}
    columns |= {
        n: data[variable].values for variable, n in _SCALAR_COLUMNS.items() if variable in data
    }
    for i, channel in enumerate(data["channel"].values):
        unit = re.sub(r"\W", "_", str(data["channel_unit"].values[i]))
        for variable in ("actuator", "command"):
            if variable in data:
                columns[f"{variable}_{channel}_{unit}"] = data[variable].values[:, i]
    if FAULT in data:
        for i, name in enumerate(data["fault_name"].values):
            label = re.sub(r"\W+", "_", str(name))
            columns[f"fault_{label}"] = data[FAULT].values[:, i]
    return columns
