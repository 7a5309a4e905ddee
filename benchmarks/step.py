"""Cost of one step for every library vehicle, alone and 500 at once; prints JSON.

The same as `seatrial bench step --json`.
"""

from seatrial.cli.measured.bench import show_steps
from seatrial.validation.timing.steps import step_cases

if __name__ == "__main__":
    show_steps(step_cases(None, "double"), as_json=True)
