"""Counts of users who are alike: from tables to what an audit needs, without a row of any user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fairrec.core.arrays import FloatArray
from fairrec.core.atomic_io import write_text
from fairrec.core.audit_options import AuditOptions, MaxMemory, MinShown, SharingOptions, Threads
from fairrec.core.errors import InputError, errors_of_libraries
from fairrec.core.options import documented, spelled
from fairrec.core.progress import Progress
from fairrec.counts.counting import count_users
from fairrec.counts.executor import open_executor
from fairrec.counts.levels import (
    ENOUGH,
    has_steps,
    kept_on,
    levels_of,
    levels_text,
    read_levels,
    suggested_levels,
)
from fairrec.counts.merging import named
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
from fairrec.inputs.room import is_large, most_rows
from fairrec.inputs.table_options import Gain, MissingLists, Relevant, TableOptions
from fairrec.metrics.measured import Measured, measure_everyone
from fairrec.metrics.reading import read_inputs
from fairrec.workflows.count_parts import counted_in_parts, refuse_pooled


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
