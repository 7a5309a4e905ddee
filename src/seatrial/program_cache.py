"""Compiled programs on disk, so that the second start of a scenario is quick.

JAX keeps compiled programs in a folder when its option `jax_compilation_cache_dir` is set. It is
set here when the first scenario is compiled, unless the user's program or environment
(`JAX_COMPILATION_CACHE_DIR`) has chosen a folder already. No other JAX option is touched: double
precision is switched on only inside seatrial's own calls, with `jax.enable_x64`.
"""

import os
from pathlib import Path
from typing import Any


def folder() -> Path:
    """Where programs are kept: the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "seatrial" / "programs"


def use() -> None:
    """Let JAX keep compiled programs on disk; quietly do without where that is not possible."""
    import jax

    config: Any = jax.config  # its options are declared at run time, out of a type checker's sight
    if config.jax_compilation_cache_dir is not None:
        return
    try:
        folder().mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # a read-only home, or none at all
        return
    config.update("jax_compilation_cache_dir", str(folder()))
