"""How JAX programs are compiled, and kept on disk so that the second start is quick.

JAX keeps compiled programs in a folder when its option `jax_compilation_cache_dir` is set. It is
set here when the first scenario is compiled, unless the user's program or environment
(`JAX_COMPILATION_CACHE_DIR`) has chosen a folder already. No other JAX option that changes a
program is touched: double precision is switched on only inside seatrial's own calls, with
`jax.enable_x64`.
"""

import os
from pathlib import Path
from typing import Any

import jax


def compile_program(function: Any, *args: Any) -> Any:
    """Compile a jitted function for these arguments.

    XLA's newer fusion emitters on the CPU take twice as long to compile a step, and batches run
    at half the speed; a single vehicle is a fifth faster with them. XLA would also cut a large
    program into pieces that are compiled side by side; where it cuts changes how a step rounds,
    so that one more sensor on a vehicle could move its track by the last bit.
    """
    _keep_on_disk()
    options = (
        {"xla_cpu_use_fusion_emitters": False, "xla_cpu_parallel_codegen_split_count": 1}
        if jax.default_backend() == "cpu"
        else {}
    )
    return function.lower(*args).compile(compiler_options=options)


def folder() -> Path:
    """Where programs are kept: the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "seatrial" / "programs"


def _keep_on_disk() -> None:
    """Let JAX keep compiled programs on disk; quietly do without where that is not possible."""
    config: Any = jax.config  # its options are declared at run time, out of a type checker's sight
    if config.jax_compilation_cache_dir is not None:
        return
    try:
        folder().mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # a read-only home, or none at all
        return
    config.update("jax_compilation_cache_dir", str(folder()))
    # JAX keeps only what took over a second to compile; small programs add up at the start.
    config.update("jax_persistent_cache_min_compile_time_secs", 0.1)
