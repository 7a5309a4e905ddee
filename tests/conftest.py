"""What every test shares: numerics without surprises, and repeat runs that start fast."""

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parents[1]

# Deadlines would make a busy machine fail a test. Derandomised, a failure is there for everyone.
settings.register_profile(
    "seatrial",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("seatrial")


def pytest_configure(config: pytest.Config) -> None:
    """Keep compiled programs in pytest's own cache folder, for this process and those it starts.

    Most tests wait longer for a program than they run it, so it is compiled with few optimisations
    unless `XLA_FLAGS` says otherwise; the commands of the README are compiled as users have them.
    JAX reads these variables when it is first imported, which is after this hook.
    """
    folder = ROOT / ".pytest_cache"
    os.environ.setdefault("SEATRIAL_CACHE_DIR", str(folder / "seatrial"))
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(folder / "jax"))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    # Modules and traced programs stay to the end: looking for garbage among them takes a tenth.
    gc.set_threshold(50_000, 20, 50)
    quick = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
    os.environ.setdefault("XLA_FLAGS", quick)


MOST_MEMORY = 4_000_000_000
"""Of a process between two files of tests, bytes; beyond it compiled programs are let go."""


@pytest.fixture(scope="module", autouse=True)
def _bounded_memory() -> Iterator[None]:
    """Programs that a process holds on to add up over hundreds of tests; the disk has them all."""
    yield
    import sys

    if "jax" in sys.modules and _resident() > MOST_MEMORY:
        import jax

        from seatrial import programs

        programs.forget()
        jax.clear_caches()


def _resident() -> int:
    """Memory that this process has now, bytes; nothing is known of it outside Linux."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.fixture
def x64() -> Iterator[None]:
    """Double precision for a test that calls JAX itself; `jax.config` stays as it was.

    Rank promotion is not forbidden: batch axes broadcast on purpose, vehicles on the last.
    """
    import jax

    with jax.enable_x64(True):
        yield


@pytest.fixture(scope="session")
def repository() -> Path:
    """Top folder of the checkout."""
    return ROOT
