"""Counts of users who are alike: from tables to what an audit needs, without a row of any user."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import add
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from fairrec.auditing.search import add_model_scores
from fairrec.core.arrays import FloatArray
from fairrec.core.atomic_io import atomic_file, put_table, write_text
from fairrec.core.audit_options import Engine
from fairrec.core.errors import InputError, plain
from fairrec.core.options import documented, expand, list_changed, public_function, select, spell
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
from fairrec.counts.merging import merged, name_part
from fairrec.counts.options import RESERVED_NAMES, CountOptions
from fairrec.counts.selection import without_small_cells
from fairrec.counts.table import Counts
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.inputs.notes import Notes, added, in_words
from fairrec.inputs.partition import Part, Parts, is_large, most_rows, open_parts
from fairrec.inputs.table_options import (
    COUNTED,
    ITEM_SIDE,
    OTHER_LISTS,
    TABLE_NAMES,
    TableOptions,
    Tables,
)
from fairrec.inputs.tables import Doubts, Table
from fairrec.metrics import METRICS, MetricAtK
from fairrec.metrics.measured import Measured, measure_everyone
from fairrec.metrics.reading import read_inputs
from fairrec.result.tables import per_user_table
from fairrec.scoring.model import Model


@public_function
@documented(TableOptions, CountOptions)
def count(
    predictions: Any = None,
    *,
    test: Any = None,
    values: Any = None,
    users: Any = None,
    items: Any = None,
    history: Any = None,
    by: Sequence[str] | str = (),
    metrics: Sequence[str] | str | None = None,
    adjust_for: Sequence[str] | str = (),
    part: str = "",
    levels: str | Path | None = None,
    make_levels: str | Path | None = None,
    min_shown: int | None = None,
    tables: Tables | None = None,
    engine: Engine | None = None,
) -> Counts:
    """Aggregate users into counts: all that `fairrec.audit(counts=...)` needs.

    Parameters
    ----------
    predictions : as of `fairrec.audit`
    test, values, users, items, history : see TableOptions
    by, metrics, adjust_for : see TableOptions
    part, levels, make_levels, min_shown : see CountOptions
    tables : which columns and rows of the tables are used, `Tables(columns="user_id=uid")`
    engine : how the work is done, `Engine(threads=2)`

    Examples
    --------
    >>> import fairrec, polars as pl
    >>> users = pl.DataFrame({"user_id": [1, 2, 3, 4], "gender": ["F", "F", "M", "M"]})
    >>> values = pl.DataFrame({"user_id": [1, 2, 3, 4], "watched": [0.0, 1.0, 1.0, 1.0]})
    >>> counts = fairrec.count(values=values, users=users, by="gender")
    >>> counts.rows.filter(family="watched").select("gender", "level", "users").rows()
    [('F', '0.0', 1), ('F', '1.0', 1), ('M', '1.0', 2)]
    """
    call = locals()
    return run_count(
        predictions,
        TableOptions(
            **expand(Tables, tables, without=(*ITEM_SIDE, *OTHER_LISTS, *COUNTED)),
            **select(TableOptions, call),
        ),
        CountOptions(**select(CountOptions, call)),
        Engine(**expand(Engine, engine)),
    )


def run_count(
    predictions: Any, tables: TableOptions, options: CountOptions, engine: Engine
) -> Counts:
    """The counts with these options."""
    own = read_levels(options.levels)
    most, progress = engine.max_memory, engine.report
    if engine.engine == "local" and not is_large(predictions, tables, most_rows(most)):
        progress("reading")
        inputs, wanted = read_inputs(predictions, tables, reserved=RESERVED_NAMES, max_memory=most)
        measured = measure_everyone(inputs, wanted, engine.n_threads, progress)
        if options.make_levels is not None:
            own |= _written_levels(options.make_levels, measured)
        counts = count_users(inputs, measured, levels_of(wanted, own))
    elif options.make_levels is not None:
        raise InputError(
            f"{spell('make_levels')} looks at all values of a table, and this one is read in "
            "parts. Make the levels from one file of it."
        )
    else:
        with open_executor(engine) as executor:
            counts, _ = count_in_parts(predictions, tables, engine, executor, own)
    if options.part.strip():
        counts = name_part(counts, options.part.strip())
    return without_small_cells(counts, options.min_shown)


def _written_levels(file: Path, measured: Measured) -> dict[str, FloatArray]:
    """Levels that suit these users, for metrics without bounds and where steps are too coarse."""
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
            f"are needed. Leave out {spell('make_levels')}."
        )
    write_text(file, levels_text(edges))
    return {name: np.array(row) for name, row in edges.items()}


@dataclass(frozen=True, slots=True)
class CountedPart:
    """The counts of a part, or of several."""

    counts: Counts
    notes: Notes
    doubts: Doubts

    def __add__(self, other: CountedPart) -> CountedPart:
        """Both together: users are in one part each."""
        return CountedPart(
            merged([self.counts, other.counts], disjoint=True, is_one_table=True),
            added(self.notes, other.notes),
            add_doubts(self.doubts, other.doubts),
        )


def add_doubts(one: Doubts, other: Doubts) -> Doubts:
    """Those of both: what a part has shown to be as expected is not in doubt."""
    return {**other, **one, **{what: None for what in other if other[what] is None}}


@dataclass(frozen=True, slots=True)
class CountPart:
    """The one function that parts go through, whatever works on them.

    Parameters
    ----------
    options : about tables, the metrics among them; the tables themselves are those of the part
    edges : between the levels of metrics
    per_user : a folder for the values of users; None where they are not needed
    model : gives the scores; None where they are in the table
    users : the whole table of users, where features of a model are
    """

    options: Mapping[str, Any]
    edges: Mapping[str, FloatArray]
    threads: int
    reserved: Sequence[str] = RESERVED_NAMES
    per_user: Path | None = None
    model: Model | None = None
    users: Any = None

    @property
    def n_gpus(self) -> float:
        """How many GPUs a part is given where there are any."""
        return 0.0 if self.model is None else 1.0

    def __call__(self, part: Part) -> CountedPart:
        """Read, rank, measure and count a part."""
        inputs, wanted = self.read(part)
        if self.model is not None:
            tables = {**inputs.tables, "users": Table(self.users, "users", inputs.columns)}
            inputs = add_model_scores(self.model, inputs, tables)
        measured = measure_everyone(inputs, wanted, self.threads)
        counts = count_users(inputs, measured, levels_of(wanted, self.edges))
        if self.per_user is not None and inputs.n_users:
            number = part.name.split()[1].replace(",", "")
            # a part that is worked on twice writes the same file
            with atomic_file(self.per_user / f"{int(number):08}.parquet") as file:
                put_table(per_user_table(inputs, measured), file, compression_level=1)
        doubts = {
            f"{name} {what}": why
            for name, table in inputs.tables.items()
            for what, why in table.doubts.items()
        }
        return CountedPart(_with_notes(counts, part.name, ()), inputs.all_notes, doubts)

    def read(self, part: Part) -> tuple[AuditInputs, tuple[MetricAtK, ...]]:
        """The tables of a part, and the metrics."""
        return read_inputs(
            **part.tables, **self.options, reserved=self.reserved, has_scores=self.model is None
        )


def count_in_parts(
    predictions: Any,
    given: TableOptions,
    engine: Engine,
    executor: PartExecutor,
    edges: Mapping[str, FloatArray] = MappingProxyType({}),
    *,
    reserved: Sequence[str] = RESERVED_NAMES,
    per_user: Path | None = None,
    model: Model | None = None,
) -> tuple[Counts, Parts]:
    """The counts of large tables, and the parts they were read in.

    Counts of parts are added in an order that the parts alone determine.

    Parameters
    ----------
    edges, reserved, per_user, model : see CountPart
    """
    progress = engine.report
    with open_parts(predictions, given, folder=engine.scratch, progress=progress) as parts:
        options = {
            name: one for name, one in list_changed(given).items() if name not in TABLE_NAMES
        }
        counting = CountPart(
            options, dict(edges), executor.threads, reserved, per_user, model, given.users
        )
        if given.metrics is None:
            # what the tables allow must be the same in all parts
            _, wanted = counting.read(next(iter(parts)))
            options["metrics"] = [metric.name for metric in wanted]
        if not isinstance(executor, LocalExecutor):
            _refuse_own(options["metrics"])

        def counted() -> Iterator[CountedPart]:
            n_done = 0
            progress("measuring and counting", n_done, parts.n_rows)
            for part, one in zip(parts, executor.map(counting, parts), strict=True):
                n_done += part.n_rows
                progress("measuring and counting", n_done, parts.n_rows)
                yield one

        found = fold(add, counted())
        if refused := [why for why in found.doubts.values() if why is not None]:
            raise InputError(refused[0])
        notes = (*in_words(found.notes), *parts.notes)
        return _with_notes(found.counts, "the counts", notes), parts


def _with_notes(counts: Counts, where: str, notes: Sequence[str]) -> Counts:
    """The same with other notes: those of parts add up, and hold for all of them."""
    info = counts.about.model_copy(update={"warnings": tuple(notes)})
    return replace(counts, where=where, info=info)


def _refuse_own(names: Sequence[str]) -> None:
    """An error for metrics that workers in other processes do not know."""
    for name in names:
        known = name.partition("@")[0].strip().lower()
        if known in METRICS and not METRICS[known].compute.__module__.startswith("fairrec."):
            raise InputError(
                f"Metric '{plain(name)}' is your own, and the workers do not know it. Leave out "
                f"{spell('engine')}, or measure it first and give it as {spell('values')}."
            )
