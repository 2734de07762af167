"""`fairrec counterfactual`: the same people with another attribute, or another model."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairrec.auditing.model_options import (
    EndpointOption,
    HowAsked,
    OnnxOption,
    ScorerOption,
    chosen_model,
    is_address,
    other_endpoint,
    without_query,
)
from fairrec.auditing.settings import Load, load_metrics
from fairrec.cli.parameters import Flags, Given, typer_command
from fairrec.cli.shared import (
    DebugOption,
    ForceOption,
    Format,
    FormatOption,
    LogOption,
    NoReportOption,
    QuietOption,
    RunOption,
    need,
    print_as,
    say,
    shown_progress,
)
from fairrec.core.audit_options import RAY, About, AuditOptions, Engine
from fairrec.core.errors import InputError
from fairrec.core.option_types import Folder
from fairrec.core.options import OUTPUT, Option, list_changed
from fairrec.counterfactuals.options import CounterfactualOptions
from fairrec.inputs.table_options import COUNTED, ITEM_SIDE, OTHER_LISTS, VALUES, TableOptions

if TYPE_CHECKING:
    from fairrec.counterfactuals.result import CounterfactualResult


@typer_command
def counterfactual_command(
    *,
    predictions: Annotated[
        Path | None, typer.Argument(help="Candidates to be scored by the model.")
    ] = None,
    run: RunOption = None,
    what: Annotated[Given, Flags(CounterfactualOptions, without=("features",))],
    tables: Annotated[
        Given, Flags(TableOptions, without=(*ITEM_SIDE, *VALUES, *OTHER_LISTS, *COUNTED))
    ],
    options: Annotated[Given, Flags(AuditOptions)],
    load: Load = (),
    scorer: ScorerOption = None,
    endpoint: EndpointOption = None,
    onnx: OnnxOption = None,
    how_asked: HowAsked,
    where: Annotated[Given, Flags(Engine, without=RAY)],
    about: Annotated[Given, Flags(About)],
    out: Annotated[
        Folder | None, Option("Folder for the result's files and its page", OUTPUT)
    ] = None,
    force: ForceOption = False,
    no_report: NoReportOption = False,
    format_: FormatOption = "text",
    quiet: QuietOption = False,
    log: LogOption = None,
    debug: DebugOption = False,
) -> None:
    """Score the same people with another attribute: what changes, and for whom most."""
    from fairrec.result.folder import COUNTERFACTUAL, names_to_replace, refuse_overwriting

    if (predictions is None) == (run is None):
        raise InputError(
            "Name a run, or candidates and a model: fairrec counterfactual --run RUN --attribute "
            "gender, or fairrec counterfactual CANDIDATES --endpoint URL --features users:gender "
            "--attribute gender --users USERS --by ATTRIBUTES"
        )
    other = what.get("other_model")
    address, other_run = (other, None) if is_address(other) else (None, other and Path(other))
    asked = TableOptions(**tables)
    read = [predictions, run, *list_changed(asked).values(), other_run]
    if out is not None:
        paths = [path for path in read if isinstance(path, Path)]
        names_to_replace(COUNTERFACTUAL, out, force, paths)
    refuse_overwriting("log", log, read)
    if run is None:
        need(tables, "users", "by", command="counterfactual")
    with shown_progress(quiet, log) as progress:
        from fairrec.counterfactuals.counterfactual import run_counterfactual

        for source in load:
            load_metrics(source)
        model = chosen_model(scorer, endpoint, onnx, how_asked)
        if model is None and run is None:
            raise InputError(
                "Name the model that is asked: --scorer, --endpoint or --onnx, or a run: --run RUN"
            )
        if address is not None:
            what |= {"other_model": other_endpoint(address, endpoint, how_asked)}
        command = shlex.join(["fairrec", *without_query(sys.argv[1:], endpoint, address)])
        result = run_counterfactual(
            predictions,
            CounterfactualOptions(**what),
            asked,
            AuditOptions(**options, engine=Engine(**where, progress=progress)),
            About(**about, command=command),
            run=run,
            scorer=model,
        )
        if out is not None:
            progress("writing", 0, 0)
            result.save(out, report=not no_report, force=force)
    _print(result, format_)
    if out is not None and not quiet:
        page = "" if no_report else ", report.html"
        say(
            f"Written to {out}: counterfactual.json, result.json, run.json, groups.parquet, "
            f"per_user.parquet{page}"
        )


def _print(result: CounterfactualResult, format_: Format) -> None:
    from fairrec.counterfactuals.words import counterfactual_markdown, print_counterfactual

    print_as(
        format_,
        json=result.to_json,
        markdown=lambda: counterfactual_markdown(result.summary, result.audit.summary),
        text=lambda console: print_counterfactual(result.summary, result.audit.summary, console),
    )
