"""The one thread of a process that draws with OpenGL, and its context without a window.

A context belongs to a thread, and pictures are asked for by several: all of them hand their work to
one thread, which has the context and everything on the card. Other processes have their own; a
process that was forked from one that drew cannot draw.
"""

import ctypes
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from ctypes.util import find_library
from functools import cache
from importlib.util import find_spec
from typing import Any, TypeVar

T = TypeVar("T")

OLDEST = 330
"""Version of OpenGL that is needed, times a hundred."""
MOST_DEVICES = 8
"""That are tried: one that may not be used (a GPU of somebody else) comes before Mesa's own."""
PACKAGES = "libegl1 libgl1-mesa-dri"
"""Of Debian, that bring EGL and Mesa."""


@cache
def trouble() -> tuple[str, str] | None:
    """Why nothing can be drawn here, and what mends it; None where it can."""
    if find_spec("moderngl") is None:
        return "the package moderngl is not installed", "pip install 'seatrial[shaders]'"
    try:
        on_card(lambda card: None)
    except Exception as error:  # whatever a driver says
        return (
            f"no OpenGL {OLDEST / 100:.1f} without a window: {error}",
            f"install a driver with EGL, on Debian without a GPU: apt-get install {PACKAGES}",
        )
    return None


def on_card(work: Callable[["Context"], T]) -> T:
    """Have something done by the thread that draws; what it raises is raised here."""
    return _thread().submit(lambda: work(_context())).result()


@cache
def _thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="shaders")


class Context:
    """OpenGL as `moderngl` has it, in the thread that draws."""

    def __init__(self) -> None:
        import moderngl

        self.gl: Any = _opened(moderngl)
        self.kept: dict[Any, Any] = {}
        """What whoever draws keeps from picture to picture."""
        # Called past moderngl, whose own call would hold up every other thread of Python until all
        # is drawn.
        egl = ctypes.CDLL(find_library("EGL") or "libEGL.so.1")
        egl.eglGetProcAddress.restype = ctypes.c_void_p
        self.finish: Callable[[], None] = ctypes.CFUNCTYPE(None)(egl.eglGetProcAddress(b"glFinish"))

    @property
    def name(self) -> str:
        """Of the card, as its driver says it."""
        return str(self.gl.info["GL_RENDERER"])


def _opened(moderngl: Any) -> Any:
    # Without a GL library beside it, EGL itself knows the functions.
    libraries = {"libgl": find_library("GL") or find_library("EGL")}
    first: Exception | None = None
    for device in range(MOST_DEVICES):
        try:
            return moderngl.create_context(
                standalone=True, require=OLDEST, backend="egl", device_index=device, **libraries
            )
        except Exception as error:
            first = first or error
    assert first is not None
    raise first


@cache
def _context() -> Context:
    """Only in the thread that draws."""
    return Context()
