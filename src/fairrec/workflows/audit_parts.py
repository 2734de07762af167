"""An audit of tables that are too large to be read at once."""

from __future__ import annotations

import atexit
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from fairrec.core.atomic_io import errors_of_scratch, scratch
from fairrec.core.audit_options import AboutOptions, AuditOptions
from fairrec.core.progress import Progress
from fairrec.counts.executor import open_executor
from fairrec.counts.options import EngineOptions
from fairrec.counts.rows import counted_users
from fairrec.inputs.audit_inputs import open_tables
from fairrec.inputs.parts.partition import Parts
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.users import Attribute
from fairrec.result.audit_result import AuditResult
from fairrec.scoring.model import Model
from fairrec.workflows.audit_counts import audit_counted
from fairrec.workflows.count_parts import counted_in_parts
from fairrec.workflows.repeated_call import audit_call, said_of_tables


def audit_in_parts(
    predictions: Any,
    given: TableOptions,
    options: AuditOptions,
    where: EngineOptions,
    progress: Progress,
    *,
    model: Model | None,
    scored: Sequence[str],
    reserved: tuple[str, ...],
    command: str | None,
    about: AboutOptions,
) -> AuditResult:
    """The audit of large tables: users are counted part by part, and the counts audited.

    Parameters
    ----------
    where : who works on the parts
    model : who gives the scores; None where they are in the table
    scored : how that is said in a call
    """
    started = time.perf_counter()
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
            said = said_of_tables(given, [one.name for one in counted.measured.metrics])
            result = audit_counted(
                replace(counted, described=described),
                options,
                progress,
                command=command or audit_call(said, options, about, scored),
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
