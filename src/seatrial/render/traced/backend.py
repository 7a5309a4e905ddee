"""What Mitsuba runs on here: a GPU, the vector units of the processor through LLVM, or plain code.

Dr.Jit compiles kernels for CUDA, or for the processor with a shared library of LLVM. One older than
LLVM 19 aborts the process in the middle of a kernel, so a library is first tried in a process of
its own. Without either, Mitsuba's scalar variant works everywhere, on all cores.
"""

import os
import re
import subprocess
import sys
from functools import cache
from glob import glob
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple

from seatrial.errors import SeatrialError

Kind = Literal["cuda", "llvm", "scalar"]
KINDS: tuple[Kind, ...] = ("cuda", "llvm", "scalar")

OLDEST_LLVM = 19
CHOICE = "SEATRIAL_TRACER"
"""Environment variable that names a kind, for whoever wants another than the fastest."""
_LIBRARY = "DRJIT_LIBLLVM_PATH"
_PATIENCE = 120.0
"""For a trial to end, s."""
_PLACES = (
    "/usr/lib/llvm-*/lib/libLLVM*.so*",
    "/usr/lib/*/libLLVM*.so*",
    "/usr/lib64/libLLVM*.so*",
    "/usr/local/lib/libLLVM*.so*",
    "/opt/homebrew/opt/llvm*/lib/libLLVM*.dylib",
    "~/.rustup/toolchains/*/lib/libLLVM*.so*",
)
"""Where systems keep LLVM; the compiler of Rust brings one along."""
_TRIAL = """
import sys
import mitsuba as mi
mi.set_variant(sys.argv[1])
import drjit as dr
x = dr.arange(mi.Float, 1000)
found = dr.sum(dr.maximum(dr.sin(x), -1.0) ** 2 + dr.gather(mi.Float, x, mi.UInt32(x) // 2) * 0.0)
sys.exit(0 if abs(found[0] - 500.0) < 5.0 else 1)
"""


class Backend(NamedTuple):
    """What was chosen, and why."""

    kind: Kind
    said: str
    """For whoever waits for the pictures."""

    @property
    def variant(self) -> str:
        """As Mitsuba calls it."""
        return "scalar_rgb" if self.kind == "scalar" else f"{self.kind}_ad_rgb"

    @property
    def compiled(self) -> bool:
        """Whether it runs kernels of ours."""
        return self.kind != "scalar"


def mitsuba() -> Any:
    """The package, with its variant chosen."""
    chosen = backend()  # before the import, at which Dr.Jit looks for LLVM
    import mitsuba as module

    if module.variant() is None:
        module.set_variant(chosen.variant)
    return module


@cache
def backend() -> Backend:
    """The fastest that works here, or the one that `SEATRIAL_TRACER` names."""
    if find_spec("mitsuba") is None:
        raise SeatrialError("path-traced pictures need Mitsuba 3: pip install 'seatrial[pictures]'")
    wanted = os.environ.get(CHOICE)
    if wanted is not None and wanted not in KINDS:
        raise SeatrialError(f"{CHOICE} is {wanted!r}, expected one of {', '.join(KINDS)}")
    tries = {"cuda": _cuda, "llvm": _llvm}
    for kind in KINDS[:2]:
        if wanted in (None, kind):
            said = tries[kind]()
            if said is not None:
                return Backend(kind, said)
            if wanted == kind:
                raise SeatrialError(f"{CHOICE} asks for {kind}, which does not work here")
    return Backend("scalar", "path tracing on the processor, without LLVM 19 or newer: slower")


def _cuda() -> str | None:
    if not os.path.exists("/dev/nvidiactl") and not glob("/dev/dxg"):
        return None
    return "path tracing on the GPU" if _works("cuda_ad_rgb") else None


def _llvm() -> str | None:
    """Says so and tells Dr.Jit which library, if one is fit."""
    given = os.environ.get(_LIBRARY)
    for library in [given] if given else _libraries():
        if _works("llvm_ad_rgb", library):
            os.environ[_LIBRARY] = library
            return f"path tracing on the processor by LLVM ({os.path.basename(library)})"
    return None


def _libraries() -> list[str]:
    """Libraries of LLVM that are new enough by their names, the newest first, one of each kind."""
    found: dict[str, tuple[int, str]] = {}
    for place in _PLACES:
        for path in sorted(glob(os.path.expanduser(place))):
            version = re.search(r"libLLVM\D*?(\d+)", os.path.basename(path))
            if version and int(version[1]) >= OLDEST_LLVM:
                found.setdefault(os.path.realpath(path), (int(version[1]), path))
    return [path for _, path in sorted(found.values(), reverse=True)]


def _works(variant: str, library: str | None = None) -> bool:
    """Whether a small kernel runs, in a process that may die of it."""
    with_library = os.environ if library is None else {**os.environ, _LIBRARY: library}
    try:
        ended = subprocess.run(
            [sys.executable, "-c", _TRIAL, variant],
            env=dict(with_library),
            capture_output=True,
            timeout=_PATIENCE,
        )
    except subprocess.TimeoutExpired:
        return False
    return ended.returncode == 0
