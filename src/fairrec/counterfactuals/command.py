"""`fairrec counterfactual`: the same users with another value of an attribute."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from fairrec.auditing.model_options import (
    EndpointOption,
    HowAsked,
    OnnxOption,
    ScorerOption,
    chosen_model,
    without_query,
)
from fairrec.auditing.settings import Load, load_metrics
from fairrec.cli.parameters import Flags, Given, typer_command
from fairrec.cli.shared import (
    ForceOption,
    FormatOption,
    NoReportOption,
    QuietOption,
    RunOption,
    VerboseOption,
    need,
    page_path,
    print_as,
    say_written,
    shown_progress,
)
from fairrec.core.audit_options import RAY, About, AuditOptions, Engine
from fairrec.core.errors import InputError
from fairrec.core.option_types import Folder
from fairrec.core.options import OUTPUT, Option, list_changed
from fairrec.counterfactuals.options import CounterfactualOptions
from fairrec.inputs.table_options import COUNTED, ITEM_SIDE, OTHER_LISTS, VALUES, TableOptions


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
    verbose: VerboseOption = False,
    quiet: QuietOption = False,
) -> None:
    """Score the same users with another attribute: what changes, and for which groups most."""
    from fairrec.result.folder import COUNTERFACTUAL, names_to_replace

    if (predictions is None) == (run is None):
        raise InputError(
            "Name a run, or candidates and a model: fairrec counterfactual --run RUN --attribute "
            "gender, or fairrec counterfactual CANDIDATES --endpoint URL --features users:gender "
            "--attribute gender --users USERS --by ATTRIBUTES"
        )
    sources = TableOptions(**tables)
    read = [predictions, run, *list_changed(sources).values()]
    if out is not None:
        paths = [path for path in read if isinstance(path, Path)]
        names_to_replace(COUNTERFACTUAL, out, force, paths)
    if run is None:
        need(tables, "users", "by", command="counterfactual")
    with shown_progress(quiet) as progress:
        from fairrec.counterfactuals.counterfactual import run_counterfactual

        for source in load:
            load_metrics(source)
        model = chosen_model(scorer, endpoint, onnx, how_asked)
        command = shlex.join(["fairrec", *without_query(sys.argv[1:], endpoint)])
        result = run_counterfactual(
            predictions,
            CounterfactualOptions(**what),
            sources,
            AuditOptions(**options, engine=Engine(**where, progress=progress)),
            About(**about, command=command),
            run=run,
            scorer=model,
        )
        if out is not None:
            progress("writing", 0, 0)
            result.save(out, report=not no_report, force=force)
    from fairrec.counterfactuals.words import counterfactual_answer, counterfactual_markdown

    audit = result.audit
    print_as(
        format_,
        verbose=verbose,
        page=page_path(out, no_report=no_report),
        json=result.to_json,
        markdown=lambda: counterfactual_markdown(result.summary, audit.summary, audit.group_table),
        answer=lambda: counterfactual_answer(result.summary, audit.summary, audit.group_table),
    )
    files = "counterfactual.json, result.json, run.json, groups.parquet, per_user.parquet"
    say_written(out, files, no_report=no_report, quiet=quiet)
