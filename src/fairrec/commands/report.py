"""`fairrec report`, `fairrec card` and `fairrec mlflow`: what is made of saved results."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from fairrec.cli.parameters import typer_command
from fairrec.cli.shared import AuditArgument, QuietOption, print_markdown, say
from fairrec.core.option_types import Name, Switch
from fairrec.core.options import OUTPUT, Option

if TYPE_CHECKING:
    from fairrec.counterfactuals.result import CounterfactualResult
    from fairrec.mitigation.result import MitigationResult
    from fairrec.report.audit_result import AuditResult


@typer_command
def report_command(
    *,
    folder: Annotated[
        Path, typer.Argument(help="Folder of an audit, mitigation, comparison or trend.")
    ],
    out: Annotated[
        Path | None, Option("The file to write", default="report.html in the folder")
    ] = None,
    quiet: QuietOption = False,
) -> None:
    """Write the page of a saved audit, mitigation, comparison or trend anew."""
    from fairrec.comparison.result import Comparison
    from fairrec.core.atomic_io import write_text
    from fairrec.counterfactuals.page import counterfactual_page
    from fairrec.loading import load
    from fairrec.mitigation.page import mitigation_page
    from fairrec.mitigation.result import MitigationResult
    from fairrec.report.audit_result import AuditResult
    from fairrec.result.folder import AUDIT, result_kind
    from fairrec.result.parts import with_id
    from fairrec.trends.result import TrendResult

    file = out or folder / "report.html"
    result = load(folder)
    groups = Path(os.path.relpath(folder / "groups.parquet", file.parent)).as_posix()
    if isinstance(result, Comparison | TrendResult):
        page = result.page()
    elif isinstance(result, AuditResult):
        page = result.page(groups)
    else:
        audit = result.audit
        beside = (audit.summary, audit.group_table, groups, audit.run)
        if isinstance(result, MitigationResult):
            page = mitigation_page(result.summary, *beside)
        else:
            page = counterfactual_page(result.summary, *beside)
    kind = result_kind(folder) or AUDIT
    write_text(file, with_id(page, json.loads((folder / kind.known_by).read_bytes())["id"]))
    if not quiet:
        say(f"Written: {file}")


@typer_command
def mlflow_command(
    *,
    audit: AuditArgument,
    tracking_uri: Annotated[
        str | None,
        Option("The server or store to log to", default="as MLFLOW_TRACKING_URI says"),
    ] = None,
    experiment: Annotated[
        Name | None, Option("The experiment of the new run, made where there is none")
    ] = None,
    run_id: Annotated[
        Name | None, Option("A run to log to, such as that of the model", default="a new one")
    ] = None,
    per_user: Annotated[Switch, Option("Log files with a row for each user too", OUTPUT)] = False,
    quiet: QuietOption = False,
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


@typer_command
def card_command(
    *,
    audit: AuditArgument,
    into: Annotated[
        Path | None,
        Option("A model card, as README.md, to put it into; the rest of it stays", OUTPUT),
    ] = None,
    quiet: QuietOption = False,
) -> None:
    """Write a section of a model card from a saved audit, in Markdown."""
    from fairrec.integrations.card import card, put_card
    from fairrec.result.folder import refuse_overwriting

    refuse_overwriting("into", into, [audit])
    section = card(_loaded(audit))
    if into is None:
        print_markdown(section)
        return
    put_card(into, section)
    if not quiet:
        say(f"Written: {into}")


def _loaded(folder: Path) -> AuditResult | MitigationResult:
    from fairrec.counterfactuals.result import CounterfactualResult
    from fairrec.loading import load
    from fairrec.result.folder import refuse_no_audit

    refuse_no_audit(folder)
    result = cast("AuditResult | MitigationResult | CounterfactualResult", load(folder))
    return result.audit if isinstance(result, CounterfactualResult) else result
