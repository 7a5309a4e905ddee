"""Cost of one step for every library vehicle, alone and 500 at once; prints JSON.

The same as `seatrial bench step --json`.
"""

from seatrial.cli import bench

if __name__ == "__main__":
    bench.show(bench.step_cases(None, "double"), as_json=True)
