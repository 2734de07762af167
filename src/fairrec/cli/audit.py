"""`fairrec audit` and `fairrec demo`."""

from __future__ import annotations

import shlex
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.text import Text

from fairrec.cli.model_options import (
    ConcurrencyOption,
    EndpointOption,
    FeaturesOption,
    InputsOption,
    MaxReplyOption,
    OnnxOption,
    OutputOption,
    ProtocolOption,
    RateOption,
    RetriesOption,
    RowsPerCallOption,
    ScorerOption,
    TimeoutOption,
    TokenEnvOption,
    chosen_model,
    without_query,
)
from fairrec.cli.search_options import search_options
from fairrec.cli.shared import (
    DebugOption,
    Format,
    FormatOption,
    NoReportOption,
    QuietOption,
    SeedOption,
    column_mapping,
    errors_in_words,
    need_torch,
    print_result,
    say,
    shown_progress,
    stdout,
)
from fairrec.cli.table_options import (
    ByOption,
    ColumnsOption,
    HistoryOption,
    ItemsOption,
    ThreadsOption,
    UsersOption,
)
from fairrec.core.errors import FairRecError, InputError, plain

if TYPE_CHECKING:
    from fairrec.core.progress import Progress
    from fairrec.scoring.models.model import Model


class Correction(StrEnum):
    """How p-values are adjusted for the number of groups."""

    max = "max"
    bh = "bh"


def audit_command(
    predictions: Annotated[
        Path | None, typer.Argument(help="Candidates with scores: Parquet, CSV or Arrow.")
    ] = None,
    run: Annotated[
        Path | None, typer.Option(help="A trained run instead of tables; see fairrec train.")
    ] = None,
    scorer: ScorerOption = None,
    endpoint: EndpointOption = None,
    onnx: OnnxOption = None,
    users: UsersOption = None,
    by: ByOption = None,
    items: ItemsOption = None,
    history: HistoryOption = None,
    metrics: Annotated[
        str | None,
        typer.Option(help="Metrics, with commas: auc,ndcg@10. Default: what the tables allow."),
    ] = None,
    columns: ColumnsOption = None,
    depth: Annotated[
        str, typer.Option(help="Combine up to so many attributes, or 'full' for all at once.")
    ] = "3",
    min_support: Annotated[
        float, typer.Option(help="Smallest group: a share of users, or a number from 1.")
    ] = 0.001,
    permutations: Annotated[int, typer.Option(help="Random dealings; 0 for no tests.")] = 1000,
    alpha: Annotated[float, typer.Option(help="Chance of any false finding.")] = 0.05,
    correction: Annotated[
        Correction, typer.Option(help="max: no false finding; bh: few among many.")
    ] = Correction.max,
    top: Annotated[
        int, typer.Option(help="So many full combinations at each end, best and worst served.")
    ] = 1,
    search: Annotated[
        str | None,
        typer.Option(help="Score only the users a searcher asks for; see fairrec searchers."),
    ] = None,
    budget_users: Annotated[
        str | None, typer.Option(help="With --search: score at most N users, or a share: 10%.")
    ] = None,
    budget_seconds: Annotated[
        float | None, typer.Option(help="With --search: stop after so many seconds.")
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(help="With --search: 'paper' for 0.005 s for each user and combination."),
    ] = None,
    theta: Annotated[
        float | None, typer.Option(help="With --search testsgd: smallest share of a group.")
    ] = None,
    hyper: Annotated[
        list[str] | None, typer.Option(help="With --search: a hyper-parameter, name=value.")
    ] = None,
    reference: Annotated[
        float | None,
        typer.Option(help="With --search: share of the budget for users drawn at random."),
    ] = None,
    ledger: Annotated[
        Path | None,
        typer.Option(help="File that keeps every score paid for, to go on from later."),
    ] = None,
    protocol: ProtocolOption = None,
    features: FeaturesOption = None,
    inputs: InputsOption = None,
    output: OutputOption = None,
    concurrency: ConcurrencyOption = None,
    rows_per_call: RowsPerCallOption = None,
    rate: RateOption = None,
    timeout: TimeoutOption = None,
    retries: RetriesOption = None,
    token_env: TokenEnvOption = None,
    max_reply_mb: MaxReplyOption = None,
    scorer_identity: Annotated[
        str | None,
        typer.Option(help="With --ledger: names the model and its version; a new one, a new file."),
    ] = None,
    seed: SeedOption = 0,
    threads: ThreadsOption = None,
    load: Annotated[
        list[str] | None, typer.Option(help="Python file or module that registers own metrics.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the result's files and its page.")
    ] = None,
    no_report: NoReportOption = False,
    output_format: FormatOption = Format.text,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Find the groups served best and worst, and tell real gaps from chance."""
    with errors_in_words(debug), shown_progress(quiet) as progress:
        from fairrec.core.files import check_writable
        from fairrec.workflows.audit import audit

        if out is not None:
            check_writable(out)
        for source in load or ():
            _load_metrics(source)
        model = chosen_model(
            scorer,
            endpoint,
            onnx,
            inputs,
            protocol=protocol,
            features=features,
            output=output,
            concurrency=concurrency,
            rows_per_call=rows_per_call,
            rate=rate,
            timeout=timeout,
            retries=retries,
            token_env=token_env,
            max_reply_mb=max_reply_mb,
        )
        how = search_options(
            search if model is None else search or "exact",
            hyper=hyper,
            theta=theta,
            budget_users=budget_users,
            budget_seconds=budget_seconds,
            budget=budget,
            reference=reference,
            ledger=ledger,
        )
        tables = _tables(predictions, run, users, items, history, by, how is not None, progress)
        tables |= _asked(model, run, scorer_identity)
        result = audit(
            **tables,
            search=how,
            top=top,
            metrics=metrics,
            columns=column_mapping(columns),
            depth=depth_of(depth),
            min_support=min_support,
            permutations=permutations,
            alpha=alpha,
            correction=correction.value,
            seed=seed,
            threads=threads,
            progress=progress,
            command=shlex.join(["fairrec", *without_query(sys.argv[1:], endpoint)]),
        )
        if run is not None:
            result = result.of_run(run)
        if out is not None:
            progress("writing", 0, 0)
            result.save(out, report=not no_report)
    print_result(result, output_format)
    if out is not None and not quiet:
        page = "" if no_report else ", report.html"
        say(f"Written to {out}: result.json, groups.parquet, per_user.parquet{page}")


def demo_command(
    out: Annotated[Path, typer.Option(help="Folder for the tables and the audit.")] = Path(
        "fairrec-demo"
    ),
    model: Annotated[
        str, typer.Option(help="ease, or with fairrec[models] deepfm, wide_deep, dcn, fgcnn.")
    ] = "ease",
    seed: SeedOption = 0,
    no_report: NoReportOption = False,
    output_format: FormatOption = Format.text,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Make a small world with one badly served group, train a recommender, audit it."""
    with errors_in_words(debug), shown_progress(quiet) as progress:
        from fairrec.workflows.demo import PLANTED, audit_command, run_demo

        result = run_demo(out, seed, model, progress, report=not no_report)
    print_result(result, output_format)
    if output_format is Format.text:
        planted = ", ".join(f"{name}={value}" for name, value in PLANTED.items())
        console = stdout()
        console.print(Text(f"\nThe group made hard to serve in this world: {planted}."))
        console.print(
            Text(
                f"Open {out}/audit/{'result.json' if no_report else 'report.html'} or read "
                f"{out}/audit/groups.parquet. "
                "Next, change something and audit again:"
            )
        )
        console.print(Text(f"  {audit_command(out, seed)}"), soft_wrap=True)


def _tables(
    predictions: Path | None,
    run: Path | None,
    users: Path | None,
    items: Path | None,
    history: Path | None,
    by: str | None,
    is_search: bool,
    progress: Progress,
) -> dict[str, Any]:
    """The tables to audit: those named, or those of a run where none is named instead.

    A search asks the run for scores as it needs them.
    """
    if (predictions is None) == (run is None):
        raise InputError(
            "Name either a table of predictions or a run: "
            "fairrec audit PREDICTIONS --users USERS --by ATTRIBUTES, or fairrec audit --run RUN"
        )
    if run is not None:
        need_torch()
        from fairrec.core.files import file_sum
        from fairrec.models.runs.run import load_run

        progress("scoring", 0, 0)
        loaded = load_run(run, "auto")
        scored: dict[str, Any] = (
            {"predictions": loaded.predictions()}
            if not is_search
            else {
                "predictions": loaded.candidates(),
                "scorer": loaded.score,
                "scorer_identity": f"run {file_sum(run / 'model.safetensors')}",
            }
        )
        named = {"users": users, "items": items, "history": history, "by": by}
        return {**scored, **{name: named[name] or own for name, own in loaded.tables().items()}}
    for name, given in (("users", users), ("by", by)):
        if given is None:
            raise InputError(f"--{name} is missing. See fairrec audit --help")
    return {
        "predictions": predictions,
        "users": users,
        "items": items,
        "history": history,
        "by": by,
    }


def _asked(model: Model | None, run: Path | None, identity: str | None) -> dict[str, Any]:
    """The model to ask instead of a table or a run, where one is named."""
    if model is None and identity is not None:
        raise InputError(
            "--scorer-identity is for a model named by --scorer, --endpoint or --onnx."
        )
    if model is not None and run is not None:
        raise InputError(
            "Name either a run or another model, not both. The run's own candidates can be given "
            f"as a table: {plain(run / 'test.parquet', 200)}"
        )
    return {} if model is None else {"scorer": model, "scorer_identity": identity or ""}


def depth_of(text: str) -> int | Literal["full"]:
    """A number from 1, or 'full'."""
    if text.isdecimal():
        return int(text)
    if text == "full":
        return "full"
    raise InputError(f"--depth {text} is not possible. Give a number from 1, or 'full'.")


def _load_metrics(source: str) -> None:
    """Import a file or module for the metrics it registers."""
    import importlib
    import importlib.util

    path = Path(source)
    try:
        if path.suffix == ".py":
            spec = importlib.util.spec_from_file_location(path.stem, path)
            assert spec is not None and spec.loader is not None
            spec.loader.exec_module(importlib.util.module_from_spec(spec))
        else:
            sys.path.insert(0, "")
            try:
                importlib.import_module(source)
            finally:
                sys.path.remove("")
    except FairRecError:
        raise
    except Exception as error:
        raise InputError(
            f"--load {source}: {type(error).__name__}: {error}. "
            "Give a Python file, or a module that can be imported from here."
        ) from error
