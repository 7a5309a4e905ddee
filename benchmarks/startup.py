"""How long a person waits: import, first start, second start of a scenario; prints JSON.

Every figure is the wall time of a fresh process. The first start has an empty program cache.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

SCENARIO = "otter-turning-circle"


def seconds(code: str, cache: str) -> float:
    environment = os.environ | {"XDG_CACHE_HOME": cache}
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    return time.perf_counter() - began


def main() -> None:
    run = f"import seatrial as st; st.run({SCENARIO!r})"
    with tempfile.TemporaryDirectory() as cache:
        print(
            json.dumps(
                {
                    "scenario": SCENARIO,
                    "python_s": min(seconds("pass", cache) for _ in range(3)),
                    "import_seatrial_s": min(seconds("import seatrial", cache) for _ in range(3)),
                    "first_start_s": seconds(run, cache),
                    "second_start_s": min(seconds(run, cache) for _ in range(3)),
                },
                indent=2,
            )
        )


if __name__ == "__main__":
    main()
