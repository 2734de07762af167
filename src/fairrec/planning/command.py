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
    from fairrec.auditing.saved_audits import load_audit
    from fairrec.planning.plan import drop_settled, plan_for
    from fairrec.planning.words import plan_markdown, plan_view
    from fairrec.report.answer import print_answer

    if out is not None:
        check_plan_file(out)
    for metrics in load:
        load_metrics(metrics)
    file = settings_file(settings)
    with shown_progress(quiet) as progress:
        progress("planning", 0, 0)
        found = {} if audit is None else read_plan_settings(audit)
        # of another table it is not known which users will be audited
        is_same = audit is not None and not {"users", "values"} & {*tables}
        audited = found.get("pilot") if is_same else None
        if assumed:
            found = {name: one for name, one in found.items() if name not in _ASSUMED}
        made = plan_for({**found, **tables, **options, **where, **assumed}, file, audited)
    if file is not None:
        say_settings(settings, file, made.from_settings, quiet=quiet)
    facts = made.facts
    if audit is not None and is_same:
        facts = drop_settled(facts, load_audit(audit))
    view = plan_view(facts, len(made.facts.needed) - len(facts.needed))
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
        checksum = read_plan(made.save(out)).facts.checksum
        if not quiet:
            say(f"Written to {out}, checksum {checksum[:12]}")


_ASSUMED = list_options(PlanOptions)
