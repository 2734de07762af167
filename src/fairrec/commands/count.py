"""`fairrec count`: users who are alike, counted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairrec.cli.parameters import FieldsOf, Given, takes_options
from fairrec.cli.settings import Load, load_metrics
from fairrec.cli.shared import DebugOption, LogOption, QuietOption, need, say, shown_progress
from fairrec.core.audit_options import AuditOptions, MaxMemory, MinShown, Threads
from fairrec.core.errors import InputError, OutputError, plain
from fairrec.core.kinds import FILE
from fairrec.core.options import OUTPUT, Option
from fairrec.counts.options import CountOptions, EngineOptions
from fairrec.inputs.table_options import ITEM_SIDE, OTHER_LISTS, TableOptions


@takes_options
def count_command(
    *,
    predictions: Annotated[
        Path | None,
        typer.Argument(help="Recommendations (with --test), or scored candidates with labels."),
    ] = None,
    tables: Annotated[Given, FieldsOf(TableOptions, without=(*ITEM_SIDE, *OTHER_LISTS))],
    load: Load = (),
    counting: Annotated[Given, FieldsOf(CountOptions)],
    where: Annotated[Given, FieldsOf(EngineOptions)],
    threads: Threads = AuditOptions.threads,
    max_memory: MaxMemory = AuditOptions.max_memory,
    out: Annotated[Path, Option(FILE, "The file for the counts", OUTPUT)],
    min_shown: MinShown = None,
    quiet: QuietOption = False,
    log: LogOption = None,
    debug: DebugOption = False,
) -> None:
    """Count the users who are alike: all that an audit needs, and no user's row."""
    from fairrec.result.folder import refuse_overwriting

    if (predictions is None) == ("values" not in tables):
        raise InputError(
            "Name one of recommendations with held-out interactions, scored candidates, or values "
            "per user: fairrec count PREDICTIONS --users USERS --by ATTRIBUTES --out FILE"
        )
    need(tables, *(("users",) if predictions is not None else ()), "by", command="count")
    read = [predictions, counting.get("levels"), *tables.values()]
    refuse_overwriting("out", out, [*read, counting.get("make_levels")])
    for path in read:
        if isinstance(path, Path) and path.is_dir() and out.parent.resolve() == path.resolve():
            raise OutputError(
                f"{plain(out, 300)}: lies in a folder whose files are all read as one table, and "
                f"would be one of them the next time. Name a file elsewhere."
            )
    refuse_overwriting("make_levels", counting.get("make_levels"), read)
    refuse_overwriting("log", log, [*read, out])
    with shown_progress(quiet, log) as progress:
        from fairrec.auditing.count import count
        from fairrec.counts.table import USERS, write_counts

        for source in load:
            load_metrics(source)
        counts = count(
            predictions,
            **tables,
            **counting,
            **where,
            threads=threads,
            max_memory=max_memory,
            min_shown=min_shown,
            progress=progress,
        )
        progress("writing", 0, 0)
        write_counts(counts, out)
    if not quiet:
        info = counts.info
        assert info is not None
        families = counts.rows.group_by("family").agg(USERS).height - len(info.missing)
        n_users = counts.rows.filter(family=",".join(info.families[0]))[USERS].sum()
        say(
            f"Written to {out}: {n_users:,} users in {counts.rows.height:,} rows, "
            f"{families} famil{'y' if families == 1 else 'ies'} of metrics, and who is missing"
        )
        if not info.parts:
            say("The counts do not say whose they are; name the part to add others: --part NAME")
