"""Cost of one step for every library vehicle, alone and 500 at once; prints JSON.

The same as `seatrial bench step --json`.
"""

from seatrial.cli.bench import show_steps

if __name__ == "__main__":
    show_steps(as_json=True, vehicles=None, precision="double")
