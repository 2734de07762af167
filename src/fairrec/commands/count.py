"""`fairrec count`: users aggregated into counts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairrec.auditing.settings import Load, load_metrics
from fairrec.cli.parameters import Flags, Given, typer_command
from fairrec.cli.shared import QuietOption, say, shown_progress
from fairrec.core.audit_options import Engine
from fairrec.core.options import OUTPUT, Option, list_changed
from fairrec.counts.options import CountOptions
from fairrec.inputs.table_options import COUNTED, ITEM_SIDE, OTHER_LISTS, TableOptions


@typer_command
def count_command(
    *,
    predictions: Annotated[
        Path | None,
        typer.Argument(help="Recommendations (with --test), or scored candidates with labels."),
    ] = None,
    tables: Annotated[Given, Flags(TableOptions, without=(*ITEM_SIDE, *OTHER_LISTS, *COUNTED))],
    load: Load = (),
    counting: Annotated[Given, Flags(CountOptions)],
    where: Annotated[Given, Flags(Engine)],
    out: Annotated[Path, Option("The file for the counts", OUTPUT)],
    quiet: QuietOption = False,
) -> None:
    """Aggregate users into counts; no user-level data leaves."""
    from fairrec.result.folder import refuse_overwriting

    asked, options = TableOptions(**tables), CountOptions(**counting)
    read = [predictions, options.levels, *list_changed(asked).values()]
    refuse_overwriting("out", out, [*read, options.make_levels])
    refuse_overwriting("make_levels", options.make_levels, read)
    with shown_progress(quiet) as progress:
        from fairrec.auditing.count import run_count
        from fairrec.counts.table import USERS, write_counts

        for source in load:
            load_metrics(source)
        counts = run_count(predictions, asked, options, Engine(**where, progress=progress))
        progress("writing", 0, 0)
        write_counts(counts, out)
    if not quiet:
        info = counts.info
        assert info is not None
        families = counts.rows.group_by("family").agg(USERS).height - len(info.missing)
        n_users = counts.rows.filter(family=",".join(info.families[0]))[USERS].sum()
        say(
            f"Written to {out}: {n_users:,} users in {counts.rows.height:,} rows, "
            f"{families} famil{'y' if families == 1 else 'ies'} of metrics, and missing users"
        )
        if not info.parts:
            say("The counts do not say whose they are; name the part to add others: --part NAME")
