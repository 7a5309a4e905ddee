"""Meshes in the formats of other programs, read by trimesh."""

import logging
from pathlib import Path
from typing import Any


def load_mesh(path: Path, **options: Any) -> Any:
    """All triangles of a file as one of trimesh's meshes; raises whatever its parsers do.

    Where one of its readers gives up and another tries, trimesh logs a stack trace, which Python
    prints unless somebody listens.
    """
    import trimesh

    log = logging.getLogger("trimesh")
    if not log.handlers:
        log.addHandler(logging.NullHandler())
    return trimesh.load(path, force="mesh", **options)
