"""`fairrec audit` and `fairrec demo`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairrec.auditing.model_options import (
    EndpointOption,
    HowAsked,
    HowSearched,
    OnnxOption,
    ScorerOption,
    SearchOption,
    chosen_model,
    search_options,
    without_query,
)
from fairrec.cli.parameters import FieldsOf, Given, takes_options
from fairrec.cli.settings import (
    Load,
    PlanOption,
    SettingsOption,
    load_metrics,
    say_settings,
    settings_file,
)
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
    print_result,
    say,
    shown_progress,
)
from fairrec.core.audit_options import AboutOptions, AuditOptions, SharingOptions
from fairrec.core.errors import InputError, plain
from fairrec.core.kinds import FOLDER, SWITCH
from fairrec.core.options import OUTPUT, Option, declared, spelled
from fairrec.core.threads import start_in_background
from fairrec.counts.options import CountsOptions, EngineOptions
from fairrec.gating.command import hold_against, printed_as_text, refuse_overwriting_inputs
from fairrec.gating.options import GATE, GateOptions
from fairrec.inputs.table_options import TableOptions
from fairrec.scoring.options import ScorerIdentity

if TYPE_CHECKING:
    from fairrec.result.audit_result import AuditResult
    from fairrec.scoring.model import Model


@takes_options
def audit_command(
    *,
    predictions: Annotated[
        Path | None,
        typer.Argument(help="Recommendations (with --test), or scored candidates with labels."),
    ] = None,
    run: RunOption = None,
    tables: Annotated[Given, FieldsOf(TableOptions)],
    counted: Annotated[Given, FieldsOf(CountsOptions)],
    options: Annotated[Given, FieldsOf(AuditOptions)],
    load: Load = (),
    plan: PlanOption = None,
    settings: SettingsOption = None,
    search: SearchOption = None,
    how_searched: HowSearched,
    scorer: ScorerOption = None,
    endpoint: EndpointOption = None,
    onnx: OnnxOption = None,
    how_asked: HowAsked,
    scorer_identity: ScorerIdentity = "",
    where: Annotated[Given, FieldsOf(EngineOptions)],
    about: Annotated[Given, FieldsOf(AboutOptions)],
    gate: Annotated[
        bool, Option(SWITCH, "Hold the result against a policy; see fairrec gate", GATE)
    ] = False,
    held: Annotated[Given, FieldsOf(GateOptions)],
    out: Annotated[
        Path | None, Option(FOLDER, "Folder for the result's files and its page", OUTPUT)
    ] = None,
    force: ForceOption = False,
    sharing: Annotated[Given, FieldsOf(SharingOptions)],
    no_report: NoReportOption = False,
    format_: FormatOption = Format.text,
    quiet: QuietOption = False,
    log: LogOption = None,
    debug: DebugOption = False,
) -> None:
    """Find the groups served best and worst, and tell real gaps from chance."""
    from fairrec.auditing.call_repr import Choices
    from fairrec.result.folder import AUDIT, names_to_replace, refuse_overwriting

    policy = _policy(held, out, gate=gate)
    if policy is not None and "policy" in held and settings is None:
        # the policy says how the audit it is about is made
        settings = policy.policy
    chosen = Choices.of({**tables, **options, **about}, plan, settings_file(settings, plan))
    if chosen.settings is not None:
        say_settings(settings, chosen.settings.file, chosen.from_settings, quiet=quiet)
    tables, options, about = (
        {name: value for name, value in chosen.values.items() if name in declared(kind)}
        for kind in (TableOptions, AuditOptions, AboutOptions)
    )
    read = [predictions, run, plan, *tables.values(), *counted.get("counts", ())]
    read += [] if chosen.settings is None else [chosen.settings.file]
    read += [] if policy is None else [policy.policy, policy.baseline]
    if out is not None:
        names_to_replace(AUDIT, out, force, [path for path in read if isinstance(path, Path)])
    # a log is written to from the start
    refuse_overwriting("log", log, read)
    if policy is not None:
        refuse_overwriting_inputs(policy, [*read, out, log])
    with shown_progress(quiet, log) as progress:
        if out is not None and not no_report:
            start_in_background(_make_page_ready)
        loaded = [file for source in load for file in load_metrics(source)]
        model = chosen_model(scorer, endpoint, onnx, how_asked)
        how = search_options(search if model is None else search or "exact", how_searched)
        # a run takes longest to load, so it begins before the modules of an audit
        given = _tables(predictions, run, tables, counted, is_search=how is not None)
        given |= _asked(model, run, scorer_identity)
        from fairrec.auditing.audit import audit

        result = audit(
            **given,
            **options,
            **about,
            **where,
            search=how,
            progress=progress,
            command=shlex.join(["fairrec", *without_query(sys.argv[1:], endpoint)]),
        )
        if run is not None:
            result = result.of_run(run)
        result = chosen.recorded(result, loaded=loaded)
        if out is not None:
            progress("writing", 0, 0)
            result.save(out, report=not no_report, force=force, **sharing)
    with printed_as_text(policy, format_):
        print_result(result.shown(sharing.get("min_shown")), format_, out)
    if out is not None and not quiet:
        _say_written(result, out, sharing, no_report=no_report)
    if policy is not None:
        # the whole audit is judged, also where groups are hidden in what was written
        judged = result if out is None or "min_shown" in sharing else out
        raise typer.Exit(hold_against(judged, policy, format_, is_beside=True))


def _say_written(result: AuditResult, out: Path, sharing: Given, *, no_report: bool) -> None:
    """Where the files are, and what is not to be passed on."""
    has_users = result.per_user is not None or result.per_user_parts is not None
    users = ", per_user.parquet" if has_users and "aggregates_only" not in sharing else ""
    page = "" if no_report else ", report.html"
    say(f"Written to {out}: result.json, run.json, groups.parquet{users}{page}")
    if users and "min_shown" in sharing:
        say(
            "per_user.parquet holds every user and is not to be passed on; "
            "--aggregates-only leaves it out"
        )


def _make_page_ready() -> None:
    """Load what a page is made with, while tables are read."""
    from fairrec.report.page.html import make_ready

    make_ready()


def _policy(held: Given, out: Path | None, *, gate: bool) -> GateOptions | None:
    """What the result will be held against, read once before any work is done; None for nothing."""
    if not gate:
        if held:
            raise InputError(
                f"{spelled(next(iter(held)))} is of the gate. Add {spelled('gate', True)}."
            )
        return None
    from fairrec.gating.gate import check_baseline, refuse_own_baseline

    options = GateOptions.of(**held)
    check_baseline(options.policy, options.baseline)
    # it would be replaced before it is compared with
    refuse_own_baseline(out, options.baseline)
    return options


def _tables(
    predictions: Path | None,
    run: Path | None,
    tables: Given,
    counted: Given,
    *,
    is_search: bool,
) -> dict[str, Any]:
    """The tables to audit: those named, or those of a run where none is named instead.

    A search asks the run for scores as it needs them.
    """
    sources = (predictions, run, tables.get("values"), counted.get("counts"))
    if sum(source is not None for source in sources) != 1:
        raise InputError(
            "Name one of recommendations with held-out interactions, scored candidates, values per "
            "user, counts, or a run: fairrec audit RECOMMENDATIONS --test TEST --users USERS --by "
            "ATTRIBUTES, fairrec audit CANDIDATES --users USERS --by ATTRIBUTES, fairrec audit "
            "--values VALUES --users USERS --by ATTRIBUTES, fairrec audit --counts COUNTS, or "
            "fairrec audit --run RUN"
        )
    if "counts" in counted:
        return {**counted, **tables}
    if counted:
        raise InputError(f"{spelled('disjoint')} is about {spelled('counts')}. Leave it out.")
    if run is None:
        if predictions is not None and predictions.exists() and "users" not in tables:
            # counts have no users table, so they are recognised before it is required
            from fairrec.inputs.audit_inputs import refuse_counts
            from fairrec.inputs.tables import Table

            refuse_counts(Table(predictions, "predictions", tables.get("columns") or {}))
        if tables.get("side") == "items":
            need(tables, "items", "by", command="audit")
            return {"predictions": predictions, **tables}
        if "items" in tables and "users" not in tables and predictions is not None:
            raise InputError(
                f"{spelled('users')} is missing: an audit compares users, by columns of their "
                f"table. To compare items by columns of theirs, add {spelled('side', 'items')}."
            )
        # attributes may stand beside the values
        need(tables, *(("users",) if predictions is not None else ()), "by", command="audit")
        return {"predictions": predictions, **tables}
    for name in ("test", "missing_lists"):
        if name in tables:
            raise InputError(f"A run has its own held-out items. Leave out {spelled(name)}.")
    from fairrec.scoring.runs import load_run

    trained = load_run(run)
    if not is_search:
        return {"predictions": trained, **trained.tables(), **tables}
    return {
        "predictions": trained.candidates(),
        "scorer": trained.model(with_attributes=False),
        **trained.tables(),
        **tables,
    }


def _asked(model: Model | None, run: Path | None, identity: str) -> dict[str, Any]:
    """The model to ask instead of a table or a run, where one is named."""
    if model is None and identity:
        raise InputError(
            "--scorer-identity is for a model named by --scorer, --endpoint or --onnx."
        )
    if model is not None and run is not None:
        raise InputError(
            "Name either a run or another model, not both. The run's own candidates can be given "
            f"as a table: {plain(run / 'test.parquet', 200)}"
        )
    return {} if model is None else {"scorer": model, "scorer_identity": identity}
