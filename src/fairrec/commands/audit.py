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
from fairrec.auditing.settings import (
    Load,
    PlanOption,
    SettingsOption,
    load_metrics,
    say_settings,
    settings_file,
)
from fairrec.cli.parameters import Flags, Given, typer_command
from fairrec.cli.shared import (
    ForceOption,
    FormatOption,
    NoReportOption,
    QuietOption,
    RunOption,
    VerboseOption,
    print_result,
    say,
    shown_progress,
)
from fairrec.core.audit_options import About, AuditOptions, Engine, SharingOptions
from fairrec.core.errors import InputError, plain
from fairrec.core.option_types import Folder, Switch
from fairrec.core.options import OUTPUT, Option, expand, list_changed, select, spell
from fairrec.gating.command import protect_output, refuse_overwriting_inputs, report_gate
from fairrec.gating.options import GATE, GateOptions
from fairrec.inputs.table_options import TableOptions

if TYPE_CHECKING:
    from fairrec.report.audit_result import AuditResult
    from fairrec.scoring.model import Model


@typer_command
def audit_command(
    *,
    predictions: Annotated[
        Path | None,
        typer.Argument(help="Recommendations (with --test), or scored candidates with labels."),
    ] = None,
    run: RunOption = None,
    tables: Annotated[Given, Flags(TableOptions)],
    options: Annotated[Given, Flags(AuditOptions)],
    load: Load = (),
    plan: PlanOption = None,
    settings: SettingsOption = None,
    search: SearchOption = None,
    how_searched: HowSearched,
    scorer: ScorerOption = None,
    endpoint: EndpointOption = None,
    onnx: OnnxOption = None,
    how_asked: HowAsked,
    where: Annotated[Given, Flags(Engine)],
    about: Annotated[Given, Flags(About)],
    gate: Annotated[
        Switch, Option("Check the result against a policy; see fairrec gate", GATE)
    ] = False,
    held: Annotated[Given, Flags(GateOptions)],
    out: Annotated[
        Folder | None, Option("Folder for the result's files and its page", OUTPUT)
    ] = None,
    force: ForceOption = False,
    sharing: Annotated[Given, Flags(SharingOptions)],
    no_report: NoReportOption = False,
    format_: FormatOption = "text",
    verbose: VerboseOption = False,
    quiet: QuietOption = False,
) -> None:
    """Compare how groups of users are served, and test whether gaps exceed chance."""
    from fairrec.auditing.choices import Choices
    from fairrec.result.folder import AUDIT, names_to_replace

    policy = _policy(held, out, gate=gate)
    if policy is not None and "policy" in held and settings is None:
        # a policy holds the options of the audit that it is about
        settings = policy.policy
    given = {**tables, **options, **where, **about}
    chosen = Choices.read(given, plan, settings_file(settings, plan))
    if chosen.settings is not None:
        say_settings(settings, chosen.settings.file, chosen.from_settings, quiet=quiet)
    values, passed_on = chosen.values, SharingOptions(**sharing)
    asked = TableOptions(**select(TableOptions, {**tables, **values}))
    _refuse_unclear_source(predictions, run, asked.values, asked.counts)
    read = [predictions, run, plan, *list_changed(asked).values(), *asked.counts]
    read += [] if chosen.settings is None else [chosen.settings.file]
    read += [] if policy is None else [policy.policy, policy.baseline]
    if out is not None:
        names_to_replace(AUDIT, out, force, [path for path in read if isinstance(path, Path)])
    if policy is not None:
        refuse_overwriting_inputs(policy, [*read, out])
    with shown_progress(quiet) as progress:
        for metrics in load:
            load_metrics(metrics)
        model = chosen_model(scorer, endpoint, onnx, how_asked)
        how = search_options(search, how_searched, has_model=model is not None)
        if model is not None and run is not None:
            raise InputError(
                "Name either a run or another model, not both. The run's own candidates can be "
                f"given as a table: {plain(run / 'test.parquet', 200)}"
            )
        source: Any = predictions
        if run is not None:
            # it takes longest to load, so it begins before the modules of an audit
            named = {**tables, **values}
            source, asked, of_run = _open_run(run, named, is_search=how is not None)
            model = of_run if model is None else model
        from fairrec.auditing.audit import run_audit

        command = shlex.join(["fairrec", *without_query(sys.argv[1:], endpoint)])
        engine = Engine(**{**where, **select(Engine, values)}, progress=progress)
        result = run_audit(
            source,
            asked,
            AuditOptions(**select(AuditOptions, values), engine=engine),
            About(**select(About, values), command=command),
            scorer=model,
            search=how,
        )
        if run is not None:
            result = result.of_run(run)
        result = chosen.record(result)
        if out is not None:
            progress("writing", 0, 0)
            result.save(out, report=not no_report, force=force, **expand(SharingOptions, passed_on))
    with protect_output(policy, format_):
        print_result(
            result.shown(passed_on.min_shown),
            *(format_, out),
            verbose=verbose,
            has_page=not no_report,
        )
    if out is not None and not quiet:
        _say_written(result, out, passed_on, no_report=no_report)
    if policy is not None:
        # the whole audit is judged, also where groups are hidden in what was written
        judged = result if out is None or passed_on.min_shown is not None else out
        raise typer.Exit(report_gate(judged, policy, format_, is_beside=True))


def _say_written(
    result: AuditResult, out: Path, sharing: SharingOptions, *, no_report: bool
) -> None:
    """Where the files are, and what is not to be passed on."""
    has_users = result.per_user is not None or result.per_user_parts is not None
    has_users &= not sharing.aggregates_only
    names = {"groups.parquet": True, "per_user.parquet": has_users, "report.html": not no_report}
    files = ["result.json", "run.json", *(name for name, is_there in names.items() if is_there)]
    say(f"Written to {out}: {', '.join(files)}")
    if has_users and sharing.min_shown is not None:
        say(
            "per_user.parquet contains per-user data; do not share it. "
            "--aggregates-only leaves it out"
        )


def _policy(held: Given, out: Path | None, *, gate: bool) -> GateOptions | None:
    """What the result will be held against, read once before any work is done; None for nothing."""
    if not gate:
        if held:
            raise InputError(
                f"{spell(next(iter(held)))} is of the gate. Add {spell('gate', True)}."
            )
        return None
    from fairrec.gating.gate import check_baseline, refuse_own_baseline

    options = GateOptions(**held)
    check_baseline(options.policy, options.baseline)
    # it would be replaced before it is compared with
    refuse_own_baseline(out, options.baseline)
    return options


def _refuse_unclear_source(*sources: object) -> None:
    """Refuse what is not one of several sources."""
    if sum(source not in (None, ()) for source in sources) != 1:
        raise InputError(
            "Name one source: RECOMMENDATIONS --test TEST, or CANDIDATES with labels, "
            "--values VALUES, --counts COUNTS, or --run RUN; and --users USERS --by ATTRIBUTES "
            "with all but counts and runs"
        )


def _open_run(
    folder: Path, given: Given, *, is_search: bool
) -> tuple[Any, TableOptions, Model | None]:
    """The trained run to audit, its tables, and the model that a search asks.

    Parameters
    ----------
    given : the options that were given, by name
    """
    for name in ("test", "missing_lists"):
        if name in given:
            raise InputError(f"A run has its own held-out items. Leave out {spell(name)}.")
    from fairrec.scoring.model import load_run

    trained = load_run(folder)
    tables = TableOptions(**{**trained.tables(), **select(TableOptions, given)})
    if not is_search:
        return trained, tables, None
    return trained.candidates(), tables, trained.model(with_attributes=False)
