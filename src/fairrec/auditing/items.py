"""An audit of items: how much each is shown, instead of what users are shown."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fairrec.auditing.call_repr import describe_tables
from fairrec.auditing.measurement import Measurement, Request
from fairrec.core.audit_options import AuditOptions
from fairrec.core.errors import InputError
from fairrec.core.options import spell
from fairrec.groups.grouping import build_grouping
from fairrec.metrics.measured import measure_everyone, refuse_undefined
from fairrec.metrics.reading import ItemsRead, read_items
from fairrec.metrics.tolerance import parse_tolerance
from fairrec.result.tables import RESERVED
from fairrec.scoring.model import Run
from fairrec.statistics.bootstrap import deal_into_blocks
from fairrec.statistics.inequality import measure_catalogue


def measure_items(given: Request) -> Measurement:
    """Read the lists of all users, and measure the items in them."""
    options = given.options
    refused = {
        "counts": bool(given.tables.counts),
        "scorer": given.scorer is not None,
        "search": given.search is not None,
        "engine": options.engine.engine != "local",
        "run": isinstance(given.predictions, Run),
    }
    if name := next((name for name, is_given in refused.items() if is_given), None):
        raise InputError(
            f"{spell('side', 'items')} needs the lists of all users at once, with their scores. "
            f"Leave out {spell(name)}, and give the recommendations as a table."
        )
    read = read_items(
        given.predictions,
        given.tables,
        reserved=RESERVED,
        max_memory=options.max_memory,
        threads=options.n_threads,
    )
    return measure_exposure(read, options)


def measure_exposure(read: ItemsRead, options: AuditOptions) -> Measurement:
    """The value of each item, and the users whose lists it depends on, in blocks."""
    inputs, shown, wanted = read.inputs, read.shown, read.wanted
    options = replace(options, tolerance=parse_tolerance(options.tolerance, wanted))
    grouping = build_grouping(inputs.attributes, options, n_metrics=len(wanted), unit=inputs.unit)
    measured = measure_everyone(inputs, wanted, options.n_threads, options.engine.report)
    measured = replace(measured, ratio=read.ratio)
    refuse_undefined(measured, inputs.candidates, inputs.unit)
    lengths = np.diff(shown.candidates.offsets)
    described = replace(
        inputs.described,
        n_candidates=len(shown.candidates.items),
        measured_by="recommendations" if shown.is_of_all else "candidates",
    )
    k = max((metric.k or 0 for metric in wanted), default=0)
    return Measurement(
        inputs,
        described,
        measured,
        grouping,
        describe_tables(inputs.given, [metric.name for metric in wanted]),
        options,
        blocks=deal_into_blocks(
            read.shares, shown.catalogue, grouping, lengths, options.seed, options.n_threads
        ),
        catalogue=measure_catalogue(shown, k, inputs.attributes),
    )
