"""`fairrec plan`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairrec.auditing.options import PlanOptions
from fairrec.auditing.saved_settings import read_plan_settings
from fairrec.auditing.settings import (
    Load,
    SettingsOption,
    load_metrics,
    say_settings,
    settings_file,
)
from fairrec.cli.parameters import Flags, Given, typer_command
from fairrec.cli.shared import (
    QuietOption,
    VerboseOption,
    print_markdown,
    say,
    shown_progress,
    stdout,
)
from fairrec.core.audit_options import RAY, AuditOptions, Engine
from fairrec.core.errors import plain
from fairrec.core.options import OUTPUT, Option, list_options, spell
from fairrec.inputs.table_options import COUNTED, OTHER_LISTS, TableOptions


@typer_command
def plan_command(
    *,
    audit: Annotated[
        Path | None,
        typer.Argument(
            help="An audit's folder: what it read and tested, and its users as a pilot."
        ),
    ] = None,
    tables: Annotated[Given, Flags(TableOptions, without=(*OTHER_LISTS, *COUNTED))],
    options: Annotated[Given, Flags(AuditOptions)],
    where: Annotated[Given, Flags(Engine, without=RAY)],
    load: Load = (),
    assumed: Annotated[Given, Flags(PlanOptions)],
    settings: SettingsOption = None,
    out: Annotated[Path | None, Option("File to write the plan to: NAME.toml", OUTPUT)] = None,
    verbose: VerboseOption = False,
    quiet: QuietOption = False,
) -> None:
    """Set what an audit is to test before it is run, and see what it can find and rule out."""
    from fairrec.auditing.choices import read_plan
    from fairrec.auditing.plan_file import check_plan_file
    from fairrec.planning.plan import plan_for
    from fairrec.planning.words import plan_markdown, plan_view
    from fairrec.report.answer import print_answer

    old = None if out is None else check_plan_file(out)
    loaded = [file for source in load for file in load_metrics(source)]
    file = settings_file(settings)
    with shown_progress(quiet) as progress:
        progress("planning", 0, 0)
        told = {} if audit is None else read_plan_settings(audit)
        # of another table it is not known who will be audited
        audited = None if {"users", "values"} & {*tables} else told.get("pilot")
        if assumed:
            told = {
                name: value for name, value in told.items() if name not in list_options(PlanOptions)
            }
        given = {**told, **tables, **options, **where, **assumed}
        made = plan_for(given, file, audited).with_loaded(loaded)
    if file is not None:
        say_settings(settings, file, made.from_settings, quiet=quiet)
    view = plan_view(made.facts, made.options["adjust_for"])
    if verbose:
        print_markdown(plan_markdown(view))
    else:
        print_answer(view.answer, stdout())
    if "tolerance" in made.options and made.facts.expected and not made.facts.needed and not quiet:
        say(
            "How many users it takes to rule out a harm beyond tolerance is not known without "
            f"{spell('mean')} and {spell('sd')}, or {spell('pilot')}."
        )
    if out is not None:
        frozen = read_plan(made.save(out))
        if not quiet:
            new = frozen.facts.checksum
            instead = "" if old in (None, new) else f", in place of {plain(old[:12])}"
            say(f"Written to {out}, checksum {new[:12]}{instead}")
