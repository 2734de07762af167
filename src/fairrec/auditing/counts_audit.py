"""Audits of counts: read from files, or made here from parts of large tables."""

from __future__ import annotations

import atexit
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from fairrec.auditing.build_result import named_result
from fairrec.auditing.call_repr import audit_call, describe_parts, describe_tables
from fairrec.auditing.count import counted_in_parts
from fairrec.core.atomic_io import errors_of_scratch, scratch
from fairrec.core.audit_options import About, AuditOptions
from fairrec.core.errors import InputError, plain
from fairrec.core.options import Blank, invalid, list_changed, spell
from fairrec.core.progress import Progress
from fairrec.core.redact_paths import redact_path
from fairrec.counts.executor import open_executor
from fairrec.counts.external import with_info
from fairrec.counts.merging import merged
from fairrec.counts.rows import Counted, counted_users
from fairrec.counts.selection import chosen
from fairrec.counts.table import Counts, read_counts, refuse_unlike
from fairrec.groups.grouping import build_grouping
from fairrec.inputs.audit_inputs import open_tables
from fairrec.inputs.partition import Parts
from fairrec.inputs.table_options import COUNTED, GROUPED, TableOptions
from fairrec.inputs.tables import Table
from fairrec.inputs.users import Attribute
from fairrec.metrics.measured import Measured
from fairrec.metrics.tolerance import parse_tolerance, refuse_unfit_to
from fairrec.report.audit_result import AuditResult
from fairrec.scoring.model import Model
from fairrec.statistics.analysis import analyse

NAMELESS = About()
NOT_LOOKED_AT = (
    "users were counted, so that circumstances in which groups differ, such as the number of "
    "relevant items, were not looked at unasked"
)


def refuse_beside(predictions: Any, tables: TableOptions, **scored: object) -> None:
    """An error where something stands beside counts, which stand for themselves."""
    given = {"predictions": predictions, **list_changed(tables), **scored}
    for name, value in given.items():
        if value is not None and name not in (*GROUPED, *COUNTED, "better"):
            what = "the predictions table" if name == "predictions" else spell(name)
            raise InputError(
                f"{spell('counts')} stand for themselves: all that is known of users is in them. "
                f"Leave out {what}."
            )


def audit_counts(
    asked: TableOptions, options: AuditOptions, about: About = NAMELESS
) -> AuditResult:
    """The audit of all users in these counts.

    Parameters
    ----------
    asked : the counts, and what of them; the tables themselves are not at hand
    """
    counts, where, progress = asked.counts, options.engine, options.engine.report
    started = time.perf_counter()
    progress("reading counts", 0, 0)
    for one in counts:
        if not isinstance(one, Counts | Path):
            raise invalid("counts", "a path or what fairrec.count gives, or several", one)
    files = [one for one in counts if isinstance(one, Path)]
    _refuse_twice(counts)
    read = [one if isinstance(one, Counts) else read_counts(one) for one in counts]
    if asked.better and all(one.info is not None for one in read):
        raise InputError(
            f"{spell('better')}: these counts say which end of each metric is better. Leave it "
            "out, or count again."
        )
    known = [with_info(one, asked.better or {}) for one in read]
    for one in known:
        assert one.info is not None
        refuse_unlike(one.rows, one.info, one.where)
    together = merged(known, disjoint=asked.disjoint)
    counted = counted_users(chosen(together, asked.by, asked.adjust_for, asked.metrics))
    opened = [_table(*pair) for pair in zip(counts, read, strict=True) if isinstance(pair[0], Path)]
    names = ["counts", *(f"counts {at}" for at in range(2, len(opened) + 1))]
    described = replace(counted.described, tables=dict(zip(names, opened, strict=False)))
    with open_executor(where) as executor:
        return audit_counted(
            replace(counted, described=described),
            options,
            progress,
            command=about.command or _as_call(files, counted, asked, options, about),
            about=about,
            started=started,
            executor=None if where.engine == "local" else executor,
        )


def audit_counted(
    counted: Counted,
    options: AuditOptions,
    progress: Progress,
    *,
    command: str,
    about: About,
    started: float,
    executor: Executor | None = None,
) -> AuditResult:
    """The audit of users who were counted."""
    measured, wanted = counted.measured, counted.measured.metrics
    options = replace(options, tolerance=parse_tolerance(options.tolerance, wanted))
    _refuse_undefined(measured)
    refuse_unfit_to(options.tolerance, measured)
    grouping = build_grouping(counted.attributes, options, counted.n_users, len(wanted))
    analysis = analyse(measured, grouping, options, progress, counted.strata, executor)
    warnings = (*counted.described.warnings, NOT_LOOKED_AT)
    return named_result(
        analysis,
        counted,
        progress,
        described=replace(counted.described, warnings=warnings),
        wanted=wanted,
        command=command,
        about=about,
        started=started,
    )


def _refuse_undefined(measured: Measured) -> None:
    """An error for a metric that is undefined for every user."""
    for i, metric in enumerate(measured.metrics):
        if not measured.column(i).n_users:
            raise InputError(
                f"Metric '{plain(metric.name)}' is undefined for every user. Fix the tables and "
                f"count again, or leave it out: {spell('metrics', Blank('NAMES'))}"
            )


def _refuse_twice(counts: Sequence[Counts | Path]) -> None:
    """Whatever is said of parts, counts have all their users in common with themselves."""
    seen = [one.resolve() if isinstance(one, Path) else one for one in counts]
    for at, one in enumerate(seen):
        if any(one is other or (isinstance(one, Path) and one == other) for other in seen[:at]):
            where = plain(counts[at], 300) if isinstance(one, Path) else one.where
            raise InputError(
                f"{where}: is named twice in {spell('counts')}, so its users would be counted "
                "twice. Leave one out."
            )


def _table(file: Counts | Path, counts: Counts) -> Table:
    """The table that was read, whatever the ending of its name."""
    table = Table(counts.rows, "counts")
    table.path = Path(str(file))
    table.where = plain(table.path.name)
    return table


def _as_call(
    files: Sequence[Path],
    counted: Counted,
    asked: TableOptions,
    options: AuditOptions,
    about: About,
) -> str:
    """The call that repeats an audit made from Python."""
    said = [f"counts={[str(redact_path(file)) for file in files]!r}" if files else "counts=counts"]
    said += describe_parts({**list_changed(asked), "by": counted.described.by})
    return audit_call(said, options, about)


def audit_in_parts(
    predictions: Any,
    given: TableOptions,
    options: AuditOptions,
    about: About = NAMELESS,
    *,
    model: Model | None,
    scored: Sequence[str],
    reserved: tuple[str, ...],
) -> AuditResult:
    """The audit of large tables: users are counted part by part, and the counts audited.

    Parameters
    ----------
    model : who gives the scores; None where they are in the table
    scored : how that is said in a call
    """
    started, where, progress = time.perf_counter(), options.engine, options.engine.report
    place = Path(tempfile.gettempdir()) if where.scratch is None else where.scratch
    with ExitStack() as ending:
        with errors_of_scratch(place):
            per_user = ending.enter_context(scratch(place))
        with (
            open_executor(where) as executor,
            counted_in_parts(
                predictions,
                given,
                executor,
                {},
                progress,
                reserved=reserved,
                per_user=per_user,
                model=model,
                folder=where.scratch,
            ) as (counts, parts),
        ):
            counted = counted_users(counts)
            tables = open_tables(predictions, given)
            notes = (*counted.described.warnings, *_notes(parts, counted.attributes))
            described = replace(counted.described, tables=tables, warnings=notes)
            said = describe_tables(given, [one.name for one in counted.measured.metrics])
            result = audit_counted(
                replace(counted, described=described),
                options,
                progress,
                command=about.command or audit_call(said, options, about, scored),
                about=about,
                started=started,
                executor=None if where.engine == "local" else executor,
            )
        # kept until the program ends: the result is written from it
        atexit.register(ending.pop_all().close)
    return replace(result, per_user_parts=pl.scan_parquet(per_user / "*.parquet"))


def _notes(parts: Parts, attributes: Sequence[Attribute]) -> list[str]:
    """What the reader should know of columns, beside what their counts tell."""
    told = {note for attribute in attributes for note in attribute.warnings}
    notes = (note for one in parts.attributes for note in one.audited.warnings)
    return [note for note in notes if note not in told]
