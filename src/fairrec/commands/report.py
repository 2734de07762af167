"""`fairrec report`, `fairrec card` and `fairrec mlflow`: what is made of saved results."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from fairrec.cli.parameters import takes_options
from fairrec.cli.shared import AuditArgument, DebugOption, QuietOption, print_markdown, say
from fairrec.core.errors import InputError
from fairrec.core.kinds import FILE, NAME, SWITCH, TEXT
from fairrec.core.options import OUTPUT, Option, spelled

if TYPE_CHECKING:
    from fairrec.counterfactuals.result import CounterfactualResult
    from fairrec.mitigation.mitigation_result import MitigationResult
    from fairrec.result.audit_result import AuditResult


@takes_options
def report_command(
    *,
    folder: Annotated[
        Path, typer.Argument(help="Folder of an audit, mitigation, comparison or trend.")
    ],
    out: Annotated[
        Path | None, Option(FILE, "The file to write", default="report.html in the folder")
    ] = None,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Write the page of a saved audit, mitigation, comparison or trend anew."""
    from fairrec.comparison.page import comparison_page
    from fairrec.comparison.result import load_comparison
    from fairrec.core.atomic_io import write_text
    from fairrec.counterfactuals.result import load_counterfactual
    from fairrec.mitigation.mitigation_result import load_mitigation
    from fairrec.report.page.html import page_html
    from fairrec.result.folder import COMPARISON, TREND, kind_in
    from fairrec.result.parts import result_id, with_id
    from fairrec.result.saved import load_audit_run, load_groups, load_saved
    from fairrec.trends.page import trend_page
    from fairrec.trends.result import load_trend

    file = out or folder / "report.html"
    kind = kind_in(folder)
    if kind is COMPARISON:
        comparison = load_comparison(folder)
        page, id = comparison_page(*comparison), result_id(*comparison)
    elif kind is TREND:
        trend = load_trend(folder)
        page, id = trend_page(trend), result_id(trend)
    else:
        summary, id = load_saved(folder)
        link = os.path.relpath(folder / "groups.parquet", file.parent)
        page = page_html(
            summary,
            load_groups(folder, id),
            Path(link).as_posix(),
            load_mitigation(folder, id),
            load_audit_run(folder, id),
            load_counterfactual(folder, id),
        )
    write_text(file, with_id(page, id))
    if not quiet:
        say(f"Written: {file}")


@takes_options
def mlflow_command(
    *,
    audit: AuditArgument,
    tracking_uri: Annotated[
        str | None,
        Option(TEXT, "The server or store to log to", default="as MLFLOW_TRACKING_URI says"),
    ] = None,
    experiment: Annotated[
        str | None, Option(NAME, "The experiment of the new run, made where there is none")
    ] = None,
    run_id: Annotated[
        str | None, Option(NAME, "A run to log to, such as that of the model", default="a new one")
    ] = None,
    per_user: Annotated[
        bool, Option(SWITCH, "Log files with a row for each user too", OUTPUT)
    ] = False,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Log a saved audit to a run of MLflow, and print the id of the run."""
    from fairrec.integrations.mlflow import log_audit

    logged = log_audit(
        _loaded(audit),
        run_id,
        tracking_uri=tracking_uri,
        experiment=experiment,
        per_user=per_user,
    )
    typer.echo(logged)
    if not quiet:
        say("Logged: metrics, params and tags under fairrec, and files under fairrec/.")


@takes_options
def card_command(
    *,
    audit: AuditArgument,
    out: Annotated[
        Path | None, Option(FILE, "A file for the section alone", OUTPUT, default="printed")
    ] = None,
    into: Annotated[
        Path | None,
        Option(FILE, "A model card, as README.md, to put it into; the rest of it stays", OUTPUT),
    ] = None,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Write a section of a model card from a saved audit, in Markdown."""
    from fairrec.core.atomic_io import write_text
    from fairrec.integrations.card import card, put_card
    from fairrec.result.folder import refuse_overwriting

    if out is not None and into is not None:
        raise InputError(f"{spelled('out')} and {spelled('into')}: give one of the two.")
    refuse_overwriting("out", out, [audit])
    refuse_overwriting("into", into, [audit])
    section = card(_loaded(audit))
    if into is not None:
        put_card(into, section)
    elif out is not None:
        write_text(out, section)
    else:
        print_markdown(section)
        return
    if not quiet:
        say(f"Written: {into or out}")


def _loaded(folder: Path) -> AuditResult | MitigationResult:
    from fairrec.counterfactuals.result import CounterfactualResult
    from fairrec.loading import load
    from fairrec.result.folder import refuse_no_audit

    refuse_no_audit(folder)
    result = cast("AuditResult | MitigationResult | CounterfactualResult", load(folder))
    return result.audit if isinstance(result, CounterfactualResult) else result
