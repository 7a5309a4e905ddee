"""A recording for other programs: CSV for spreadsheets, NetCDF for xarray, MATLAB and Panoply."""

import csv
import re
from pathlib import Path
from typing import TYPE_CHECKING

from seatrial.errors import RecordingError
from seatrial.record.dataset import FAULT
from seatrial.record.reader import Recording, read
from seatrial.ros.layout import Array

if TYPE_CHECKING:
    import xarray

MOST_IN_CSV = 100
"""Vehicles that a folder of tables is of use for."""
FORMATS = {"csv": ".csv", "netcdf": ".nc"}

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


def export(recording: str | Path | Recording, to: str, out: str | Path | None = None) -> list[Path]:
    """Write `recording` as `csv` or `netcdf` and return the files made.

    Without `out` the files lie beside the recording. CSV makes one file per vehicle: `out` itself
    for a single vehicle, `STEM-NAME.csv` for several; and one per sensor, with `-SENSOR` added.
    NetCDF makes one file, with a group `VEHICLE/SENSOR` for every sensor.
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
    target = Path(out) if out is not None else run.path.with_suffix(FORMATS[to])
    try:
        return _write_csv(run, target) if to == "csv" else _write_netcdf(run, target)
    except OSError as error:
        raise RecordingError(
            f"{target}: cannot write the export ({error.strerror or error})\n"
            "  expected: a file in a folder that exists and is writable"
        ) from error


def _write_netcdf(run: Recording, target: Path) -> list[Path]:
    run.dataset.to_netcdf(target, engine="h5netcdf")
    for vehicle in run.header.vehicles:
        for sensor in vehicle.sensors:
            samples = run.sensor(vehicle.name, sensor.name)
            group = f"{_plain(vehicle.name)}/{_plain(sensor.name)}"
            samples.to_netcdf(target, mode="a", group=group, engine="h5netcdf")
    return [target]


def _write_csv(run: Recording, target: Path) -> list[Path]:
    written = []
    for vehicle in run.header.vehicles:
        path = target
        if len(run.header.vehicles) > 1:
            path = _beside(target, vehicle.name)
        _write_table(path, _columns(run.vehicle(vehicle.name)))
        written.append(path)
        for sensor in vehicle.sensors:
            table = _beside(path, sensor.name)
            _write_table(table, _sensor_columns(run.sensor(vehicle.name, sensor.name)))
            written.append(table)
    return written


def _plain(name: str) -> str:
    return re.sub(r"[^\w.-]", "_", name)


def _beside(path: Path, name: str) -> Path:
    return path.with_name(f"{path.stem}-{_plain(name)}{path.suffix or '.csv'}")


def _write_table(path: Path, columns: dict[str, Array]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        rows = zip(*(values.tolist() for values in columns.values()), strict=True)
        writer.writerows(rows)


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
