"""Run targets of the Makefile one after the other, and print a table of what passed.

python judges/table.py installed oldest
"""

import subprocess
import sys
import time

from rich.console import Console
from rich.table import Table


def main(targets: list[str]) -> None:
    """Run all of them, whatever becomes of one; exit code 1 unless all passed."""
    table = Table("judge", "verdict", "time")
    passed = True
    for target in targets:
        print(f"make {target}", flush=True)
        began = time.monotonic()
        good = subprocess.run(["make", "--no-print-directory", target], check=False).returncode == 0
        passed &= good
        table.add_row(target, "passed" if good else "FAILED", f"{time.monotonic() - began:.0f} s")
    Console().print(table)
    raise SystemExit(0 if passed else 1)


if __name__ == "__main__":
    main(sys.argv[1:])
