"""Ten thousand bad files: none ends in a trace, a hang, much memory, or data that were not written.

    python judges/corpus.py --count 10000 --seed 1

Descriptions that must be refused, descriptions with one extreme number (checked as `seatrial check`
does, design of autopilots included), and recordings with flipped bits, lost and exchanged parts.
Each sort is read by a process of its own. Prints a row per sort, and exits with 1 when one of them
holds anything but refusals and right data.
"""

import argparse
import random
import resource
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

SHARES = {"malformed": 0.7, "extreme": 0.05, "mcap": 0.2, "zarr": 0.05}
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
    # one that holds nothing, such as the lock, cannot be damaged
    files = sorted(p for p in whole.rglob("*") if p.is_file() and p.stat().st_size)
    for number in range(count):
        rng = random.Random(f"{seed}/{number}")
        path = rng.choice(files)
        data = path.read_bytes()
        path.write_bytes(_damaged(rng, data))
        yield (
            f"zarr {number} {path.relative_to(whole)}",
            lambda: "accepted" if everything(whole) == right else "accepted wrongly",
        )
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
        for name, look in globals()[sort](seed, count, Path(folder)):
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
    return found


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
