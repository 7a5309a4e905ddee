"""What is in a recording, told by its index and description; no data are read."""

from pathlib import Path
from typing import Any

from seatrial.record.infos import without_nan
from seatrial.record.reader import Recording


def describe(run: Recording) -> dict[str, Any]:
    """A recording as plain data: what was run, how it ended, who took part and what was measured.

    `samples` are those in the file; in a Zarr store also the invalid ones.
    """
    header, summary = run.header, run.summary
    time = run.dataset["time"].values
    counts = run.source.counts()
    vehicles = []
    for vehicle in header.vehicles:
        end = None if summary is None else summary.vehicles[vehicle.name]
        events = () if end is None else end.events
        sensors = [
            {
                "name": sensor.name,
                "type": sensor.type,
                "rate_hz": sensor.rate,
                "samples": counts[vehicle.name, sensor.name],
            }
            for sensor in vehicle.sensors
        ]
        vehicles.append(
            {
                "name": vehicle.name,
                "kind": vehicle.kind,
                "status": None if end is None else end.status,
                "distance_m": None if end is None else end.distance,
                "legs": len(vehicle.legs),
                "faults": [fault.name for fault in vehicle.faults],
                "sensors": sensors,
                "events": [{"time_s": e.time, "text": e.text} for e in events],
            }
        )
    document = {
        "path": str(run.path),
        "bytes": _size(run.path),
        "complete": run.complete,
        "scenario": header.scenario,
        "seed": header.seed,
        "version": header.version,
        "status": None if summary is None else summary.status,
        "duration_s": float(time[-1]) if len(time) else 0.0,
        "duration_asked_s": header.duration,
        "frames": len(time),
        "frame_period_s": header.frame_period,
        "datum_deg": list(header.datum),
        "water_depth_m": header.water_depth,
        "vehicles": vehicles,
        "acts": [
            {"time_s": a.time, "who": a.who, "what": a.what, "value": a.value, "text": a.text}
            for a in run.acts
        ],
    }
    plain: dict[str, Any] = without_nan(document)
    return plain


def _size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else (path,)
    return sum(file.stat().st_size for file in files if file.is_file())
