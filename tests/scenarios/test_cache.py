"""What is kept on disk: believed only when whole and ours, bounded in size, shared by processes."""

import os
import pickle
import subprocess
import sys

import pytest

from seatrial import cache
from seatrial.errors import SeatrialError

CONTENT = bytes(range(256)) * 40


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SEATRIAL_CACHE_DIR", str(tmp_path / "kept"))
    monkeypatch.delenv("SEATRIAL_CACHE_LIMIT", raising=False)
    return tmp_path / "kept"


def only_entry(folder):
    (found,) = folder.glob("*.entry")
    return found


def test_what_was_kept_comes_back(folder):
    assert cache.load("thing", "k1") is None
    cache.save("thing", "k1", "a thing", CONTENT)
    assert cache.load("thing", "k1") == CONTENT
    assert cache.load("thing", "k2") is None
    assert cache.load("other", "k1") is None
    assert [(e.kind, e.name) for e in cache.entries()] == [("thing", "a thing")]
    assert os.stat(folder).st_mode & 0o777 == 0o700
    assert os.stat(only_entry(folder)).st_mode & 0o777 == 0o600
    assert not list(folder.glob("*.draft"))


def test_no_flipped_bit_is_believed(folder):
    cache.save("thing", "k", "a thing", CONTENT)
    whole = only_entry(folder).read_bytes()
    path = only_entry(folder)
    for at in range(len(whole)):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << (at % 8)
        path.write_bytes(damaged)
        assert cache.load("thing", "k") is None, f"bit {at % 8} of byte {at}"
        assert not path.exists()


def test_no_entry_that_was_cut_short_or_lengthened_is_believed(folder):
    cache.save("thing", "k", "a thing", CONTENT)
    path = only_entry(folder)
    whole = path.read_bytes()
    for damaged in (*(whole[:n] for n in range(0, len(whole), 7)), whole + b"\0", b"\0" * 500):
        path.write_bytes(damaged)
        assert cache.load("thing", "k") is None
        assert not path.exists()


def test_another_entry_under_this_name_is_not_believed(folder):
    cache.save("thing", "k1", "a thing", CONTENT)
    only_entry(folder).rename(folder / "thing-k2.entry")
    assert cache.load("thing", "k2") is None
    assert not list(folder.glob("*.entry"))


def test_an_entry_or_a_folder_that_others_may_write_is_not_used(folder):
    cache.save("thing", "k", "a thing", CONTENT)
    only_entry(folder).chmod(0o666)
    assert cache.load("thing", "k") is None
    cache.save("thing", "k", "a thing", CONTENT)
    folder.chmod(0o777)
    assert "somebody else" in cache.refusal()
    assert cache.load("thing", "k") is None
    cache.save("thing", "k2", "a thing", CONTENT)
    assert len(list(folder.glob("*.entry"))) == 1
    folder.chmod(0o700)
    assert cache.load("thing", "k") == CONTENT


def test_a_link_is_not_followed(folder, tmp_path):
    cache.save("thing", "k", "a thing", CONTENT)
    path = only_entry(folder)
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert cache.load("thing", "k") is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in folders here")
def test_nobody_waits_for_a_pipe_that_lies_there(folder):
    cache.save("thing", "k", "a thing", CONTENT)
    path = only_entry(folder)
    path.unlink()
    os.mkfifo(path)
    assert cache.entries() == []
    assert cache.load("thing", "k") is None


def test_what_was_not_used_for_longest_makes_room(folder, monkeypatch):
    noise = os.urandom(10_000)
    for i in range(5):
        cache.save("thing", f"k{i}", "a thing", noise)
        os.utime(folder / f"thing-k{i}.entry", (1000.0 + i, 1000.0 + i))
    assert cache.load("thing", "k0") == noise  # used now
    monkeypatch.setenv("SEATRIAL_CACHE_LIMIT", "0.035")
    cache.save("thing", "k5", "a thing", noise)
    assert {e.path.name for e in cache.entries()} == {
        "thing-k0.entry",
        "thing-k4.entry",
        "thing-k5.entry",
    }
    cache.save("thing", "huge", "a thing", os.urandom(40_000))
    assert cache.load("thing", "huge") is None
    assert len(cache.entries()) == 3


def test_files_for_other_programs_are_known_to_limit_and_broom(folder, monkeypatch):
    first = cache.lay_out("hull", ".stl", CONTENT)
    assert first.read_bytes() == CONTENT
    assert [(e.kind, e.size) for e in cache.entries()] == [("hull", len(CONTENT))]
    os.utime(first, (1.0, 1.0))
    assert cache.lay_out("hull", ".stl", CONTENT) == first
    assert first.stat().st_mtime > 1.0  # it was used
    first.write_bytes(b"damaged")
    assert cache.lay_out("hull", ".stl", CONTENT).read_bytes() == CONTENT
    os.utime(first, (1.0, 1.0))
    monkeypatch.setenv("SEATRIAL_CACHE_LIMIT", str(1.5e-6 * len(CONTENT)))
    other = cache.lay_out("hull", ".stl", CONTENT[::-1])
    assert not first.exists()
    assert cache.clear() == (1, len(CONTENT))
    assert not other.exists()
    monkeypatch.setenv("SEATRIAL_CACHE_LIMIT", "0")
    assert cache.lay_out("hull", ".stl", CONTENT) is None


def test_a_limit_of_nothing_keeps_nothing(folder, monkeypatch):
    monkeypatch.setenv("SEATRIAL_CACHE_LIMIT", "0")
    cache.save("thing", "k", "a thing", CONTENT)
    assert not folder.exists()
    assert cache.load("thing", "k") is None


@pytest.mark.parametrize("text", ["much", "-1", "nan", "1e12"])
def test_a_limit_that_is_no_size_is_refused(folder, monkeypatch, text):
    monkeypatch.setenv("SEATRIAL_CACHE_LIMIT", text)
    with pytest.raises(SeatrialError, match="SEATRIAL_CACHE_LIMIT"):
        cache.limit()


def test_a_place_that_cannot_be_used_is_done_without(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("SEATRIAL_CACHE_DIR", str(tmp_path / "file" / "kept"))
    assert "cannot be used" in cache.refusal()
    cache.save("thing", "k", "a thing", CONTENT)
    assert cache.load("thing", "k") is None
    assert cache.recall("thing", "k", "a thing", lambda: 7) == 7
    assert cache.entries() == []
    assert cache.clear() == (0, 0)


def test_recalling_makes_only_once_and_again_after_damage(folder):
    made = []

    def make():
        made.append(1)
        return {"a": 1.5}

    assert [cache.recall("thing", "k", "a thing", make) for _ in range(3)] == [{"a": 1.5}] * 3
    assert len(made) == 1
    cache.save("thing", "k", "a thing", b"whole, but no pickle")
    assert cache.recall("thing", "k", "a thing", make) == {"a": 1.5}
    assert len(made) == 2
    assert pickle.loads(cache.load("thing", "k")) == {"a": 1.5}


WRITER = """
import sys
from seatrial import cache
mine = bytes([int(sys.argv[1])]) * 300_000
for round in range(30):
    cache.save("thing", "shared", "a thing", mine)
    found = cache.load("thing", "shared")
    assert found is not None and len(set(found)) == 1 and len(found) == 300_000
    cache.save("thing", f"own-{sys.argv[1]}-{round}", "a thing", mine)
"""


def test_processes_may_write_the_same_entry_at_once(folder):
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(n)], stderr=subprocess.PIPE, text=True)
        for n in range(4)
    ]
    for writer in writers:
        _, said = writer.communicate()
        assert writer.returncode == 0, said
    assert len(cache.entries()) == 1 + 4 * 30
    assert not list(folder.glob("*.draft"))


def test_the_command_shows_and_clears(folder, seatrial):
    cache.save("program", "k1", "engine.loop.advance", CONTENT)
    cache.save("program", "k2", "engine.loop.advance", CONTENT)
    cache.save("autopilot", "k3", "otter", CONTENT)
    code, out, _ = seatrial("cache")
    assert code == 0
    assert "engine.loop.advance" in out
    assert "3 entries" in out
    code, out, _ = seatrial("cache", "--json")
    assert '"entries": 3' in out
    code, out, _ = seatrial("cache", "--clear")
    assert (code, cache.entries()) == (0, [])
    assert out.startswith("deleted 3 entries")
