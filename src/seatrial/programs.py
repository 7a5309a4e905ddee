"""How JAX programs are compiled, and kept on disk so that the second start is quick.

The finished executables themselves are kept (`seatrial.cache`), under a key that is made of the
arguments: from it the way leads straight to the executable, without tracing, lowering or
compiling. The key tells everything that shapes a program: the function, the structure of its
arguments with all static values, shapes and types, compiler options, the machine, the versions
of Python and JAX, and seatrial's own code. Functions and classes from elsewhere are compiled as
usual and kept only by JAX.

An executable that came out of JAX's own persistent cache cannot be written again: the copy fails
when it is called. That cache is passed by here; the user's choice of it stays as it was, and no
JAX option that changes a program is touched: double precision is switched on only inside
seatrial's own calls, with `jax.enable_x64`.
"""

import contextlib
import functools
import os
import pickle
import signal
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

from seatrial import cache, fingerprint

KIND = "program"
OUTCOME = "outcome"

MOST_HELD = 20_000_000
"""Bytes of programs, as they are written, that a process holds on to; the one not used for longest
is let go. In memory they are thirty times as large."""

_OPTIONS: dict[str, Any] = {
    "xla_cpu_use_fusion_emitters": False,
    "xla_cpu_parallel_codegen_split_count": 1,
    "xla_cpu_prefer_vector_width": 512,
    "xla_disable_hlo_passes": "cse_barrier_expander",
}
"""XLA's newer fusion emitters on the CPU take twice as long to compile a step, and batches run
at half the speed; a single vehicle is a fifth faster with them. XLA would also cut a large program
into pieces that are compiled side by side; where it cuts changes how a step rounds, so that one
more sensor on a vehicle could move its track by the last bit. It takes vectors of 256 bits unless
told otherwise; with wider ones, where a processor has them, steps in waves are 15 to 25 % faster.
And it would drop barriers before it decides what is computed once and what again by everybody who
needs it (`core.step.accelerate`)."""

_UNKNOWN_SIZE = 2_000_000
"""What a program that is not written counts for."""

_SETTINGS = (
    *("jax_enable_x64", "jax_default_matmul_precision", "jax_numpy_dtype_promotion"),
    *("jax_default_prng_impl", "jax_threefry_partitionable", "jax_random_seed_offset"),
    *("jax_debug_nans", "jax_debug_infs", "jax_disable_jit", "jax_disable_most_optimizations"),
    *("jax_optimization_level", "jax_use_simplified_jaxpr_constants", "jax_num_cpu_devices"),
    *("jax_default_device", "jax_enable_custom_prng", "jax_allow_f16_reductions"),
)
"""Options of JAX that change a program."""

counts: Counter[str] = Counter()
"""What became of the programs that this process asked for: `compiled`, `loaded`, `reused`."""

_loaded: OrderedDict[str, tuple[Any, int]] = OrderedDict()
"""Programs at hand, the last used last, with their size as they are written."""
_often: dict[tuple[Any, ...], Any] = {}
"""Small ones that are called often."""
_locks: dict[str, threading.Lock] = {}
_ahead: set[str] = set()
"""Programs that were loaded before anybody asked."""
_guard = threading.Lock()


def compile_program(function: Any, *args: Any) -> Any:
    """A jitted function compiled for these arguments, or for others of their structure and shapes.

    Called without its static arguments. The same key gives the same program: within a process at
    once, in another one from disk.
    """
    try:
        key = _key(function, args)
    except fingerprint.FingerprintError:
        counts["compiled"] += 1
        return _compile(function, args)
    program = _program(key, function, args)
    _foresight.note(key)
    return program


def outcome(function: Any, *args: Any) -> Any:
    """What a jitted function gives, where that is little and its program takes long to load.

    It is kept on disk by the values of the arguments. A process that has the program calls it: of
    many runs in one process only the first leaves its outcome behind.
    """
    dynamic = _dynamic(function, args)
    try:
        key = _key(function, args)
        exact = fingerprint.digest(key, fingerprint.tree(dynamic, fingerprint.contents))
    except fingerprint.FingerprintError:
        return call(function, *args)

    def make() -> Any:
        return jax.device_get(_program(key, function, args)(*dynamic))

    known = key in _loaded or not fingerprint.is_current()
    return make() if known else cache.recall(OUTCOME, exact, _name(function), make)


def _program(key: str, function: Any, args: tuple[Any, ...]) -> Any:
    with _lock_of(key):  # of several threads that want a program one makes it
        program = _at_hand(key)
        if program is None:
            program, size = _load(key)
            if program is not None and not program.finish():
                cache.drop(KIND, key)
                program = None
            counts["compiled" if program is None else "loaded"] += 1
            if program is None:
                with _past_the_cache_of_jax():
                    program = _compile(function, args)
                size = _save(key, _name(function), program)
            _hold(key, program, size)
    return program


def foresee(occasion: str) -> None:
    """Load, beside other work, the programs that were asked for after this was said last time.

    Loading a large program takes a second in which Python can plan what to call it with. The
    largest is what a start waits for, so it comes first and has a core to itself.
    """
    keys = [key for key in _foresight.begin(occasion) if key not in _loaded]
    keys.sort(key=lambda key: -cache.size(KIND, key))
    threading.Thread(target=_load_ahead, args=(keys,)).start()


def _load_ahead(keys: list[str]) -> None:
    for key in keys:
        with _lock_of(key), jax.enable_x64(True):  # the setting belongs to a thread
            if key not in _loaded:
                program, size = _load(key)
                if program is not None:
                    _hold(key, program, size)
                    _ahead.add(key)


def forget() -> None:
    """Let go of the programs that this process holds; they are loaded again when asked for."""
    with _guard:
        _loaded.clear()
        _often.clear()
        _locks.clear()
        _ahead.clear()


def call(function: Any, *args: Any) -> Any:
    """Compile, or load, and call at once."""
    return compile_program(function, *args)(*_dynamic(function, args))


def call_often(function: Any, *args: Any) -> Any:
    """As `call`, for small programs that are called hundreds of times a second: by what they are
    known is only found once for arguments of a structure, shapes and types."""
    static = function._jit_info.static_argnums
    leaves, structure = jax.tree.flatten(_dynamic(function, args))
    wide = jax.config.jax_enable_x64  # type: ignore[attr-defined]  # belongs to a thread
    shapes = tuple((leaf.shape, leaf.dtype) for leaf in leaves)
    asked = function, tuple(args[i] for i in static), structure, shapes, wide
    program = _often.get(asked)
    if program is None:
        program = _often[asked] = compile_program(function, *args)
    return program(*_dynamic(function, args))


def _dynamic(function: Any, args: tuple[Any, ...]) -> list[Any]:
    static = function._jit_info.static_argnums
    return [a for i, a in enumerate(args) if i not in static]


def _lock_of(key: str) -> threading.Lock:
    with _guard:
        return _locks.setdefault(key, threading.Lock())


def _at_hand(key: str) -> Any:
    """A program that this process has."""
    with _guard:
        if key not in _loaded:
            return None
        if isinstance(program := _loaded[key][0], _Kept) and not program.finish():
            cache.drop(KIND, key)
            _ahead.discard(key)
            del _loaded[key]
            return None
        counts["loaded" if key in _ahead else "reused"] += 1
        _ahead.discard(key)
        _loaded.move_to_end(key)
        return program


def _hold(key: str, program: Any, size: int) -> None:
    with _guard:
        _loaded[key] = (program, size)
        _ahead.discard(key)
        while len(_loaded) > 1 and sum(held for _, held in _loaded.values()) > MOST_HELD:
            _locks.pop(_loaded.popitem(last=False)[0], None)


class _Foresight:
    """Which programs were asked for on an occasion, kept for the next time."""

    KIND = "start"

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._occasion, self._key = "", ""
        self._known: list[str] = []
        self._asked: list[str] = []

    def begin(self, occasion: str) -> list[str]:
        """Keys of programs that will be asked for."""
        with self._guard:
            self._occasion, self._asked, self._known = "", [], []
            try:
                self._key = fingerprint.digest(occasion, fingerprint.origin())
            except fingerprint.FingerprintError:
                return []
            self._occasion = occasion
            content = cache.load(self.KIND, self._key)
            self._known = [] if content is None else content.decode("ascii").split()
            return list(self._known)

    def note(self, key: str) -> None:
        """That a program was asked for."""
        with self._guard:
            if self._occasion and key not in self._asked:
                self._asked.append(key)
                if key not in self._known and fingerprint.is_current():
                    self._known = list(self._asked)
                    cache.save(self.KIND, self._key, self._occasion, " ".join(self._known).encode())


_foresight = _Foresight()


def _compile(function: Any, args: tuple[Any, ...]) -> Any:
    lowered = function.lower(*args)
    _forget_sources(lowered)
    while True:
        try:
            return _interruptible(functools.partial(lowered.compile, compiler_options=_options()))
        except jax.errors.JaxRuntimeError as error:
            # They are XLA's internal flags: another version of it may not know them any more.
            unknown = [o for o in _OPTIONS if f"No such compile option: '{o}'" in str(error)]
            if not unknown:
                raise
            for option in unknown:
                _OPTIONS.pop(option, None)


def _interruptible(compiling: Callable[[], Any]) -> Any:
    """Compile beside the main thread, so that Ctrl-C is heard at once and not when XLA is done.

    What was begun goes on to its end unheard. A run defers Ctrl-C to the end of a block, but not
    here: nothing is half written while a program is compiled.
    """
    if threading.current_thread() is not threading.main_thread():
        return compiling()
    wide = jax.config.jax_enable_x64  # type: ignore[attr-defined]  # belongs to a thread
    outcome: list[Any] = []

    def work() -> None:
        try:
            with jax.enable_x64(wide):
                outcome.append(compiling())
        except BaseException as error:
            outcome.append(error)

    compiler = threading.Thread(target=work, name="compiler", daemon=True)
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        compiler.start()
        while compiler.is_alive():
            compiler.join(0.1)
    finally:
        signal.signal(signal.SIGINT, usual)
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]


def _forget_sources(lowered: Any) -> None:
    """Take the names and source lines of operations out of a program before it is compiled.

    They are a third of a finished program, and a fifth of the time to compile and to load it.
    """
    try:
        from jax.extend.mlir import passmanager

        module = lowered.compiler_ir()
        with module.context:
            passmanager.PassManager.parse("builtin.module(strip-debuginfo)").run(module.operation)
    except Exception:  # without it everything works, a little more slowly
        return


def _options() -> dict[str, Any]:
    return dict(_OPTIONS) if jax.default_backend() == "cpu" else {}


def _name(function: Any) -> str:
    return f"{function.__module__}.{function.__qualname__}".removeprefix("seatrial.")


def _key(function: Any, args: tuple[Any, ...]) -> str:
    """Key of a program; raises `FingerprintError` for one that cannot be kept."""
    jitted = getattr(function, "_jit_info", None)
    wrapped = getattr(function, "__wrapped__", None)
    if jitted is None or wrapped is None:
        raise fingerprint.FingerprintError("not a jitted function of a known kind")
    how = [
        getattr(jitted, name)
        for name in (
            *("static_argnums", "static_argnames", "donate_argnums", "donate_argnames"),
            *("keep_unused", "inline", "device", "backend", "compiler_options_kvs"),
        )
    ]
    config: Any = jax.config  # its options are declared at run time, out of a type checker's sight
    settings = [(name, getattr(config, name, None)) for name in _SETTINGS]
    given = [
        fingerprint.plain(a)
        if i in jitted.static_argnums
        else fingerprint.tree(a, fingerprint.abstract)
        for i, a in enumerate(args)
    ]
    return fingerprint.digest(wrapped, how, given, settings, _requested(), fingerprint.origin())


def _requested() -> tuple[Any, ...]:
    """Options and devices. Options are named as asked for: which of them XLA knows is up to its
    version."""
    devices = [(d.platform, d.device_kind) for d in jax.devices()]
    return _ASKED, devices, os.environ.get("XLA_FLAGS", "")


_ASKED = dict(_OPTIONS)


class _Kept:
    """A program from disk, called as the one that was compiled.

    Its executable takes and gives arrays in a row, so that it can be loaded while the modules are
    still imported that the structure of its results is made of.
    """

    def __init__(self, content: bytes) -> None:
        from jax.experimental.serialize_executable import deserialize_and_load

        executable, arguments, results, self._packed = pickle.loads(content)
        if b"lapack_" in executable:
            _fetch_lapack()
        self._executable = deserialize_and_load(
            executable,
            jax.tree.structure((tuple(range(arguments)), {})),
            jax.tree.structure(tuple(range(results))),
            execution_devices=[_device()],
        )
        self._results: Any = None

    def finish(self) -> bool:
        """Whether it can be called."""
        if self._results is None:
            try:
                self._results = jax.tree.structure(pickle.loads(self._packed))
            except Exception:  # whatever it is, the program can be compiled
                return False
        return True

    def __call__(self, *args: Any) -> Any:
        return jax.tree.unflatten(self._results, self._executable(*jax.tree.leaves(args)))


@functools.cache
def _fetch_lapack() -> None:
    """JAX looks for SciPy's LAPACK when it lowers a program that calls it, which one from disk does
    not see: the call would jump to nowhere."""
    jax.jit(jax.numpy.linalg.cholesky).lower(np.eye(2))


def _load(key: str) -> tuple[_Kept | None, int]:
    """The program that was kept under a key, or None, and its size."""
    content = cache.load(KIND, key)
    if content is None:
        return None, 0
    try:
        # Nothing but what this user wrote comes so far: the checksum is right, and the folder and
        # the file are the user's alone.
        return _Kept(content), len(content)
    except Exception:  # whatever it is, the program can be compiled
        cache.drop(KIND, key)
        return None, 0


def _save(key: str, name: str, program: Any) -> int:
    """Keep a program where that is possible; returns its size."""
    if cache.refusal() is not None or not fingerprint.is_current():
        return _UNKNOWN_SIZE
    from jax.experimental.serialize_executable import serialize

    try:
        executable, arguments, results = serialize(program)
        # A structure of JAX's cannot be pickled, but a tree with numbers for leaves can.
        packed = pickle.dumps(jax.tree.unflatten(results, range(results.num_leaves)), protocol=5)
    except Exception:  # a backend that cannot write its programs, a callback to Python
        return _UNKNOWN_SIZE
    more = (arguments.num_leaves, results.num_leaves, packed)
    content = _slim(executable, more) or pickle.dumps((executable, *more), protocol=5)
    cache.save(KIND, key, name, content)
    return len(executable)  # what was compiled here stays whole in memory


def _slim(executable: bytes, more: tuple[int, int, bytes]) -> bytes | None:
    """What is kept of a program without what only the compiler needed, if it loads without that."""
    if jax.default_backend() != "cpu":
        return None
    from seatrial import executables

    try:
        content = pickle.dumps((executables.slimmed(executable), *more), protocol=5)
        _Kept(content)
    except Exception:  # another version of XLA writes them in another way
        return None
    return content


def _device() -> Any:
    config: Any = jax.config
    chosen = config.jax_default_device
    return chosen if isinstance(chosen, jax.Device) else jax.devices()[0]


_passing = 0


@contextlib.contextmanager
def _past_the_cache_of_jax() -> Iterator[None]:
    """Compile without JAX's persistent cache where the user has switched it on.

    JAX decides once per process whether to use it and has to be made to think again. Until the
    last thread of ours is done, others compile without it too.
    """
    global _passing
    config: Any = jax.config
    if config.jax_compilation_cache_dir is None:
        yield
        return
    from jax.experimental.compilation_cache.compilation_cache import reset_cache

    with _guard:
        entered = config.jax_enable_compilation_cache or _passing > 0
        if entered:
            if _passing == 0:
                config.update("jax_enable_compilation_cache", False)
                reset_cache()
            _passing += 1
    try:
        yield
    finally:
        with _guard:
            if entered:
                _passing -= 1
                if _passing == 0:
                    config.update("jax_enable_compilation_cache", True)
                    reset_cache()
