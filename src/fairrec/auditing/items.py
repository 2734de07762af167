"""An audit of items: who is shown, instead of what users are shown."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from fairrec.auditing.build_result import named_result
from fairrec.auditing.call_repr import audit_call, describe_tables
from fairrec.core.audit_options import About, AuditOptions
from fairrec.core.errors import InputError
from fairrec.core.options import spell
from fairrec.core.progress import Progress
from fairrec.groups.grouping import build_grouping
from fairrec.inputs.table_options import TableOptions
from fairrec.metrics.measured import measure_everyone, refuse_undefined
from fairrec.metrics.reading_items import ItemsRead, read_items
from fairrec.metrics.tolerance import parse_tolerance, refuse_unfit_to
from fairrec.report.audit_result import AuditResult
from fairrec.result.tables import RESERVED
from fairrec.scoring.model import Run
from fairrec.statistics.analysis import Analysis, analyse
from fairrec.statistics.bootstrap import deal_into_blocks
from fairrec.statistics.inequality import measure_spread


def refuse_for_items(predictions: Any, /, **beside: object) -> None:
    """An error for what cannot be done where items are compared.

    Parameters
    ----------
    beside : options by their names, and what was given for each
    """
    given = {name: value for name, value in beside.items() if not _is_usual(value)}
    if isinstance(predictions, Run):
        given["run"] = predictions
    for name in given:
        raise InputError(
            f"{spell('side', 'items')} needs the lists of all users at once, with their scores. "
            f"Leave out {spell(name)}, and give the recommendations as a table."
        )


def _is_usual(value: object) -> bool:
    """Whether an option has the value it has where nothing is said."""
    # it may be counts, which hold tables and cannot be compared
    return value is None or (isinstance(value, str | tuple) and value in ((), "", "local"))


def audit_items(
    predictions: Any,
    tables: TableOptions,
    options: AuditOptions,
    progress: Progress,
    *,
    command: str | None,
    about: About,
) -> AuditResult:
    """The audit of the items in these lists, or of units of them."""
    started = time.perf_counter()
    read = read_items(
        predictions,
        tables,
        reserved=RESERVED,
        max_memory=options.max_memory,
        threads=options.n_threads,
    )
    inputs, wanted = read.inputs, read.wanted
    options = replace(options, tolerance=parse_tolerance(options.tolerance, wanted))
    analysis = analyse_items(read, options, progress)
    said = describe_tables(tables, [metric.name for metric in wanted])
    result = named_result(
        analysis,
        inputs,
        progress,
        described=replace(
            inputs.described,
            n_candidates=len(read.shown.candidates.items),
            measured_by="recommendations" if read.shown.is_of_all else "candidates",
        ),
        wanted=wanted,
        command=command or audit_call(said, options, about),
        about=about,
        started=started,
    )
    k = max((metric.k or 0 for metric in wanted), default=0)
    catalogue = measure_spread(read.shown, k, inputs.attributes, options.n_threads)
    changed = {
        "catalogue": catalogue,
        "warnings": (*result.summary.warnings, *_add_nothing(read)),
    }
    return replace(result, summary=result.summary.model_copy(update=changed))


def _add_nothing(read: ItemsRead) -> list[str]:
    """A note on units that are due nothing and get nothing."""
    unit = read.inputs.unit
    return [
        f"{name}: {n:,} of {unit.count(read.inputs.n_users)} were due nothing and got nothing; "
        "they are counted in their groups and add nothing there"
        for name, n in read.n_adding_nothing.items()
        if n
    ]


def analyse_items(
    read: ItemsRead,
    options: AuditOptions,
    progress: Progress = lambda stage, done, total: None,
) -> Analysis:
    """What there is to say of groups of items, by users drawn again."""
    inputs, shown = read.inputs, read.shown
    grouping = build_grouping(
        inputs.attributes, options, n_metrics=len(read.wanted), unit=inputs.unit
    )
    measured = replace(
        measure_everyone(inputs, read.wanted, options.n_threads, progress), ratio=read.ratio
    )
    refuse_undefined(measured, inputs.candidates, inputs.unit)
    refuse_unfit_to(options.tolerance, measured)
    lengths = np.diff(shown.candidates.offsets)
    blocks = deal_into_blocks(
        read.shares, shown.catalogue, grouping, lengths, options.seed, options.n_threads
    )
    return analyse(measured, grouping, options, progress, blocks=blocks)
