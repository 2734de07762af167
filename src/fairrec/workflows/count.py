"""Counts of users who are alike: from tables to what an audit needs, without a row of any user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fairrec.core.audit_options import AuditOptions, MinShown, SharingOptions, Threads
from fairrec.core.errors import InputError
from fairrec.core.files import write_text
from fairrec.core.options import Blank, documented, spelled
from fairrec.core.progress import Progress
from fairrec.counts.counting import count_users
from fairrec.counts.levels import has_steps, levels_of, levels_text, read_levels, suggested_levels
from fairrec.counts.options import CountOptions, LevelsFile, MakeLevels, PartName
from fairrec.counts.small_cells import without_small_cells
from fairrec.counts.table import Counts
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.inputs.table_options import MissingLists, Relevant, TableOptions
from fairrec.metrics import MetricAtK
from fairrec.metrics.measured import Measured, measure_everyone
from fairrec.metrics.reading import read_inputs


@documented(TableOptions, CountOptions, SharingOptions, AuditOptions)
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
    missing_lists: MissingLists = TableOptions.missing_lists,
    better: Mapping[str, str] | str | None = None,
    part: PartName = CountOptions.part,
    levels: LevelsFile | str = CountOptions.levels,
    make_levels: MakeLevels | str = CountOptions.make_levels,
    min_shown: MinShown = SharingOptions.min_shown,
    threads: Threads = AuditOptions.threads,
    progress: Progress | None = None,
) -> Counts:
    """Count the users who are alike: all that `fairrec.audit(counts=...)` needs.

    Parameters
    ----------
    predictions : as of `fairrec.audit`
    test, relevant, missing_lists, values, better : see TableOptions
    users, items, history, columns, by, given, metrics : see TableOptions
    part, levels, make_levels : see CountOptions
    min_shown : merge smaller combinations of attributes into `(other)`
    threads : see AuditOptions
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
    options = AuditOptions.of(threads=threads)
    progress = progress or (lambda stage, done, total: None)
    progress("reading", 0, 0)
    inputs, wanted = read_inputs(
        predictions,
        test=test,
        values=values,
        relevant=relevant,
        missing_lists=missing_lists,
        better=better,
        users=users,
        by=by,
        given=given,
        items=items,
        history=history,
        metrics=metrics,
        columns=columns,
        reserved=RESERVED_NAMES,
    )
    refuse_pooled(wanted)
    measured = measure_everyone(inputs, wanted, options.n_threads, progress)
    if asked.make_levels is not None:
        _write_levels(asked.make_levels, measured)
        if asked.levels is None:
            asked = CountOptions(asked.part, asked.make_levels)
    counts = counted(inputs, measured, asked)
    return without_small_cells(counts, sharing.min_shown)


RESERVED_NAMES = ("family", "level", "users", "missing", "metric")
"""Columns of counts and of results, which no attribute may be called."""


def counted(inputs: AuditInputs, measured: Measured, options: CountOptions) -> Counts:
    """The counts of users whose values are known."""
    edges = levels_of(measured.metrics, read_levels(options.levels))
    return count_users(inputs, measured, edges, options.part)


def refuse_pooled(wanted: Sequence[MetricAtK]) -> None:
    """An error for a metric that is no mean over users, which counts do not tell."""
    for metric in wanted:
        if metric.metric.pooled:
            raise InputError(
                f"{metric.name} is no mean over users, so it cannot be told from counts of them. "
                f"Name others: {spelled('metrics', Blank('NAMES'))}"
            )


def _write_levels(file: Path, measured: Measured) -> None:
    """Levels that suit these users, for metrics without bounds."""
    edges = {
        metric.name: suggested_levels(values)
        for metric, values in zip(measured.metrics, measured.values, strict=True)
        if not has_steps(metric)
    }
    edges = {name: row for name, row in edges.items() if row}
    if not edges:
        raise InputError(
            f"Every metric has bounds, or one value for everyone, so no levels are needed. Leave "
            f"out {spelled('make_levels')}."
        )
    write_text(file, levels_text(edges))
