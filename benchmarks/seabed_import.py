"""Time to import a survey: soundings in text to a map on disk, as one JSON document.

python benchmarks/seabed_import.py [SOUNDINGS] [--as mesh]
"""

import argparse
import json
import tempfile
import time
from pathlib import Path

import numpy as np

from seatrial.bathymetry.choices import Choices
from seatrial.bathymetry.importing import import_seabed
from seatrial.bathymetry.store import write_map

LATITUDE, LONGITUDE = 58.9, 9.7


def write_survey(path: Path, count: int) -> None:
    """A multibeam survey: lines to and fro, in the order in which they were sailed."""
    random = np.random.default_rng(1)
    side = 2000.0
    beams = 100
    pings = -(-count // beams)
    along = np.linspace(0.0, 20.0 * side, pings, endpoint=False)
    line, way = np.divmod(along, side)
    way = np.where(line % 2, side - way, way)
    across = (line[:, None] + np.linspace(-0.55, 0.55, beams)) * side / 20.0
    north = (way[:, None] + random.normal(0.0, 0.3, across.shape)).ravel()[:count]
    east = (across + random.normal(0.0, 0.3, across.shape)).ravel()[:count]
    depth = (
        60.0 + 12.0 * np.sin(north / 160.0) * np.cos(east / 210.0) + random.normal(0, 0.05, count)
    )
    latitude = LATITUDE + north / 111_400.0
    longitude = LONGITUDE + east / (111_320.0 * np.cos(np.radians(LATITUDE)))
    np.savetxt(path, np.column_stack([latitude, longitude, depth]), "%.7f,%.7f,%.2f")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("soundings", nargs="?", type=int, default=1_000_000)
    parser.add_argument("--as", dest="method", choices=("grid", "mesh"), default="grid")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        survey = Path(folder) / "survey.xyz"
        write_survey(survey, asked.soundings)
        begun, used = time.perf_counter(), time.process_time()
        made = import_seabed([survey], Choices(method=asked.method))
        write_map(Path(folder) / "map.nc", made.terrain, made.report.datum, {})
        wall, used = time.perf_counter() - begun, time.process_time() - used
        found = {
            "soundings": asked.soundings,
            "as": asked.method,
            "text_bytes": survey.stat().st_size,
            "map_bytes": (Path(folder) / "map.nc").stat().st_size,
            "nodes": made.report.nodes,
            "spacing_m": made.report.spacing_m,
            "holes": made.report.holes,
            "seconds": round(wall, 2),
            "processor_seconds": round(used, 2),
        }
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
