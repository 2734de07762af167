"""Counts of users who are alike: from tables to what an audit needs, without a row of any user."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from operator import add
from pathlib import Path
from typing import Any

import numpy as np

from fairrec.auditing.search import with_scores_of
from fairrec.core.arrays import FloatArray
from fairrec.core.atomic_io import atomic_file, put_table, write_text
from fairrec.core.audit_options import AuditOptions, MaxMemory, MinShown, SharingOptions, Threads
from fairrec.core.errors import InputError, errors_of_libraries, plain
from fairrec.core.options import changed, documented, spelled
from fairrec.core.progress import Progress
from fairrec.counts.counting import count_users
from fairrec.counts.executor import LocalExecutor, PartExecutor, fold, open_executor
from fairrec.counts.levels import (
    ENOUGH,
    has_steps,
    kept_on,
    levels_of,
    levels_text,
    read_levels,
    suggested_levels,
)
from fairrec.counts.merging import merged, named
from fairrec.counts.options import (
    RESERVED_NAMES,
    Address,
    CountOptions,
    EngineName,
    EngineOptions,
    LevelsFile,
    MakeLevels,
    PartName,
    Scratch,
    Workers,
)
from fairrec.counts.selection import without_small_cells
from fairrec.counts.table import Counts
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.inputs.notes import Notes, added, in_words
from fairrec.inputs.parts.partition import Part, Parts, open_parts
from fairrec.inputs.room import is_large, most_rows
from fairrec.inputs.table_options import TABLE_NAMES, Gain, MissingLists, Relevant, TableOptions
from fairrec.inputs.tables import Table
from fairrec.metrics import METRICS, MetricAtK
from fairrec.metrics.measured import Measured, measure_everyone
from fairrec.metrics.reading import read_inputs
from fairrec.result.tables import per_user_table
from fairrec.scoring.model import Model


@errors_of_libraries()
@documented(TableOptions, CountOptions, SharingOptions, AuditOptions, EngineOptions)
def count(
    predictions: Any = None,
    *,
    test: Any = None,
    values: Any = None,
    users: Any = None,
    by: Sequence[str] | str = (),
    given: Sequence[str] | str = (),
    items: Any = None,
    history: Any = None,
    metrics: Sequence[str] | str | None = None,
    columns: Mapping[str, str] | str | None = None,
    relevant: Relevant | str = None,
    gain: Gain = None,
    missing_lists: MissingLists = TableOptions.missing_lists,
    better: Mapping[str, str] | str | None = None,
    part: PartName = CountOptions.part,
    levels: LevelsFile | str = CountOptions.levels,
    make_levels: MakeLevels | str = CountOptions.make_levels,
    min_shown: MinShown = SharingOptions.min_shown,
    threads: Threads = AuditOptions.threads,
    max_memory: MaxMemory = AuditOptions.max_memory,
    engine: EngineName = EngineOptions.engine,
    address: Address = EngineOptions.address,
    workers: Workers = EngineOptions.workers,
    scratch: Scratch = EngineOptions.scratch,
    progress: Progress | None = None,
) -> Counts:
    """Count the users who are alike: all that `fairrec.audit(counts=...)` needs.

    Parameters
    ----------
    predictions : as of `fairrec.audit`
    test, relevant, gain, missing_lists, values, better : see TableOptions
    users, items, history, columns, by, given, metrics : see TableOptions
    part, levels, make_levels : see CountOptions
    min_shown : merge smaller combinations of attributes into `(other)`
    threads, max_memory : see AuditOptions
    engine, address, workers, scratch : see EngineOptions
    progress : called with stage, steps done and steps in all

    Examples
    --------
    >>> import fairrec, polars as pl
    >>> users = pl.DataFrame({"user_id": [1, 2, 3, 4], "gender": ["F", "F", "M", "M"]})
    >>> values = pl.DataFrame({"user_id": [1, 2, 3, 4], "watched": [0.0, 1.0, 1.0, 1.0]})
    >>> counts = fairrec.count(values=values, users=users, by="gender")
    >>> counts.rows.filter(family="watched").select("gender", "level", "users").rows()
    [('F', '0.0', 1), ('F', '1.0', 1), ('M', '1.0', 2)]
    """
    asked = CountOptions.of(part=part, levels=levels, make_levels=make_levels)
    sharing = SharingOptions.of(min_shown=min_shown)
    options = AuditOptions.of(threads=threads, max_memory=max_memory)
    where = EngineOptions.of(engine=engine, address=address, workers=workers, scratch=scratch)
    progress = progress or (lambda stage, done, total: None)
    tables = TableOptions.of(
        test=test,
        values=values,
        relevant=relevant,
        gain=gain,
        missing_lists=missing_lists,
        better=better,
        users=users,
        by=by,
        given=given,
        items=items,
        history=history,
        metrics=metrics,
        columns=columns,
    )
    own = read_levels(asked.levels)
    most = options.max_memory
    if where.engine == "local" and not is_large(predictions, tables, most_rows(most)):
        progress("reading", 0, 0)
        inputs, wanted = read_inputs(
            predictions, **vars(tables), reserved=RESERVED_NAMES, max_memory=most
        )
        refuse_pooled(wanted)
        measured = measure_everyone(inputs, wanted, options.n_threads, progress)
        if asked.make_levels is not None:
            own |= _written_levels(asked.make_levels, measured)
        counts = count_users(inputs, measured, levels_of(wanted, own))
    else:
        if asked.make_levels is not None:
            raise InputError(
                f"{spelled('make_levels')} looks at all values of a table, and this one is read in "
                "parts. Make the levels from one file of it."
            )
        with (
            open_executor(where) as executor,
            counted_in_parts(
                predictions,
                tables,
                executor,
                own,
                progress,
                reserved=RESERVED_NAMES,
                folder=where.scratch,
            ) as (counts, _),
        ):
            pass
    if asked.part.strip():
        counts = named(counts, asked.part.strip())
    return without_small_cells(counts, sharing.min_shown)


def _written_levels(file: Path, measured: Measured) -> dict[str, FloatArray]:
    """Levels that suit these users, for metrics without bounds and where steps tell too little."""
    steps = levels_of(measured.metrics, {})
    edges = {
        metric.name: suggested_levels(values)
        for metric, values in zip(measured.metrics, measured.values, strict=True)
        if not has_steps(metric) or kept_on(steps[metric.name], values) < ENOUGH
    }
    edges = {name: row for name, row in edges.items() if row}
    if not edges:
        raise InputError(
            f"Every metric has bounds whose steps suit it, or one value for everyone, so no levels "
            f"are needed. Leave out {spelled('make_levels')}."
        )
    write_text(file, levels_text(edges))
    return {name: np.array(row) for name, row in edges.items()}


Doubts = Mapping[tuple[str, str], str | None]


@dataclass(frozen=True, slots=True)
class CountedPart:
    """What comes of a part, or of several.

    Parameters
    ----------
    doubts : what would be wrong if it were so in every part, by table and kind; None where a part
        shows that it is not
    """

    counts: Counts
    doubts: Doubts
    notes: Notes

    def __add__(self, other: CountedPart) -> CountedPart:
        """Both together: users are in one part each."""
        return CountedPart(
            merged([self.counts, other.counts], disjoint=True, is_one_table=True),
            added_doubts(self.doubts, other.doubts),
            added(self.notes, other.notes),
        )


@dataclass(frozen=True, slots=True)
class CountPart:
    """The one function that parts go through, whoever works on them.

    Parameters
    ----------
    said : the options about tables that are no tables, the metrics among them
    edges : between the levels of metrics that were said
    per_user : a folder for the values of users; None where they are not wanted
    model : who gives the scores; None where they are in the table
    users : the whole table of users, where features of a model are
    """

    said: Mapping[str, Any]
    edges: Mapping[str, FloatArray]
    threads: int
    reserved: tuple[str, ...] = ()
    per_user: Path | None = None
    model: Model | None = None
    users: Any = None

    @property
    def n_gpus(self) -> float:
        """How many GPUs a part is given where there are any."""
        return 0.0 if self.model is None else 1.0

    def __call__(self, part: Part) -> CountedPart:
        """Read, rank, measure and count a part."""
        inputs, wanted = read_inputs(
            **part.tables, **self.said, reserved=self.reserved, has_scores=self.model is None
        )
        refuse_pooled(wanted)
        if self.model is not None:
            tables = {**inputs.tables, "users": Table(self.users, "users", inputs.columns)}
            inputs = with_scores_of(self.model, inputs, tables)
        measured = measure_everyone(inputs, wanted, self.threads)
        counts = count_users(inputs, measured, levels_of(wanted, self.edges))
        if self.per_user is not None and inputs.n_users:
            table = per_user_table(inputs, measured)
            number = part.name.split()[1].replace(",", "")
            # a part that is worked on twice writes the same file
            with atomic_file(self.per_user / f"{int(number):08}.parquet") as file:
                put_table(table, file, compression_level=1)
        notes = (*inputs.notes, *inputs.side.notes)
        return CountedPart(_noted(replace(counts, where=part.name), ()), open_doubts(inputs), notes)


def count_in_parts(
    parts: Parts, counting: CountPart, executor: PartExecutor, progress: Progress
) -> Counts:
    """The counts of all parts, added in an order that they alone determine."""

    def counted() -> Iterator[CountedPart]:
        n_done = 0
        progress("measuring and counting", n_done, parts.n_rows)
        for part, one in zip(parts, executor.map(counting, parts), strict=True):
            n_done += part.n_rows
            progress("measuring and counting", n_done, parts.n_rows)
            yield one

    found = fold(add, counted())
    refuse_doubts(found.doubts)
    return _noted(replace(found.counts, where="the counts"), in_words(found.notes))


def open_doubts(inputs: AuditInputs) -> Doubts:
    """What reading a part left open."""
    tables = inputs.tables.items()
    return {(name, kind): said for name, one in tables for kind, said in one.doubts.items()}


def added_doubts(one: Doubts, other: Doubts) -> Doubts:
    """Those of both: one that a part has cleared is none."""
    cleared = {key for some in (one, other) for key, said in some.items() if said is None}
    return {**other, **one, **dict.fromkeys(cleared)}


def refuse_doubts(doubts: Doubts) -> None:
    """An error for the first doubt that no part has cleared."""
    for message in doubts.values():
        if message is not None:
            raise InputError(message)


def _noted(counts: Counts, notes: Sequence[str]) -> Counts:
    """The same with other notes: those of parts add up, and are told of all of them."""
    return replace(counts, info=counts.about.model_copy(update={"warnings": tuple(notes)}))


@contextmanager
def counted_in_parts(
    predictions: Any,
    given: TableOptions,
    executor: PartExecutor,
    edges: Mapping[str, FloatArray],
    progress: Progress,
    *,
    reserved: tuple[str, ...] = (),
    per_user: Path | None = None,
    folder: Path | None = None,
    model: Model | None = None,
) -> Iterator[tuple[Counts, Parts]]:
    """The counts of large tables, and the parts they were read in.

    Parameters
    ----------
    per_user : a folder for the values of users
    folder : for scratch files
    model : who gives the scores; None where they are in the table
    """
    with open_parts(predictions, folder=folder, progress=progress, **vars(given)) as parts:
        said = {name: one for name, one in changed(given).items() if name not in TABLE_NAMES}
        if given.metrics is None:
            # what the tables allow must be the same in all parts
            first = next(iter(parts)).tables
            _, wanted = read_inputs(**first, **said, reserved=reserved, has_scores=model is None)
            said["metrics"] = [metric.name for metric in wanted]
        if not isinstance(executor, LocalExecutor):
            _refuse_own(said["metrics"])
        counting = CountPart(said, edges, executor.threads, reserved, per_user, model, given.users)
        yield count_in_parts(parts, counting, executor, progress), parts


def _refuse_own(names: Sequence[str]) -> None:
    """An error for metrics that workers in other processes do not know."""
    for name in names:
        known = name.partition("@")[0].strip().lower()
        if known in METRICS and not METRICS[known].compute.__module__.startswith("fairrec."):
            raise InputError(
                f"Metric '{plain(name)}' is your own, and the workers do not know it. Leave out "
                f"{spelled('engine')}, or measure it first and give it as {spelled('values')}."
            )


def refuse_pooled(wanted: Sequence[MetricAtK]) -> None:
    """An error for a metric that is no mean over users, which counts do not tell."""
    for metric in wanted:
        if metric.metric.pooled:
            raise InputError(
                f"{metric.name} is no mean over users, so it cannot be told from counts of them. "
                f"Name one that is, such as {spelled('metrics', ['auc'])}"
            )
