"""Let every call of the disk fail once, and kill commands at every step and at random moments.

`python -m tests.torture` tries all; see `--help`. Exit code 1 where an output was neither wholly
old nor wholly new, a command ended otherwise than in words, or scratch was left for good.
"""

from __future__ import annotations

import argparse
import errno
import importlib
import pkgutil
import random
import re
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numba

import fairrec
import fairrec_paper
from tests.builders import make_tables
from tests.end_to_end.command_line import built_command, write_tables
from tests.fairrec_paper.command_line import built_command as built_paper
from tests.fairrec_paper.datasets.movielens_tables import write_movielens
from tests.torture.commands import COMMANDS, Written, words
from tests.torture.forked import ANY, KINDS, Ended, Fault, Stop, forked, started, with_faults
from tests.torture.outputs import Parts, Versions, scratch_below

ENOUGH = 4
GRACEFUL = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}


def run(arguments: str) -> None:
    """A command, as a fork of this process does it."""
    given = words(arguments)
    command = built_paper() if given[0] in built_paper().commands else built_command()
    sys.argv = ["fairrec", *given]
    command.main(prog_name="fairrec")


def write_inputs() -> None:
    """The tables of all commands, into the working folder."""
    write_tables(Path(), make_tables(60))
    write_movielens(Path("raw"))


def load_all() -> None:
    """Import what forks share; nothing of it is used here."""
    ours = (
        module.name
        for package in (fairrec, fairrec_paper)
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    )
    # what optimizers and charts import when they are first made takes longer than all the rest
    for name in (*ours, "torch._dynamo", "altair"):
        if not re.search(r"__main__|\.testing\.", name):
            with suppress(ImportError):
                importlib.import_module(name)
    built_command()
    built_paper()
    numba.njit(lambda: 1)()


@dataclass
class Trial:
    """One command in a workspace that is set back each time."""

    command: Written
    home: Path
    failures: list[str] = field(default_factory=list)
    tried: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.start, self.here = self.home / "start", self.home / "here"
        self.start.mkdir()
        self._must(forked(write_inputs, self.start))
        for arguments in (*self.command.before, self.command.old):
            self._must(forked(partial(run, arguments), self.start))
        if self.command.beside:
            self.command.beside(self.start / self.command.out)
        old = Parts.at(self.start / self.command.out, self.command.apart)
        new = self._made(self.command.new)
        self.versions = Versions(old, new)
        assert (self.versions.of(old), self.versions.of(new)) == ("old", "new")
        if unlike := self.versions.odd(self._made(self.command.new)):
            raise RuntimeError(f"{self.command.name}: other from one run to the next: {unlike}")
        # the command that made the old one may be the later one of two
        self.two = (self.command.old, self.command.new)
        self.other_way = Versions(new, self._made(self.command.old))

    def _made(self, arguments: str) -> Parts:
        self.set_back()
        self._must(forked(partial(run, arguments), self.here))
        return self.found()

    @property
    def out(self) -> Path:
        return self.here / self.command.out

    def found(self) -> Parts:
        return Parts.at(self.out, self.command.apart)

    def set_back(self) -> None:
        shutil.rmtree(self.here, ignore_errors=True)
        shutil.copytree(self.start, self.here)

    def once(self, fault: Fault | None = None, stop: Stop | None = None) -> Ended:
        return forked(partial(run, self.command.new), self.here, fault, stop)

    def attempt(self, what: str, fault: Fault | None = None, stop: Stop | None = None) -> Ended:
        """Try once, and see what is there afterwards and after the next command."""
        from fairrec.core.folders import settle

        self.set_back()
        ended = self.once(fault, stop)
        self.tried[what.partition(" ")[0]] += 1
        is_killed = ended.code == -signal.SIGKILL
        # a killed command has its files put right by whoever comes next
        for place in (self.out, self.out / self.command.apart):
            settle(place if is_killed and self.out.suffix == "" else self.here)
        state = self.versions.of(self.found())
        allowed = {2, 0} if stop is None else {0, GRACEFUL.get(stop.number, 0)}
        allowed |= (
            {-signal.SIGKILL} if is_killed and (stop or (fault and not fault.error)) else set()
        )
        # who has finished no longer listens
        if stop and state == "new":
            allowed.add(-stop.number)
        if ended.code not in allowed or "Traceback" in ended.said:
            self._failed(what, f"exit {ended.code}", ended)
        elif state == "mixed" or (ended.code == 0 and state != "new"):
            self._failed(what, f"{state} after exit {ended.code}", ended)
        elif fault is not None and ended.code == 2 and not _is_in_words(ended.said):
            self._failed(what, "no single message", ended)
        self.tried[f"exit {ended.code}, {state}"] += 1
        if scratch_below(self.here):
            self.tried["scratch left"] += 1
            self._must(self.once())
            left = scratch_below(self.here)
            state = self.versions.of(self.found())
            if left or state != "new":
                self._failed(what, f"after the next run: {state}, {left}", ended)
        return ended

    def race(self) -> None:
        """Let two commands write at once: one of them is there in the end, as a whole."""
        self.set_back()
        both = [started(partial(run, words), self.here) for words in self.two]
        ended = [one.ended() for one in both]
        found = self.found()
        states = [versions.of(found) for versions in (self.versions, self.other_way)]
        self.tried["race"] += 1
        if "new" not in states or any(one.code != 0 for one in ended) or scratch_below(self.here):
            odd = [versions.odd(found) for versions in (self.versions, self.other_way)]
            self._failed("race", f"{states}, {odd}, {scratch_below(self.here)}", ended[0])

    def _failed(self, what: str, why: str, ended: Ended) -> None:
        self.failures.append(f"{self.command.name}: {what}: {why}\n{ended.said[-400:]}")

    def _must(self, ended: Ended) -> None:
        if ended.code != 0:
            raise RuntimeError(f"{self.command.name} fails by itself: {ended.said}")


def _is_in_words(said: str) -> bool:
    """Whether there is one message, beside lines of progress."""
    return sum("Error: " in line for line in said.splitlines()) == 1


def faults(trial: Trial, every: int) -> Iterator[tuple[str, Fault]]:
    """Each call of each kind fails once; disks are full from one on; kills before each call."""
    for name, kind in KINDS.items():
        trial.set_back()
        count = trial.once(Fault(kind)).count
        for nth in range(1, count + 1, every):
            yield f"{name} fails, {nth} of {count}", Fault(kind, nth, errno.EIO)
            if name == "write":
                full = Fault(kind, nth, errno.ENOSPC, is_lasting=True)
                yield f"full disk from write {nth} of {count}", full
    trial.set_back()
    count = trial.once(Fault(ANY)).count
    for nth in range(1, count + 1, every):
        yield f"killed before call {nth} of {count}", Fault(ANY, nth)
    parts = trial.versions.new.values()
    sizes = sorted({len(content) for files in parts for content in files.values()})
    for largest in [0, 4, *(size - 1 for size in sizes), *(size // 2 for size in sizes)][::every]:
        yield f"large files refused, over {largest} bytes", Fault(largest=max(largest, 0))


def scarce() -> Iterator[tuple[str, Fault]]:
    """Arrays that cannot be made: each of the first ones, then fewer and fewer."""
    nth = 1
    while True:
        yield f"memory for array {nth}", Fault(allocation=nth)
        nth += 1 + nth // 4


def signals(trial: Trial, n: int, rng: random.Random) -> Iterator[tuple[str, Stop]]:
    """Signals at random moments after the first file on its way is there."""

    def is_begun() -> bool:
        return bool(scratch_below(trial.here))

    for at in range(n):
        number = rng.choice([*GRACEFUL, signal.SIGKILL])
        seconds = rng.random() ** 2 * 0.1
        yield f"signal {number.name}, {at}", Stop(number, seconds, is_begun)


def main() -> int:
    """Try what is asked for, and print what happened."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="names of commands, with ; between them")
    parser.add_argument("--every", type=int, default=1, help="try each n-th call only")
    parser.add_argument("--signals", type=int, default=100, help="signals to each command")
    parser.add_argument("--arrays", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--races", type=int, default=20, help="of two commands, each")
    options = parser.parse_args()
    load_all()
    chosen = [
        one for one in COMMANDS if options.only is None or one.name in options.only.split(";")
    ]
    failures, total = [], Counter[str]()
    for command in chosen:
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as home:
            trial = Trial(command, Path(home))
            rng = random.Random(command.name)
            for what, fault in faults(trial, options.every):
                trial.attempt(what, fault)
            unharmed = 0
            for what, fault in scarce() if options.arrays else ():
                # until all could be made, not only one that the command can do without
                unharmed = unharmed + 1 if trial.attempt(what, fault).code == 0 else 0
                if unharmed == ENOUGH:
                    break
            for what, stop in signals(trial, options.signals, rng):
                trial.attempt(what, stop=stop)
            for _ in range(options.races if command.races else 0):
                trial.race()
        seconds = time.monotonic() - began
        print(f"{command.name} ({seconds:.0f} s): {dict(sorted(trial.tried.items()))}", flush=True)
        failures += trial.failures
        total += trial.tried
    print(f"all: {dict(sorted(total.items()))}")
    print(f"{len(failures)} failures", *failures[:20], sep="\n")
    return int(bool(failures))


if __name__ == "__main__":
    with_faults("tests.torture")
    sys.exit(main())
