"""The ledger: every user is scored once, however often scores are needed."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Self

import numpy as np
import polars as pl

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.core.errors import ScoringError, UnavailableError
from fairrec.core.options import Blank, spell
from fairrec.core.signals import interrupts_held
from fairrec.inputs.candidates import CandidateLists
from fairrec.inputs.ids import gather_lists
from fairrec.scoring.features import NO_FEATURES, JoinedFeatures
from fairrec.scoring.ledger_file import LedgerFile, Spent
from fairrec.scoring.model import SIGNAL_SECONDS
from fairrec.scoring.options import ROWS_PER_CALL
from fairrec.scoring.scorer import Scorer

INTERRUPT_SECONDS = 5.0
"""How long calls under way are waited for after an interrupt."""
FEWEST_USERS = 16
"""Users in a call at least, before what is asked for is cut for calls to be side by side."""
_AGAIN = "give the same command again to go on"


class Ledger:
    """The scores paid for so far; the scorer is asked only for users without any.

    Parameters
    ----------
    candidates : all lists; their scores are not looked at
    n_rows_per_call : the most candidates in one call of the scorer, or a single longer list
    file : where scores are kept after each call, and found again by a later process
    identity : names the scorer, such as the checksum of a model; a file is of one scorer
    user_ids : (n_lists,), the user of each list; needed with a file
    concurrency : calls under way at once, in threads; fewer, larger calls are cut for them
    stop : ends the waiting of the scorer, after a call has failed for good
    features : what the scorer is given beside ids; a file has scores for these alone

    Attributes
    ----------
    users, rows, calls, seconds : paid for in this process, the seconds added up
    users_before : users of these lists whose scores were found in the file
    spent_before : what all earlier processes paid for, as the file has it
    is_scored : (n_lists,), lists whose scores cost nothing (any more)
    on_paid : called after each call whose scores are kept
    """

    def __init__(
        self,
        candidates: CandidateLists,
        scorer: Scorer,
        n_rows_per_call: int = ROWS_PER_CALL,
        file: Path | None = None,
        identity: str = "",
        user_ids: pl.Series | None = None,
        concurrency: int = 1,
        stop: Callable[[], None] = lambda: None,
        features: JoinedFeatures = NO_FEATURES,
    ) -> None:
        self.users = self.rows = self.calls = self.users_before = 0
        self.seconds = 0.0
        self.spent_before = Spent()
        self.is_scored: BoolArray = np.diff(candidates.offsets) == 0
        self._offsets = candidates.offsets
        self._scorer = scorer
        self._n_rows_per_call = n_rows_per_call
        self._scores = np.empty(int(candidates.offsets[-1]))
        self.on_paid: Callable[[], None] = lambda: None
        self._concurrency, self._stop = concurrency, stop
        self._threads: ThreadPoolExecutor | None = None
        self._under_way: dict[Future[tuple[FloatArray, float]], IntArray] = {}
        self._file = None
        if file is not None:
            if user_ids is None:
                raise ValueError("a ledger in a file needs the ids of the users")
            self._file = LedgerFile(file, candidates, user_ids, identity, features)
            self.spent_before = self._file.spent
            lists, scores = self._file.read()
            self._keep(lists, scores)
            self.users_before = len(lists)

    def pay_for(self, lists: IntArray) -> FloatArray:
        """The scores of all candidates of these lists, one list after the other.

        When the scorer fails, or the user interrupts, all that came back is kept; in calls side
        by side that includes those under way.
        """
        # those without scores, each once, in the order given
        unpaid = lists[~self.is_scored[lists]]
        _, first = np.unique(unpaid, return_index=True)
        batches = [*self._batches(unpaid[np.sort(first)])]
        with self._say_what_is_kept():
            if self._concurrency > 1 and len(batches) > 1:
                self._pay_at_once(iter(batches))
            else:
                for batch in batches:
                    self._enter(batch, *self._ask(batch))
        return gather_lists(self._scores, self._offsets, lists)

    @property
    def spent(self) -> Spent:
        """What all processes paid for, this one included."""
        of, seconds = self.spent_before, round(self.spent_before.seconds + self.seconds, 3)
        return Spent(of.users + self.users, of.rows + self.rows, of.calls + self.calls, seconds)

    def close(self) -> None:
        """Let go of the file and the threads."""
        if self._threads is not None:
            # after an interrupt, a server may be silent for long
            self._threads.shutdown(wait=not self._under_way)
            self._threads = None
        if self._file is not None:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _batches(self, lists: IntArray) -> Iterator[IntArray]:
        """As many lists a call as fit, in order; fewer where calls would have nothing to do."""
        n_rows = np.cumsum(self._offsets[lists + 1] - self._offsets[lists])
        n_parts = 1
        if len(lists) and n_rows[-1] < self._concurrency * self._n_rows_per_call:
            n_parts = max(1, min(self._concurrency, len(lists) // FEWEST_USERS))
        for part in np.array_split(np.arange(len(lists)), n_parts):
            start, end = (int(part[0]), int(part[-1]) + 1) if len(part) else (0, 0)
            while start < end:
                most = self._n_rows_per_call + (n_rows[start - 1] if start else 0)
                stop = max(int(np.searchsorted(n_rows[:end], most, side="right")), start + 1)
                yield lists[start:stop]
                start = stop

    def _ask(self, lists: IntArray) -> tuple[FloatArray, float]:
        """The scores of one call, and the seconds it took."""
        started = time.perf_counter()
        scores = self._scorer.ask(lists)
        return scores, time.perf_counter() - started

    def _pay_at_once(self, batches: Iterator[IntArray]) -> None:
        """Keep `concurrency` calls under way until there are no batches left.

        When one fails, or the user interrupts, no more are begun, those under way are waited
        for and kept, and then the error is raised.
        """
        threads = self._threads = self._threads or ThreadPoolExecutor(self._concurrency)
        calls = self._under_way

        def begin(n: int) -> None:
            with interrupts_held():
                for batch in islice(batches, n):
                    calls[threads.submit(self._ask, batch)] = batch

        try:
            begin(self._concurrency)
            while calls:
                for call in wait(calls, SIGNAL_SECONDS, FIRST_COMPLETED).done:
                    self._take(call)
                    begin(1)
        except BaseException as failure:
            self._stop()
            is_interrupt = isinstance(failure, KeyboardInterrupt)
            end = time.monotonic() + (INTERRUPT_SECONDS if is_interrupt else math.inf)
            while calls and time.monotonic() < end:
                for call in wait(calls, SIGNAL_SECONDS, FIRST_COMPLETED).done:
                    with suppress(Exception):
                        self._take(call)
            raise

    def _take(self, call: Future[tuple[FloatArray, float]]) -> None:
        """Keep what a call returned, or raise its error."""
        with interrupts_held():
            lists = self._under_way.pop(call)
            self._enter(lists, *call.result())

    def _enter(self, lists: IntArray, scores: FloatArray, seconds: float) -> None:
        """Keep the scores of one call, in the file first."""
        n_rows = int((self._offsets[lists + 1] - self._offsets[lists]).sum())
        if scores.shape != (n_rows,):
            # the kernel would read past the end
            raise RuntimeError(f"the scorer returned shape {scores.shape} for {n_rows} candidates")
        with interrupts_held():
            if self._file is not None:
                self._file.add(lists, scores, seconds)
            self._keep(lists, scores)
            self.users += len(lists)
            self.rows += len(scores)
            self.calls += 1
            self.seconds += seconds
        self.on_paid()

    @contextmanager
    def _say_what_is_kept(self) -> Iterator[None]:
        """Add to the message of a failure what is not lost, and how to go on."""
        try:
            yield
        except ScoringError as error:
            how = "once that is fixed, an audit with this ledger goes on from there"
            kept = self._words_of_kept(_AGAIN if isinstance(error, UnavailableError) else how)
            reason = str(error).removesuffix(".")
            raise type(error)(f"{reason}.{kept}") from error
        except KeyboardInterrupt as interrupt:
            raise KeyboardInterrupt(f"Interrupted.{self._words_of_kept(_AGAIN)}") from interrupt

    def _words_of_kept(self, how: str) -> str:
        if not self.spent.users:
            return ""
        if self._file is None:
            return (
                f" No score is kept without a ledger: with {spell('ledger', Blank('FILE'))} the "
                "next run would go on where this one stopped."
            )
        return f" The scores of {self.spent.users:,} users are kept in {self._file.path}: {how}."

    def _keep(self, lists: IntArray, scores: FloatArray) -> None:
        lengths = self._offsets[lists + 1] - self._offsets[lists]
        starts = self._offsets[lists] - (np.cumsum(lengths) - lengths)
        self._scores[np.repeat(starts, lengths) + np.arange(len(scores))] = scores
        self.is_scored[lists] = True
