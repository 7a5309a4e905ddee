"""One browser for all tests of the page; they are skipped where none can be had, and say so."""

import pytest
from chromium import HERE, Chromium

from seatrial.viewer.server import STATIC


@pytest.fixture(scope="session")
def browser():
    missing = [
        what
        for what, there in (
            ("npm packages: make browser", (HERE / "node_modules").is_dir()),
            ("the built page: make web", (STATIC / "index.html").is_file()),
        )
        if not there
    ]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}")
    made = Chromium()
    yield made
    made.quit()
