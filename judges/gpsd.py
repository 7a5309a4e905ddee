"""gpsd, Debian's, takes the NMEA stream of a run and reports where the vessel is.

    python judges/gpsd.py [FOLDER]

The packages are downloaded and unpacked below the folder. Every position that gpsd reports is held
against the run's own recording, and the AIS stations that it hears are listed.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from debian import unpack

import seatrial as st
from seatrial.bridges.nmea.bridge import NmeaBridge
from seatrial.bridging import run_bridged
from seatrial.spatial.geodesy import to_ned

PACKAGES = ["gpsd", "libgps28", "libusb-1.0-0", "libbluetooth3"]
SECONDS = 20.0


def main(folder: Path) -> None:
    """Run, listen, compare."""
    root = unpack(PACKAGES, folder)
    libraries = next(root.glob("usr/lib/*/libgps.so*")).parent
    bridge = NmeaBridge("tcp://127.0.0.1:0")
    port = int(bridge.place.split()[-1])
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        control = trial.getsockname()[1]
    command = [root / "usr/sbin/gpsd", "-N", "-n", "-S", str(control), f"tcp://127.0.0.1:{port}"]
    environment = os.environ | {"LD_LIBRARY_PATH": str(libraries)}
    heard: list[dict] = []
    plan = st.compile_scenario("demo")
    plan = st.compile_scenario(plan.scenario.model_copy(update={"duration": SECONDS}))
    with subprocess.Popen(command, env=environment) as gpsd:
        try:
            time.sleep(1.0)
            client = socket.create_connection(("127.0.0.1", control))
            client.sendall(b'?WATCH={"enable":true,"json":true};\n')
            finished = run_bridged(plan, [bridge], out=folder / "run.mcap", pace=2.0)
            time.sleep(1.0)
            client.setblocking(False)
            text = b""
            try:
                while data := client.recv(1 << 20):
                    text += data
            except BlockingIOError:
                pass
            heard = [json.loads(line) for line in text.splitlines()]
        finally:
            gpsd.terminate()
    places = [h for h in heard if h["class"] == "TPV" and "lat" in h and "time" in h]
    stations = {h["mmsi"]: h["type"] for h in heard if h["class"] == "AIS"}
    samples = finished.recording.sensor("otter", "gnss")
    errors = []
    for place in places:
        second = float(place["time"][17:-1]) + 60.0 * float(place["time"][14:16])
        row = int(np.argmin(np.abs(samples.time.values - second)))
        north, east, _ = to_ned(place["lat"], place["lon"], 0.0, plan.header.datum)
        errors.append(
            float(np.hypot(north - samples.north.values[row], east - samples.east.values[row]))
        )
    worst = max(errors, default=float("nan"))
    print(f"{len(places)} positions of {samples.sizes['time']} samples, at most {worst:.3f} m off")
    print(f"{bridge.counts['sent']} sentences; AIS stations and their last messages: {stations}")
    if len(places) < 0.8 * samples.sizes["time"] or not worst < 0.05 or not stations:
        raise SystemExit("gpsd and the recording do not agree")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="seatrial-gpsd-")))
