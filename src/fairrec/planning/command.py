"""`fairrec plan`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from fairrec.auditing.options import PlanOptions
from fairrec.cli.parameters import FieldsOf, Given, takes_options
from fairrec.cli.settings import Load, SettingsOption, load_metrics, say_settings, settings_file
from fairrec.cli.shared import DebugOption, LogOption, QuietOption, say, shown_progress, stdout
from fairrec.core.audit_options import AuditOptions
from fairrec.core.errors import plain
from fairrec.core.kinds import FILE
from fairrec.core.options import OUTPUT, Option, declared, spelled
from fairrec.inputs.table_options import OTHER_LISTS, TableOptions
from fairrec.mitigation.sources import planned_from


@takes_options
def plan_command(
    *,
    audit: Annotated[
        Path | None,
        typer.Argument(
            help="An audit's folder: what it read and tested, and its users as a pilot."
        ),
    ] = None,
    tables: Annotated[Given, FieldsOf(TableOptions, without=OTHER_LISTS)],
    options: Annotated[Given, FieldsOf(AuditOptions)],
    load: Load = (),
    assumed: Annotated[Given, FieldsOf(PlanOptions)],
    settings: SettingsOption = None,
    out: Annotated[
        Path | None, Option(FILE, "File to write the plan to: NAME.toml", OUTPUT)
    ] = None,
    quiet: QuietOption = False,
    log: LogOption = None,
    debug: DebugOption = False,
) -> None:
    """Set what an audit is to test before it is run, and see what it can find and rule out."""
    from fairrec.auditing.call_repr import read_plan
    from fairrec.auditing.plan_file import check_plan_file
    from fairrec.planning.plan import plan_for
    from fairrec.planning.words import plan_view
    from fairrec.report.text.terminal import rich_table

    old = None if out is None else check_plan_file(out)
    loaded = [file for source in load for file in load_metrics(source)]
    file = settings_file(settings)
    with shown_progress(quiet, log) as progress:
        progress("planning", 0, 0)
        told = {} if audit is None else planned_from(audit)
        # of another table it is not known who will be audited
        audited = None if {"users", "values"} & {*tables} else told.get("pilot")
        if assumed:
            told = {
                name: value for name, value in told.items() if name not in declared(PlanOptions)
            }
        given = {**told, **tables, **options, **assumed}
        made = plan_for(given, file, audited).with_loaded(loaded)
    if file is not None:
        say_settings(settings, file, made.from_settings, quiet=quiet)
    view, console = plan_view(made.facts, made.options["given"]), stdout()
    console.print(Text(view.title))
    for table in view.tables:
        if table.rows:
            console.print()
            console.print(rich_table(table, console.width))
    if "tolerance" in made.options and made.facts.expected and not made.facts.needed and not quiet:
        say(
            "How many users it takes to rule out what matters is not known without "
            f"{spelled('mean')} and {spelled('sd')}, or {spelled('pilot')}."
        )
    if out is not None:
        frozen = read_plan(made.save(out))
        if not quiet:
            new = frozen.facts.checksum
            instead = "" if old in (None, new) else f", in place of {plain(old[:12])}"
            say(f"Written to {out}, checksum {new[:12]}{instead}")
