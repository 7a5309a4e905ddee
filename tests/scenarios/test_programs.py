"""Compiled programs and designed autopilots that are kept: found again, and never mistaken."""

import dataclasses
import json
import math
import os
import pickle
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import jax
import numpy as np
import pytest
from jax.experimental import serialize_executable

from seatrial import cache, executables, fingerprint, programs
from seatrial.compile.autonomy import tuning
from seatrial.compile.scenario import plan_of
from seatrial.ocean.curves import Curve
from seatrial.spatial import rotations
from seatrial.spec.loading import load
from seatrial.spec.vehicle import Vehicle

EULER = tuple(np.array([x]) for x in (0.1, -0.2, 0.7))
from_euler = jax.jit(rotations.from_euler)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache, for this process and those it starts."""
    monkeypatch.setenv("SEATRIAL_CACHE_DIR", str(tmp_path / "kept"))
    monkeypatch.delenv("SEATRIAL_CACHE_LIMIT", raising=False)
    forget(monkeypatch)
    return tmp_path / "kept"


def forget(monkeypatch):
    """As in a fresh process: nothing loaded, nothing counted."""
    monkeypatch.setattr(programs, "_loaded", type(programs._loaded)())
    monkeypatch.setattr(programs, "_foresight", programs._Foresight())
    monkeypatch.setattr(programs, "counts", type(programs.counts)())


def key(function, *args):
    with jax.enable_x64(True):
        return programs._key(function, args)


# ── Two processes ─────────────────────────────────────────────────────────────────────────────

RUN = """
import json, sys
import jax
import seatrial as st
from seatrial import programs
compiled = []
jax.monitoring.register_event_duration_secs_listener(
    lambda name, seconds, **about: compiled.append(name) if "backend_compile" in name else None
)
st.run("mariner-turning-circle", duration=20.0, out=sys.argv[1])
print(json.dumps({"counts": programs.counts, "compiled": len(compiled)}))
"""


def run_in_a_process(out, **environment):
    command = [sys.executable, "-c", RUN, str(out)]
    environment = {k: v for k, v in os.environ.items() if "JAX_COMPILATION" not in k} | environment
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


def test_a_second_process_compiles_nothing_and_records_the_same_bytes(folder, tmp_path):
    files = [tmp_path / f"{n}.mcap" for n in range(4)]
    first = run_in_a_process(files[0], PYTHONHASHSEED="1")
    assert first["counts"]["compiled"] == 3
    assert first["compiled"] >= 3  # or the listener hears nothing
    second = run_in_a_process(files[1], PYTHONHASHSEED="2")
    # What the beginning gave is kept itself, without its program.
    assert second == {"counts": {"loaded": 2}, "compiled": 0}
    without = run_in_a_process(files[2], SEATRIAL_CACHE_LIMIT="0")
    assert without["counts"] == first["counts"]
    # JAX's own cache, switched on by the user, is passed by; what comes out is as good.
    cache.clear()
    of_jax = {"JAX_COMPILATION_CACHE_DIR": str(tmp_path / "jax")}
    of_jax |= {"JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}
    for _ in range(2):
        run_in_a_process(files[3], **of_jax)
        contents = [file.read_bytes() for file in files]
        assert contents[1:] == contents[:1] * 3
    assert run_in_a_process(files[3], **of_jax)["counts"] == {"loaded": 2}


SOLVE = """
import jax, numpy as np
from seatrial import programs
from seatrial.gnc.navigation.smoother import _gain
with jax.enable_x64(True):
    gain = programs.call(jax.jit(_gain), 3.0 * np.eye(2)[..., None], np.eye(2)[..., None])
print(np.asarray(gain)[..., 0].tolist(), dict(programs.counts))
"""


def test_a_kept_program_that_calls_lapack_finds_it_in_another_process(folder):
    command = [sys.executable, "-c", SOLVE]
    done = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(2)]
    gain = "[[3.0, 0.0], [0.0, 3.0]]"
    assert [one.stdout for one in done] == [
        f"{gain} {{'compiled': 1}}\n",
        f"{gain} {{'loaded': 1}}\n",
    ]


@jax.jit
def long_way(x):
    """More than a thousand operations that are fused, behind a loop with a condition in it."""

    def once(i, x):
        for k in range(600):
            x = jax.numpy.sin(x) * (1.0 + k * 1e-3) + x
        return jax.lax.cond(i > 1, lambda x: x - 1.0, lambda x: x * 0.5, x)

    return jax.lax.fori_loop(0, 3, once, x), x @ x


def kept(program):
    """A compiled program as another process finds it."""
    programs._save("a-key", "a long way", program)
    loaded, _ = programs._load("a-key")
    assert loaded.finish()
    return loaded


def assert_same_way(one, other):
    x = np.linspace(0.0, 1.0, 64, dtype=np.float32)
    for here, there in zip(one(x), other(x), strict=True):
        np.testing.assert_array_equal(here, there)


@pytest.fixture(scope="module")
def long_program():
    with programs._past_the_cache_of_jax():  # what comes out of it cannot be written again
        return long_way.lower(np.zeros(64, np.float32)).compile()


def test_a_program_is_kept_without_the_bodies_of_its_loops(folder, long_program):
    assert_same_way(long_program, kept(long_program))
    whole = serialize_executable.serialize(long_program)[0]
    assert len(cache.load(programs.KIND, "a-key")) < 0.5 * len(whole)


@pytest.mark.parametrize(
    "pickled",
    [b"", b"\x00", pickle.dumps(1), pickle.dumps(bytes(range(256)) * 10), pickle.dumps(bytes(600))],
)
def test_a_program_that_is_written_in_another_way_is_kept_whole(
    folder, long_program, monkeypatch, pickled
):
    slimmed = executables.slimmed
    monkeypatch.setattr(executables, "slimmed", lambda _: slimmed(pickled))
    assert_same_way(long_program, kept(long_program))
    whole = serialize_executable.serialize(long_program)[0]
    assert len(cache.load(programs.KIND, "a-key")) > len(whole)


def test_a_slim_program_that_does_not_load_is_kept_whole(folder, long_program, monkeypatch):
    monkeypatch.setattr(executables, "LOOPS", {b"kLoop", b"kCustom"})
    monkeypatch.setattr(executables, "KEPT_OF_LOOPS", {executables.NAME})
    assert_same_way(long_program, kept(long_program))


def test_a_program_that_was_loaded_ahead_and_let_go_of_is_compiled_when_it_is_gone(folder):
    expected = programs.call(from_euler, *EULER)
    (held,) = programs._loaded
    programs._loaded.clear()
    programs._load_ahead([held])
    assert held in programs._ahead
    programs._loaded.clear()  # as when others make room for themselves
    cache.clear()
    for _ in range(2):
        np.testing.assert_array_equal(programs.call(from_euler, *EULER), expected)
    assert programs.counts["compiled"] == 2


def test_no_flipped_bit_in_a_kept_program_ends_the_process(folder, tmp_path):
    """One that would end in a crash ends this test's own process."""
    expected = programs.call(from_euler, *EULER)
    (path,) = folder.glob("*.entry")
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for at in rng.integers(0, 8 * len(whole), 200):
        damaged = bytearray(whole)
        damaged[at // 8] ^= 1 << (at % 8)
        path.write_bytes(damaged)
        programs._loaded.clear()
        found = programs.call(from_euler, *EULER)
        np.testing.assert_array_equal(found, expected)
        assert path.read_bytes()[: len(cache._MAGIC)] == cache._MAGIC  # made and kept again
    assert programs.counts["loaded"] == 0


# ── One process ───────────────────────────────────────────────────────────────────────────────


def test_a_program_is_compiled_once_loaded_once_and_then_at_hand(folder, monkeypatch):
    with jax.enable_x64(True):
        fresh = np.asarray(programs.call(from_euler, *EULER))
        programs.call(from_euler, *EULER)
        assert programs.counts == {"compiled": 1, "reused": 1}
        forget(monkeypatch)
        kept = [np.asarray(programs.call(from_euler, *EULER)) for _ in range(3)]
        assert programs.counts == {"loaded": 1, "reused": 2}
    for one in kept:
        np.testing.assert_array_equal(one, fresh)
    np.testing.assert_allclose(fresh[:, 0], rotations.from_euler(*EULER)[:, 0], rtol=1e-6)


def test_a_process_holds_on_to_the_programs_used_last(folder, monkeypatch):
    with jax.enable_x64(True):
        programs.call(from_euler, *EULER)
        ((_, (_, size)),) = programs._loaded.items()
        assert 1000 < size < 100_000
        monkeypatch.setattr(programs, "MOST_HELD", int(2.5 * size))
        for width in (1, 2, 3, 1):
            programs.call(from_euler, *(np.zeros(width) for _ in EULER))
        assert len(programs._loaded) == 2
        assert next(reversed(programs._loaded)) == programs._key(from_euler, EULER)
        assert programs.counts == {"compiled": 3, "reused": 1, "loaded": 1}


def test_threads_that_want_one_program_compile_it_once(folder):
    def make(_):
        with jax.enable_x64(True):
            return programs.compile_program(from_euler, *EULER)

    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(make, range(16)))
    assert programs.counts == {"compiled": 1, "reused": 15}
    assert all(one is made[0] for one in made)


def test_programs_of_an_occasion_are_loaded_before_they_are_asked_for(folder, monkeypatch):
    def again():
        forget(monkeypatch)
        before = set(threading.enumerate())
        programs.foresee("a trial")
        for thread in set(threading.enumerate()) - before:
            thread.join()
        return len(programs._loaded)

    with jax.enable_x64(True):
        assert again() == 0
        fresh = np.asarray(programs.call(from_euler, *EULER))
        assert again() == 1
        np.testing.assert_array_equal(programs.call(from_euler, *EULER), fresh)
        assert programs.counts == {"loaded": 1}
        # Another time something else is wanted: that is remembered in its place.
        assert again() == 1
        programs.call(jax.jit(rotations.to_euler), fresh)
        (key,) = again_keys(again)
        assert key == programs._key(jax.jit(rotations.to_euler), (fresh,))
    programs.foresee("another trial")
    assert programs._foresight._known == []


def again_keys(again):
    again()
    return list(programs._loaded)


def test_what_a_program_gave_is_kept_by_the_values_it_was_given(folder, monkeypatch):
    other = (EULER[0], EULER[1], np.array([0.71]))
    with jax.enable_x64(True):
        given = [np.asarray(programs.outcome(from_euler, *angles)) for angles in (EULER, other)]
        assert programs.counts == {"compiled": 1, "reused": 1}
        assert len([e for e in cache.entries() if e.kind == programs.OUTCOME]) == 1
        forget(monkeypatch)
        np.testing.assert_array_equal(programs.outcome(from_euler, *EULER), given[0])
        assert not programs.counts  # neither compiled nor loaded
        np.testing.assert_array_equal(programs.outcome(from_euler, *other), given[1])
        assert programs.counts == {"loaded": 1}


def test_a_program_that_cannot_be_kept_is_compiled_all_the_same(folder, monkeypatch):
    def refuse(program):
        raise ValueError("not supported")

    monkeypatch.setattr("jax.experimental.serialize_executable.serialize", refuse)
    programs.call(from_euler, *EULER)
    assert cache.entries() == []
    forget(monkeypatch)
    programs.call(from_euler, *EULER)
    assert programs.counts == {"compiled": 1}


def test_a_kept_program_that_jax_refuses_is_dropped_and_made_again(folder, monkeypatch):
    programs.call(from_euler, *EULER)
    (entry,) = cache.entries()
    held = programs._key(from_euler, EULER)
    cache.save(programs.KIND, held, entry.name, b"whole, but no program")
    forget(monkeypatch)
    programs.call(from_euler, *EULER)
    assert programs.counts == {"compiled": 1}
    forget(monkeypatch)
    programs.call(from_euler, *EULER)
    assert programs.counts == {"loaded": 1}


def test_an_option_that_xla_no_longer_knows_is_left_out(folder, monkeypatch):
    monkeypatch.setattr(programs, "_OPTIONS", dict(programs._OPTIONS) | {"xla_of_old": True})
    programs.call(from_euler, *EULER)
    assert "xla_of_old" not in programs._OPTIONS
    assert "xla_cpu_use_fusion_emitters" in programs._OPTIONS
    monkeypatch.setitem(programs._OPTIONS, "xla_cpu_use_fusion_emitters", "neither")
    programs._loaded.clear()
    cache.clear()
    with pytest.raises(jax.errors.JaxRuntimeError, match="not a valid bool"):
        programs.call(from_euler, *EULER)


# ── Keys ──────────────────────────────────────────────────────────────────────────────────────


def test_the_key_tells_shapes_types_statics_and_settings_apart():
    made = {
        "plain": key(from_euler, *EULER),
        "shape": key(from_euler, np.zeros(2), *EULER[1:]),
        "axes": key(from_euler, np.zeros((1, 1)), *EULER[1:]),
        "type": key(from_euler, np.zeros(1, np.float32), *EULER[1:]),
        "weak": key(from_euler, 0.1, *EULER[1:]),
        "function": key(jax.jit(rotations.from_rotation_vector), EULER),
        "structure": key(jax.jit(rotations.from_rotation_vector), list(EULER)),
        "donated": key(jax.jit(rotations.from_euler, donate_argnums=0), *EULER),
        "static": key(jax.jit(rotations.from_euler, static_argnums=2), *EULER[:2], 0.7),
        "static value": key(jax.jit(rotations.from_euler, static_argnums=2), *EULER[:2], 0.8),
        "negative zero": key(jax.jit(rotations.from_euler, static_argnums=2), *EULER[:2], -0.0),
        "zero": key(jax.jit(rotations.from_euler, static_argnums=2), *EULER[:2], 0.0),
        "whole": key(jax.jit(rotations.from_euler, static_argnums=2), *EULER[:2], 0),
        "single": programs._key(from_euler, EULER),
    }
    assert len(set(made.values())) == len(made)
    others = tuple(x + 1.0 for x in EULER)
    assert key(from_euler, *others) == made["plain"]


def test_arrays_of_numpy_and_of_jax_share_a_program():
    with jax.enable_x64(True):
        assert key(from_euler, *map(jax.device_put, EULER)) == key(from_euler, *EULER)


def test_the_key_tells_static_fields_of_arguments_apart():
    bend = jax.jit(fingerprint.tree)  # any function of the house will do

    def curve(uniform):
        return Curve(np.zeros(3), np.zeros(3), np.zeros(3), uniform=uniform)

    keys = [key(bend, c) for c in (curve(True), curve(False), curve(True), (curve(True),))]
    assert keys[0] == keys[2]
    assert len(set(keys)) == 3


class Foreign:
    """A class that is not seatrial's."""


@pytest.mark.parametrize(
    "value",
    [Foreign(), Foreign, lambda x: x, np.array([1.0, None], object), {1, 2}, object()],
    ids=["foreign", "class", "function", "objects", "set", "object"],
)
def test_what_might_differ_unseen_has_no_fingerprint(value):
    with pytest.raises(fingerprint.FingerprintError):
        fingerprint.digest(value)


def test_functions_from_elsewhere_are_not_kept(folder):
    own = jax.jit(lambda x: x + 1.0)
    assert programs.call(own, np.float32(1.0)) == 2.0
    assert programs.call(own, np.float32(1.0)) == 2.0
    assert programs.counts == {"compiled": 2}
    assert cache.entries() == []


FINGERPRINT = """
from seatrial import fingerprint
from seatrial.spec.scenario import Scenario
print(fingerprint.digest(
    frozenset(["a", "b", "c"]), 0.1, -0.0, float("inf"), (1, [2, "x"]), {"k": None},
    fingerprint.digest, bytes(3), True, fingerprint.origin(),
))
"""


def test_a_fingerprint_is_the_same_in_every_process():
    found = {
        subprocess.run(
            [sys.executable, "-c", FINGERPRINT],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(found) == 1


def test_every_source_file_that_shapes_a_program_counts(tmp_path, monkeypatch):
    """A copy of the house in which one line changes has another fingerprint."""
    house = tmp_path / "seatrial"
    for room in ("core", "figures"):
        (house / room).mkdir(parents=True)
        (house / room / "some.py").write_text("a = 1\n")
    monkeypatch.setattr(fingerprint, "__file__", str(house / "fingerprint.py"))
    monkeypatch.setattr(fingerprint, "_STARTED", math.inf)
    before = fingerprint._code()
    (house / "figures" / "some.py").write_text("a = 2\n")  # draws, shapes nothing
    assert fingerprint._code() == before
    (house / "core" / "some.py").write_text("a = 2\n")
    after = fingerprint._code()
    assert after != before
    (house / "core" / "some.py").rename(house / "core" / "other.py")
    assert fingerprint._code() not in (before, after)


def test_files_that_cannot_be_read_have_no_fingerprint(tmp_path, monkeypatch):
    """As in an archive; no files at all would all have the same."""
    monkeypatch.setattr(fingerprint, "__file__", str(tmp_path / "seatrial.zip" / "fingerprint.py"))
    with pytest.raises(fingerprint.FingerprintError, match="cannot be read"):
        fingerprint._code()


def test_nothing_is_kept_once_the_code_was_edited(folder, monkeypatch):
    """The process runs by the old code, and would keep its programs as those of the new."""
    monkeypatch.setattr(fingerprint, "_STARTED", 0.0)
    with pytest.raises(fingerprint.FingerprintError, match="changed since"):
        fingerprint._code()
    programs.call(from_euler, *EULER)
    assert programs.counts == {"compiled": 1}
    assert cache.entries() == []


# ── Designs ───────────────────────────────────────────────────────────────────────────────────


def test_a_kept_design_is_the_designed_one_bit_by_bit(folder, monkeypatch):
    vehicle = load("sookshma", Vehicle)
    fresh = tuning.design(vehicle, period=0.2)
    assert [e.name for e in cache.entries() if e.kind == tuning.KIND] == ["sookshma"]

    def refuse(*_):
        raise AssertionError("designed once more")

    monkeypatch.setattr(tuning, "_design", refuse)
    kept = tuning.design(vehicle, period=0.2)
    for one in dataclasses.fields(fresh.tuning):
        if one.name != "autopilot":
            assert getattr(fresh.tuning, one.name) == getattr(kept.tuning, one.name)
    for a, b in (
        (fresh.tuning.autopilot, kept.tuning.autopilot),
        (fresh.effectors, kept.effectors),
    ):
        assert jax.tree.structure(a) == jax.tree.structure(b)
        for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
            assert x.dtype == y.dtype
            np.testing.assert_array_equal(x, y)
    longer = vehicle.model_copy(update={"length": 1.1 * vehicle.length})
    for other in (
        lambda: tuning.design(vehicle, period=0.1),
        lambda: tuning.design(vehicle, 1.0, period=0.2),
        lambda: tuning.design(vehicle, period=0.2, wave_frequency=0.9),
        lambda: tuning.design(vehicle, period=0.2, heading="sliding"),
        lambda: tuning.design(longer, period=0.2),
    ):
        with pytest.raises(AssertionError, match="designed once more"):
            other()


@pytest.mark.parametrize("scenario", ["otter-turning-circle", "otter-survey"])
def test_planning_runs_no_program_of_its_own(scenario):
    """An array operation outside a kept program is traced, lowered and compiled at every start."""
    plan_of(scenario)
    jax.clear_caches()
    compiled = []

    def hear(name, seconds, **about):
        if "backend_compile" in name:
            compiled.append(name)

    jax.monitoring.register_event_duration_secs_listener(hear)
    plan_of(scenario)
    jax.monitoring.unregister_event_duration_listener(hear)
    assert compiled == []
