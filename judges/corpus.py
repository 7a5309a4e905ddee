"""Ten thousand bad files: none ends in a trace, a hang, much memory, or data that were not written.

    python judges/corpus.py --count 10000 --seed 1

Descriptions that must be refused, descriptions with one extreme number (checked as `seatrial check`
does, design of autopilots included), and files with flipped bits, lost and exchanged parts: our own
recordings, folders of runs, maps, datasets and cache entries, which must not pass for whole, and
other people's hulls and soundings, which hold no checksum and may. Each sort is read by a process
of its own. Prints a row per sort, and exits with 1 when one of them holds anything but refusals and
right data.
"""

import argparse
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1] / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "scenarios")]

LONGEST, STUCK = 20, 400
"""Processor time and time by the clock that a file may take, s: a busy machine hangs nobody."""
MOST_MEMORY = 1_000_000_000
"""Resident, bytes."""
TOGETHER = 50
"""Files whose programs a process keeps."""

SHARES = {
    **{"malformed": 0.5, "extreme": 0.05, "mcap": 0.15, "zarr": 0.05, "runs": 0.05, "cache": 0.05},
    **{"hull": 0.05, "soundings": 0.05, "seabed": 0.02, "dataset": 0.03},
}
"""Of the files, by sort: an extreme number takes seconds to check, the others milliseconds."""

WRONG = ("accepted wrongly", "hang", "trace")

Case = tuple[str, Callable[[], str]]
"""Name of a file, and what reads it: says `accepted` or `accepted wrongly`, or refuses it."""


class HangError(BaseException):
    """Raised by the alarm; nobody catches it by mistake."""


def malformed(seed: int, count: int, folder: Path) -> Iterator[Case]:
    """Descriptions that are certainly wrong."""
    from malformed import malformed_documents
    from seatrial.spec.loading import load

    for name, content in malformed_documents(seed, count):
        path = folder / name
        path.write_bytes(content)
        yield name, lambda path=path: "accepted wrongly" if load(path) else ""
        path.unlink()


def extreme(seed: int, count: int, folder: Path) -> Iterator[Case]:
    """Descriptions in which one number is as large, small or odd as numbers come."""
    from extremes import extreme_documents
    from seatrial.compile.checking import check_description

    for name, content in extreme_documents(seed, count):
        path = folder / name
        path.write_bytes(content)
        yield name, lambda path=path: "accepted" if check_description(str(path)) else ""


def mcap(seed: int, count: int, folder: Path) -> Iterator[Case]:
    """Damaged files; one that was cut short says so and gives the frames that it has."""
    from record_damage import everything, write

    from seatrial.record.mcap.writer import McapRecorder
    from seatrial.record.reader import read

    whole, path = folder / "whole.mcap", folder / "damaged.mcap"
    write(McapRecorder(whole))
    right, data = everything(whole), whole.read_bytes()

    def look() -> str:
        honest = everything(path) == right or not read(path).complete
        return "accepted" if honest else "accepted wrongly"

    for number in range(count):
        path.write_bytes(_damaged(random.Random(f"{seed}/{number}"), data))
        yield f"mcap {number}", look


def zarr(seed: int, count: int, folder: Path) -> Iterator[Case]:
    """Stores in which one file is damaged."""
    from record_damage import everything, write

    from seatrial.record.swarm.store import ZarrRecorder

    whole = folder / "whole.zarr"
    write(ZarrRecorder(whole))
    right = everything(whole)

    def look() -> str:
        return "accepted" if everything(whole) == right else "accepted wrongly"

    yield from _one_of(whole, "*", seed, count, look)


def runs(seed: int, count: int, folder: Path) -> Iterator[Case]:
    """Chunks of many runs' numbers; xarray reads them, and says in its own words what is wrong."""
    import numpy as np
    import xarray

    import seatrial as st
    from seatrial.errors import RecordingError

    out = folder / "runs.zarr"
    found = st.run_many("smarty-drift", seeds=range(3), duration=1.0, out=out)
    right = {name: found[name].values for name in found.data_vars}

    def look() -> str:
        try:
            again = xarray.open_zarr(out, chunks=None, consolidated=False).load()
        except Exception as error:
            raise RecordingError("noticed") from error
        same = all(np.array_equal(again[n].values, v, equal_nan=True) for n, v in found_numbers)
        return "accepted" if same else "accepted wrongly"

    found_numbers = [(n, v) for n, v in right.items() if v.ndim > 2]
    yield from _one_of(out, "*/[0-9]*.[0-9]*.[0-9]*", seed, count, look)


def cache(seed: int, count: int, folder: Path) -> Iterator[Case]:
    """Entries of the cache, which are made anew when they are not whole."""
    from seatrial import cache as kept
    from seatrial.errors import SeatrialError

    os.environ["SEATRIAL_CACHE_DIR"] = str(folder / "kept")
    content = random.Random(seed).randbytes(20_000)
    kept.save("program", "key", "advance", content)
    (path,) = (folder / "kept").glob("*.entry")

    def look() -> str:
        found = kept.load("program", "key")
        if found is None:
            raise SeatrialError("made anew")
        return "accepted" if found == content else "accepted wrongly"

    yield from _one_of(path.parent, path.name, seed, count, look)


def hull(seed: int, count: int, folder: Path) -> Iterator[Case]:
    """Meshes of hulls in the formats that people have."""
    import trimesh

    from seatrial.hull.shape.reading import read_body_mesh

    barge = trimesh.creation.box((4.0, 1.5, 0.8))
    for kind in ("stl", "obj", "ply", "off", "glb"):
        barge.export(folder / f"barge.{kind}")
    (folder / "text.stl").write_text(trimesh.exchange.stl.export_stl_ascii(barge))
    for number in range(count):
        rng = random.Random(f"{seed}/{number}")
        good = rng.choice(sorted(folder.glob("*.*")))
        bad = folder / f"bad{good.suffix}"
        content = good.read_bytes()
        bad.write_bytes(_damaged(rng, content))
        yield (
            f"hull {number} {good.name}",
            lambda bad=bad: "accepted" if read_body_mesh(bad) else "",
        )
        bad.unlink()


def soundings(seed: int, count: int, folder: Path) -> Iterator[Case]:
    """Survey files as people have them."""
    from seatrial.bathymetry.choices import Choices
    from seatrial.bathymetry.importing import import_seabed

    rows = [(63.4 + 1e-4 * i, 10.4 + 2e-4 * j, 20 + i - j) for i in range(12) for j in range(12)]
    lines = [f"{a:.6f},{b:.6f},{c:.2f}" for a, b, c in rows]
    (folder / "points.csv").write_text("latitude,longitude,depth\n" + "\n".join(lines))
    grid = "\n".join(" ".join(f"{-20 - i + j:d}" for j in range(12)) for i in range(12))
    head = "ncols 12\nnrows 12\nxllcorner 569000\nyllcorner 7032000\ncellsize 10\n"
    (folder / "grid.asc").write_text(f"{head}NODATA_value -9999\n{grid}\n")
    choices = Choices(spacing=10.0, crs="EPSG:32632")
    for number in range(count):
        rng = random.Random(f"{seed}/{number}")
        good = rng.choice(sorted(folder.glob("*.*")))
        bad = folder / f"bad{good.suffix}"
        bad.write_bytes(_damaged(rng, good.read_bytes()))
        chosen = choices if good.suffix == ".asc" else Choices(spacing=10.0)
        yield (
            f"soundings {number} {good.name}",
            lambda bad=bad, c=chosen: "accepted" if import_seabed([bad], c) else "",
        )
        bad.unlink()


def seabed(seed: int, count: int, folder: Path) -> Iterator[Case]:
    """Our own maps of the bottom."""
    import numpy as np

    from seatrial.bathymetry.store import write_map
    from seatrial.compile.surroundings.seabed import bottom_of
    from seatrial.geometry.terrain import terrain
    from seatrial.spec.loading import load_text
    from seatrial.spec.world import World

    path = folder / "map.nc"
    depth = np.random.default_rng(seed).uniform(10.0, 30.0, (40, 40)).astype(np.float32)
    write_map(path, terrain((0.0, 0.0), (10.0, 10.0), depth.astype(np.float64)), (63.4, 10.4), {})
    text = f"kind: world\nname: bay\nseabed: {{map: {path}}}\n"
    text += "datum: {latitude_deg: 63.4, longitude_deg: 10.4}\n"

    def read() -> list[bytes]:
        found = bottom_of(load_text(text, World), 0).depth
        return [np.asarray(a).tobytes() for a in (found.north, found.east, found.depth)]

    right = read()

    def look() -> str:
        return "accepted" if read() == right else "accepted wrongly"

    yield from _one_of(folder, "map.nc", seed, count, look)


def dataset(seed: int, count: int, folder: Path) -> Iterator[Case]:
    """Folders of pictures and tables."""
    from seatrial.dataset import exports
    from seatrial.datasets import make_dataset
    from tank import scenario

    made = make_dataset(scenario(), folder / "made", frames=2)
    out = folder / "out"

    def written() -> dict[str, bytes]:
        shutil.rmtree(out, ignore_errors=True)
        exports.export(made.folder, "euroc", out)
        return {str(p.relative_to(out)): p.read_bytes() for p in out.rglob("*") if p.is_file()}

    right = written()

    def look() -> str:
        return "accepted" if written() == right else "accepted wrongly"

    yield from _one_of(made.folder, "*", seed, count, look)


def _one_of(
    folder: Path, pattern: str, seed: int, count: int, look: Callable[[], str]
) -> Iterator[Case]:
    """A folder in which one file is damaged; it is mended afterwards."""
    # one that holds nothing, such as a lock, cannot be damaged
    files = sorted(p for p in folder.rglob(pattern) if p.is_file() and p.stat().st_size)
    for number in range(count):
        rng = random.Random(f"{seed}/{number}")
        path = rng.choice(files)
        data = path.read_bytes()
        path.write_bytes(_damaged(rng, data))
        yield f"{number} {path.relative_to(folder)}", look
        path.write_bytes(data)


def _damaged(rng: random.Random, data: bytes) -> bytes:
    """Bits flipped, the end cut off, a part lost, doubled or zeroed, or two parts exchanged."""
    changed = bytearray(data)
    sort = rng.choice(("flip", "flip", "flip", "cut", "lose", "double", "zero", "exchange"))
    a = rng.randrange(len(data))
    b = min(len(data), a + rng.choice((1, 16, 300, 4000)))
    if sort == "flip":
        for _ in range(rng.choice((1, 1, 1, 8))):
            changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif sort == "cut":
        del changed[a:]
    elif sort == "lose":
        del changed[a:b]
    elif sort == "double":
        changed[b:b] = changed[a:b]
    elif sort == "zero":
        changed[a:b] = bytes(b - a)
    else:
        tail = len(changed) - (b - a)
        changed[a:b], changed[tail:] = changed[tail:], changed[a:b]
    return bytes(changed)


def judge(sort: str, seed: int, count: int) -> Counter[str]:
    """Read all files of a sort; what is wrong is named on stderr."""
    from seatrial.errors import SeatrialError

    def ring(*_: object) -> None:
        raise HangError

    signal.signal(signal.SIGPROF, ring)
    signal.signal(signal.SIGALRM, ring)
    warnings.simplefilter("ignore")
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, look) in enumerate(globals()[sort](seed, count, Path(folder))):
            signal.setitimer(signal.ITIMER_PROF, LONGEST)
            signal.alarm(STUCK)
            try:
                word = look()
            except SeatrialError:
                word = "refused"
            except HangError:
                word = "hang"
            except Exception:
                word = "trace"
                print(traceback.format_exc(limit=-2), file=sys.stderr)
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
                signal.alarm(0)
            found[word] += 1
            if word in WRONG:
                print(f"{sort} --seed {seed}: {name}: {word}", file=sys.stderr)
            if number % TOGETHER == TOGETHER - 1:
                _forget()
    return found


def _forget() -> None:
    """Programs of files before: a user reads a file in a process of its own."""
    import jax

    from seatrial import programs

    programs.forget()
    jax.clear_caches()


def main() -> None:
    """Judge all sorts, or one."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sort", choices=SHARES, help="only this one, so many of it")
    given = parser.parse_args()
    if given.sort:
        found = judge(given.sort, given.seed, given.count)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        row = ", ".join(f"{count} {word}" for word, count in sorted(found.items()))
        print(f"{given.sort}: {row}; {memory / 1e6:.0f} MB", flush=True)
        raise SystemExit(any(found[word] for word in WRONG) or memory > MOST_MEMORY)
    codes = []
    for sort, share in SHARES.items():
        count = str(max(1, round(share * given.count)))
        command = [sys.executable, __file__, "--sort", sort, "--seed", str(given.seed)]
        codes.append(subprocess.run([*command, "--count", count], check=False).returncode)
    raise SystemExit(any(codes))


if __name__ == "__main__":
    main()
