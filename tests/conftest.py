"""What every test shares: numerics without surprises, and repeat runs that start fast."""

import gc
import os
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from sampling import HERE, TURNS, in_turn

ROOT = Path(__file__).resolve().parents[1]

# The path tracer of plain code runs wherever the suite does, and draws the same bytes everywhere.
os.environ.setdefault("SEATRIAL_TRACER", "scalar")

# Deadlines would make a busy machine fail a test. Derandomised, a failure is there for everyone.
settings.register_profile(
    "seatrial",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("seatrial")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--turn",
        type=int,
        metavar="COMMITS",
        help=f"of the long files run one in {TURNS}, by the number of commits",
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A long file whose turn it is not is left out; without `--turn` all of them are run."""
    turn = config.getoption("turn")
    return True if turn is not None and collection_path in in_turn(turn)[1] else None


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Nothing is left out silently."""
    turn = config.getoption("turn")
    if turn is not None:
        absent = sorted(str(path.relative_to(HERE).with_suffix("")) for path in in_turn(turn)[1])
        terminalreporter.section(
            f"turn {turn % TURNS + 1} of {TURNS}: files that have another turn"
        )
        terminalreporter.write_line(textwrap.fill(", ".join(absent), 100))


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


@pytest.fixture
def shaders() -> None:
    """Skips a test where shaders cannot draw, and says why."""
    from seatrial.render.renderers import trouble

    found = trouble("shaders")
    if found is not None:
        pytest.skip(f"shaders cannot draw here: {found[0]} (to mend: {found[1]})")


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
