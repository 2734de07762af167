"""An audit of counts: read from files, or made here from parts of large tables."""

from __future__ import annotations

import atexit
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

import polars as pl

from fairrec.auditing.call_repr import Variable, describe_scoring, describe_tables
from fairrec.auditing.count import count_in_parts
from fairrec.auditing.measurement import Measurement, Request
from fairrec.auditing.search import as_model
from fairrec.core.atomic_io import errors_of_scratch
from fairrec.core.errors import InputError, plain
from fairrec.core.options import Blank, invalid, list_changed, spell
from fairrec.core.redact_paths import redact_path
from fairrec.counts.executor import open_executor
from fairrec.counts.merging import merged
from fairrec.counts.options import RESERVED_NAMES
from fairrec.counts.rows import Counted, counted_users
from fairrec.counts.selection import select_counts
from fairrec.counts.table import Counts, read_counts, refuse_unlike, with_info
from fairrec.groups.grouping import build_grouping
from fairrec.inputs.audit_inputs import open_tables, refuse_clash
from fairrec.inputs.table_options import COUNTED, GROUPED
from fairrec.inputs.tables import Table
from fairrec.metrics.tolerance import parse_tolerance
from fairrec.result.tables import RESERVED
from fairrec.scoring.model import Run, ScoreByRun

NOT_LOOKED_AT = (
    "users were counted, so that covariates in which groups differ, such as the number of "
    "relevant items, were not looked at unasked"
)


def measure_counted(
    given: Request,
    counted: Counted,
    call: Mapping[str, Any],
    executor: Executor,
    per_user_parts: pl.LazyFrame | None = None,
) -> Measurement:
    """The values of rows of counts, which stand for users who are alike."""
    options, measured, described = given.options, counted.measured, counted.described
    wanted = measured.metrics
    options = replace(options, tolerance=parse_tolerance(options.tolerance, wanted))
    for i, metric in enumerate(wanted):
        if not measured.column(i).n_users:
            raise InputError(
                f"Metric '{plain(metric.name)}' is undefined for every user. Fix the tables "
                f"and count again, or leave it out: {spell('metrics', Blank('NAMES'))}"
            )
    return Measurement(
        counted,
        replace(described, warnings=(*described.warnings, NOT_LOOKED_AT)),
        measured,
        build_grouping(counted.attributes, options, counted.n_users, len(wanted)),
        call,
        options,
        counted.strata,
        executor=None if options.engine.engine == "local" else executor,
        per_user_parts=per_user_parts,
    )


def measure_counts(given: Request) -> Measurement:
    """Read counts, of which some may be selected; the tables themselves are not at hand."""
    tables = given.tables
    beside = {"predictions": given.predictions, **list_changed(tables)}
    beside |= {"search": given.search, "scorer": given.scorer}
    for name, value in beside.items():
        if value is not None and name not in (*GROUPED, *COUNTED, "better"):
            what = "the predictions table" if name == "predictions" else spell(name)
            raise InputError(
                f"{spell('counts')} stand for themselves: all that is known of users is in them. "
                f"Leave out {what}."
            )
    for at, one in enumerate(tables.counts):
        if not isinstance(one, Counts | Path):
            raise invalid("counts", "a path or what fairrec.count gives, or several", one)
        if any(one is other or _is_same_file(one, other) for other in tables.counts[:at]):
            where = plain(one, 300) if isinstance(one, Path) else one.where
            raise InputError(
                f"{where}: is named twice in {spell('counts')}, so its users would be counted "
                "twice. Leave one out."
            )
    read = [one if isinstance(one, Counts) else read_counts(one) for one in tables.counts]
    if tables.better and all(one.info is not None for one in read):
        raise InputError(
            f"{spell('better')}: these counts say which end of each metric is better. Leave it "
            "out, or count again."
        )
    known = [with_info(one, tables.better or {}) for one in read]
    for one in known:
        refuse_unlike(one.rows, one.about, one.where)
    together = merged(known, disjoint=tables.disjoint)
    counted = counted_users(select_counts(together, tables.by, tables.adjust_for, tables.metrics))
    refuse_clash([one.name for one in counted.attributes], RESERVED)
    opened = [
        _table(file, one)
        for file, one in zip(tables.counts, read, strict=True)
        if isinstance(file, Path)
    ]
    names = ["counts", *(f"counts {at}" for at in range(2, len(opened) + 1))]
    described = replace(counted.described, tables=dict(zip(names, opened, strict=False)))
    files = [str(redact_path(one)) for one in tables.counts if isinstance(one, Path)]
    call = {
        **list_changed(tables),
        "by": described.by,
        "counts": tuple(files) if files else Variable("counts"),
    }
    executor = given.closing.enter_context(open_executor(given.options.engine))
    return measure_counted(given, replace(counted, described=described), call, executor)


def _is_same_file(one: object, other: object) -> bool:
    return isinstance(one, Path) and isinstance(other, Path) and one.resolve() == other.resolve()


def _table(file: Path, counts: Counts) -> Table:
    """The table that was read, whatever the ending of its name."""
    table = Table(counts.rows, "counts")
    table.path = file
    table.where = plain(file.name)
    return table


def measure_parts(given: Request) -> Measurement:
    """Count the users of large tables, part by part."""
    predictions, tables, scorer = given.predictions, given.tables, given.scorer
    engine = given.options.engine
    if isinstance(predictions, Run):
        # each worker loads the model, and scores the candidates of its parts
        scorer = ScoreByRun(predictions.folder)
        predictions = predictions.file
    place = Path(gettempdir()) if engine.scratch is None else engine.scratch
    with errors_of_scratch(place):
        home = TemporaryDirectory(dir=place)
    # until the program ends, as the result is written from it, or until an error
    atexit.register(home.cleanup)
    given.closing.push(lambda error, *_: None if error is None else home.cleanup())
    executor = given.closing.enter_context(open_executor(engine))
    counts, parts = count_in_parts(
        predictions,
        tables,
        engine,
        executor,
        reserved=(*RESERVED, *RESERVED_NAMES),
        per_user=Path(home.name),
        model=as_model(scorer),
    )
    counted = counted_users(counts)
    known = {note for attribute in counted.attributes for note in attribute.warnings}
    notes = (note for one in parts.attributes for note in one.audited.warnings)
    described = replace(
        counted.described,
        tables=open_tables(predictions, tables),
        warnings=(*counted.described.warnings, *(note for note in notes if note not in known)),
    )
    names = [metric.name for metric in counted.measured.metrics]
    call = {**describe_tables(tables, names), **describe_scoring(given.search, given.scorer)}
    per_user = pl.scan_parquet(Path(home.name) / "*.parquet")
    return measure_counted(given, replace(counted, described=described), call, executor, per_user)
