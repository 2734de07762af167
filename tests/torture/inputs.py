"""Read files that are damaged or tampered with, of every kind.

`python -m tests.torture.inputs` reads as many as are asked for, in batches: each batch in a process
with limits on memory and time, so that a file that ends it is told. Exit code 1 where a file gave
anything but a result or an error of FairRec's.
"""

from __future__ import annotations

import argparse
import json
import mmap
import os
import random
import resource
import shutil
import signal
import struct
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from fairrec.core.errors import FairRecError, UnexpectedError
from tests.torture.read_files import ReadFile, read_files

MOST_BYTES = 2 << 30
"""Of address space that a batch may take beyond what it starts with."""
SECONDS = 30.0
"""That one file may take; a machine with other work is slow."""
TO_MAKE = 300.0
"""Seconds more to make a sound file, such as a trained run."""
_AT = struct.Struct("qd")


@dataclass
class Tried:
    """What came of the files of one kind."""

    ends: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


def tampered(one: ReadFile, seed: str, start: Path, here: Path) -> Path:
    """A folder whose file is not as it was; the same for the same seed."""
    rng = random.Random(f"{one.kind} {seed}")
    for file in start.iterdir():
        target = here / file.name
        if file.is_file() and file.name != one.name and (one.mend or not target.exists()):
            shutil.copyfile(file, target)
    data = (start / one.name).read_bytes()
    (here / one.name).write_bytes(rng.choice(one.mutations)(data, rng))
    if one.mend is not None:
        one.mend(here)
    return here


def ended(one: ReadFile, folder: Path) -> tuple[str, str]:
    """How reading ended, in a word, and what was wrong where something was."""
    try:
        one.read(folder)
    except UnexpectedError:
        return "unexpected", traceback.format_exc()
    except FairRecError as error:
        return ("refused", "") if str(error).strip() else ("no words", repr(error))
    except BaseException as error:  # a panic of a library is no Exception
        return type(error).__name__, traceback.format_exc()
    return "read", ""


def try_all(one: ReadFile, n: int, seed: int, home: Path) -> Tried:
    """Tamper with a file so many times, and read it each time."""
    start, here, said = home / "start", home / "here", home / "said"
    for folder in (start, here):
        folder.mkdir()
    # what is refused as it is would be refused in any case
    for do in (lambda: one.make(start), lambda: one.read(start)):
        if _forked(do, said):
            raise RuntimeError(f"{one.kind}: no sound file could be made and read: {_tail(said)}")
    tried, at, out = Tried(), 0, home / "ended"
    place = mmap.mmap(-1, _AT.size)
    while at < n:
        place[:] = _AT.pack(at, time.monotonic())
        code = _forked(
            partial(_batch, one, range(at, n), seed, start, here, place, out), said, place
        )
        for line in out.read_text("utf-8").splitlines() if out.exists() else ():
            number, end, why = json.loads(line)
            tried.ends[end] += 1
            if why:
                tried.failures.append(f"{one.kind}, seed {seed}, {number}: {end}\n{why[-1500:]}")
        out.unlink(missing_ok=True)
        at = _AT.unpack(place[:])[0]
        if code:
            tried.ends["ended the process"] += 1
            tried.failures.append(f"{one.kind}, seed {seed}, {at}: exit {code}\n{_tail(said)}")
            at += 1
    return tried


def _batch(
    one: ReadFile, numbers: range, seed: int, start: Path, here: Path, place: mmap.mmap, out: Path
) -> None:
    size = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MOST_BYTES, size + MOST_BYTES))
    with out.open("w", encoding="utf-8") as stream:
        for number in numbers:
            place[:] = _AT.pack(number, time.monotonic())
            folder = tampered(one, f"{seed} {number}", start, here)
            print(json.dumps([number, *ended(one, folder)]), file=stream, flush=True)
    place[:] = _AT.pack(numbers.stop, time.monotonic())


def _forked(do: Callable[[], object], said: Path, place: mmap.mmap | None = None) -> int:
    """Do something in a process of its own: its exit code, negative by a signal."""
    process = os.fork()
    if not process:
        code = 1
        try:
            with said.open("wb") as stream:
                os.dup2(stream.fileno(), 1)
                os.dup2(stream.fileno(), 2)
            do()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    began = time.monotonic()
    while True:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        since = began + TO_MAKE if place is None else _AT.unpack(place[:])[1]
        if time.monotonic() - since > SECONDS:
            os.kill(process, signal.SIGKILL)
        time.sleep(0.01)


def _tail(said: Path) -> str:
    return said.read_bytes()[-1500:].decode("utf-8", "replace")


def main() -> int:
    """Try what is asked for, and print what happened."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=100_000, help="files of the user's")
    parser.add_argument("--own", type=int, default=10_000, help="files of FairRec's")
    parser.add_argument("--only", help="kinds, with ; between them")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    # a panic is told by its message; where it came from is not looked up each time
    os.environ["RUST_BACKTRACE"] = "0"
    kinds = [one for one in read_files() if not options.only or one.kind in options.only.split(";")]
    total, failures = {True: Counter[str](), False: Counter[str]()}, []
    for one in kinds:
        if not (options.tables if one.is_table else options.own):
            continue
        alike = sum(other.is_table == one.is_table for other in kinds)
        n = -(-(options.tables if one.is_table else options.own) // alike)
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as home:
            tried = try_all(one, n, options.seed, Path(home))
        seconds = time.monotonic() - began
        print(f"{one.kind} ({seconds:.0f} s): {dict(sorted(tried.ends.items()))}", flush=True)
        print(*tried.failures[:10], sep="\n", end="\n" if tried.failures else "", flush=True)
        total[one.is_table] += tried.ends
        failures += tried.failures
    for is_table, ends in total.items():
        what = "tables" if is_table else "files of FairRec's"
        print(f"{ends.total():,} {what}: {dict(sorted(ends.items()))}")
    print(f"{len(failures)} failures")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
