"""The command line of the paper: its data, models, experiments and a comparison of searchers."""

from __future__ import annotations

import logging
import os
import shlex
import socket
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer
from pydantic import Field
from rich.text import Text

from fairrec.cli.app import make_app, run_app
from fairrec.cli.parameters import Flags, Given, typer_command
from fairrec.cli.shared import (
    QuietOption,
    RunOption,
    need,
    say,
    shown_progress,
    stdout,
)
from fairrec.core.errors import InputError, plain
from fairrec.core.option_types import Folder, Form, Name, Names, Whole
from fairrec.core.options import OUTPUT, TABLES, Option, bind, spell
from fairrec.demo.world_options import WORLD, WorldOptions
from fairrec.inputs.table_options import (
    COUNTED,
    HELD_OUT,
    ITEM_SIDE,
    OTHER_LISTS,
    VALUES,
    TableOptions,
)
from fairrec_paper.datasets.synthetic import SHAPES, shaped_like
from fairrec_paper.models.options import (
    DEEP_MODELS,
    TRAINING,
    Device,
    Hyper,
    TrainingOptions,
    need_torch,
)
from fairrec_paper.reproduction.options import QUICK, ReproduceOptions, SearchBenchOptions

if TYPE_CHECKING:
    from fairrec.core.progress import Progress
    from fairrec_paper.bench import SearchBench
    from fairrec_paper.datasets.bundle import Manifest
    from fairrec_paper.models.run import Run
    from fairrec_paper.models.runs import RunRecord
    from fairrec_paper.reproduction.reproducing import Reproduced


BundleOption = Annotated[Folder, Option("Folder for the bundle", OUTPUT)]


@typer_command
def datasets_command() -> None:
    """List the data sets that can be prepared, and where to get them."""
    from fairrec_paper.datasets.bundle import DATASETS

    for name in DATASETS:
        entry = DATASETS[name]
        _print(
            f"{name}: {entry.title}",
            f"  from: {entry.where}",
            f"  files: {', '.join(entry.files)}",
            f"  licence: {entry.licence}",
            f"  attributes: {', '.join(entry.attributes)} ({entry.n_groups} groups)",
        )


def _print(title: str, *lines: str, notes: Iterable[str] = ()) -> None:
    """Print a title in bold, lines, and notes."""
    console = stdout()
    for text in (
        Text(title, style="bold"),
        *map(Text, lines),
        *(Text.assemble(("note: ", "yellow"), note) for note in notes),
    ):
        console.print(text, soft_wrap=True)


@typer_command
def prepare_command(
    *,
    name: Annotated[str, typer.Argument(help="The data set; see fairrec-paper datasets.")],
    raw: Annotated[Folder, Option("Folder with the publisher's files")],
    out: BundleOption,
    quiet: QuietOption = False,
) -> None:
    """Turn a publisher's files into a bundle to train on."""
    with shown_progress(quiet) as progress:
        from fairrec_paper.datasets.bundle import prepare

        manifest = prepare(name, raw, out, progress)
    _print_manifest(manifest, out, quiet)


@typer_command
def synthetic_command(
    *,
    shape: Annotated[
        str | None,
        Form("a name", "|".join(SHAPES)),
        Option("Like a data set of that name", WORLD),
    ] = None,
    world: Annotated[
        Given,
        Flags(WorldOptions, without=("name",), default="the shape's, or {}"),
    ],
    out: BundleOption,
    quiet: QuietOption = False,
) -> None:
    """Make a bundle with a planted gap, or none, of any size."""
    with shown_progress(quiet) as progress:
        from fairrec_paper.datasets.bundle import refuse_no_bundle, write_bundle
        from fairrec_paper.datasets.synthetic import synthetic_bundle

        refuse_no_bundle(out)
        progress("making synthetic data", 0, 0)
        options = WorldOptions(**world) if shape is None else shaped_like(shape, **world)
        manifest = write_bundle(synthetic_bundle(options), out)
    _print_manifest(manifest, out, quiet)


def _print_manifest(manifest: Manifest, out: Path, quiet: bool) -> None:
    counts = (
        f"{manifest.n_users:,} users, {manifest.n_items:,} items, "
        f"{manifest.n_interactions:,} interactions, {manifest.n_positive:,} positive "
        f"({manifest.positive})"
    )
    _print(f"{manifest.name}: {counts}", notes=manifest.notes)
    if not quiet:
        train = ("fairrec-paper", "train", "--data", str(out), "--model", "deepfm")
        say(f"Written to {out}. Next: {shlex.join([*train, '--out', 'runs/deepfm'])}")


DEVICE = cast(Option, bind(Device))
Target = Annotated[
    Literal["test", "validation"],
    Option("Which held-out targets' candidates"),
]


@typer_command
def train_command(
    *,
    dataset: Annotated[
        str | None,
        typer.Argument(help="The data set the bundle must hold. Default: whatever it holds."),
    ] = None,
    data: Annotated[Folder, Option("The bundle; see fairrec-paper prepare", TRAINING)],
    model: Annotated[
        str, Form("a name", "|".join(DEEP_MODELS)), Option("The kind of model", TRAINING)
    ],
    training: Annotated[Given, Flags(TrainingOptions)],
    hyper: Hyper = {},  # noqa: B006 - read only
    out: Annotated[Folder, Option("Folder for the run", OUTPUT)],
    restart: Annotated[
        bool,
        typer.Option(
            "--restart", help="Train anew, whatever run the folder holds.", rich_help_panel=OUTPUT
        ),
    ] = False,
    quiet: QuietOption = False,
) -> None:
    """Train a deep recommender; a run that is there already is not trained again."""
    with shown_progress(quiet) as progress:
        need_torch()
        from fairrec_paper.datasets.bundle import read_bundle
        from fairrec_paper.models.networks import MODELS
        from fairrec_paper.models.training import train

        MODELS[model]
        bundle = read_bundle(data)
        if dataset not in (None, bundle.manifest.name):
            raise InputError(
                f"{data}: holds the data set '{plain(bundle.manifest.name)}', not "
                f"'{plain(dataset)}'. Leave its name out, or give another --data."
            )
        options = TrainingOptions(**training)
        record = train(bundle, model, out, dict(hyper), options, restart, progress)
    _print_record(record)
    if not quiet:
        say(f"Written to {out}. Next: fairrec audit --run {out}")


@typer_command
def score_command(
    *,
    run: Annotated[Folder, Option("A trained run")],
    out: Annotated[Path, Option("The Parquet file to write")],
    target: Target = "test",
    device: Annotated[Device, replace(DEVICE, panel="")] = "auto",
    quiet: QuietOption = False,
) -> None:
    """Write the scored candidates of a run: user_id, item_id, score, label."""
    with shown_progress(quiet) as progress:
        need_torch()
        from fairrec_paper.models.run import load_run, write_predictions

        progress("scoring", 0, 0)
        n_rows = write_predictions(load_run(run, device), target, out)
    _print(f"{n_rows:,} candidates scored: {out}")


def _print_record(record: RunRecord) -> None:
    best = record.epochs[record.best_epoch - 1]
    n_short = record.n_too_short
    _print(
        f"{record.model} on {record.dataset}: {record.n_train:,} positive interactions, "
        f"{len(record.epochs)} epochs, the best {best.epoch} "
        f"(validation AUC {best.validation_auc:.4f})",
        f"rows kept out of training: log loss {record.holdout_loss:.4f}, "
        f"AUC {record.holdout_auc:.4f}",
        "test targets: " + ", ".join(f"{name} {value:.4f}" for name, value in record.test.items()),
        notes=[f"{n_short:,} users are too short for a target"] if n_short else [],
    )


@typer_command
def serve_command(
    *,
    run: Annotated[Path, typer.Argument(help="A trained run; see fairrec-paper train.")],
    host: Annotated[str, Form("text", "HOST"), Option("Address to listen at")] = "127.0.0.1",
    port: Annotated[
        Whole, Field(ge=0, le=65_535), Option("Port to listen at; 0 for any free one")
    ] = 8080,
    token_env: Annotated[
        Name | None, Option("Environment variable with a bearer token to ask for")
    ] = None,
    device: Annotated[Device, replace(DEVICE, panel="")] = "auto",
    quiet: QuietOption = False,
) -> None:
    """Serve a trained run by the Open Inference Protocol until Ctrl-C."""
    need_torch("starlette", "uvicorn")
    import uvicorn

    from fairrec_paper.models.run import load_run
    from fairrec_paper.models.server import serving_app

    token = "" if token_env is None else os.environ.get(token_env, "").strip()
    if token_env is not None and not token:
        raise InputError("--token-env: the environment variable it names is not set, or is empty.")
    loaded = load_run(run, device)
    app = serving_app(loaded, token, host)
    listener = _listen(host, port)
    if not quiet:
        name_of_host = f"[{host}]" if ":" in host else host
        address = (
            f"http://{name_of_host}:{listener.getsockname()[1]}/v2/models/{loaded.record.model}"
        )
        say(f"Serving {run} at {address} until Ctrl-C. In another terminal:")
        say(f"  {_audit(loaded, address, token_env)}")
        logging.getLogger("uvicorn.error").addHandler(logging.StreamHandler())
    config = uvicorn.Config(
        app, log_config=None, access_log=False, lifespan="off", limit_concurrency=MOST_AT_ONCE
    )
    uvicorn.Server(config).run(sockets=[listener])


MOST_AT_ONCE = 64


def _listen(host: str, port: int) -> socket.socket:
    """A socket that listens already when the address is printed."""
    try:
        listener = socket.create_server((host, port), backlog=128)
    except (OSError, OverflowError) as error:
        raise InputError(
            f"--host {plain(host)} --port {port}: cannot listen there ({error}). Choose another."
        ) from error
    # without it each part of a reply waits some 40 ms
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _audit(run: Run, address: str, token_env: str | None) -> str:
    """The command that audits what is served."""
    tables = run.tables()
    command = ["fairrec", "audit", str(run.folder / "test.parquet")]
    for name in ("users", "items", "history"):
        if tables[name] is not None:
            command += [f"--{name}", str(tables[name])]
    command += ["--by", ",".join(tables["by"]), "--endpoint", address]
    return shlex.join([*command, *(["--token-env", token_env] if token_env else [])])


ALL = "all"


@typer_command
def reproduce_command(
    *,
    experiment: Annotated[
        str | None, typer.Argument(help="table1, table2, ..., or all; see --list.")
    ] = None,
    data: Annotated[
        Names,
        Form("folders, with commas between them", "FOLDER", is_list=True),
        Option("Bundles, with commas between them; see fairrec-paper prepare"),
    ] = (),
    out: Annotated[Folder | None, Option("Folder for tables, figures and trials")] = None,
    runs: Annotated[
        Folder | None, Option("Folder of trained runs to use", default="OUT/runs")
    ] = None,
    datasets: Annotated[
        Names | None,
        Option(
            "The paper's data sets to use; synthetic shapes where no files are given",
            default="those given, or all",
        ),
    ] = None,
    given: Annotated[Given, Flags(ReproduceOptions)],
    list_: Annotated[bool, typer.Option("--list", help="List the experiments.")] = False,
    quiet: QuietOption = False,
) -> None:
    """Run an experiment of the FairRec paper; its outcome stands beside the published one."""
    if list_:
        _print_list()
        return
    with shown_progress(quiet) as progress:
        if experiment is None or out is None:
            raise InputError(
                "Name an experiment and a folder: fairrec-paper reproduce table2 --out DIR. "
                "fairrec-paper reproduce --list names them all."
            )
        from fairrec_paper.reproduction.reproducing import EXPERIMENTS, reproduce

        names = list(EXPERIMENTS) if experiment == ALL else [experiment]
        options = replace(QUICK if given.get("quick") else ReproduceOptions(), **given)
        command = shlex.join(["fairrec-paper", *sys.argv[1:]])
        done = reproduce(names, out, data, datasets, runs, options, progress, command)
    _print_reproduced(done, quiet)


def _print_list() -> None:
    from fairrec_paper.reproduction.reproducing import EXPERIMENTS

    for name in EXPERIMENTS:
        entry = EXPERIMENTS[name]
        where = ", ".join(entry.datasets) or entry.made_for
        _print(f"{name}: {entry.label}. {entry.title}", f"  {where}")
    _print(f"{ALL}: all of them")


def _print_reproduced(done: list[Reproduced], quiet: bool) -> None:
    from fairrec.report.text import table_lines

    for one in done:
        _print(one.title, *table_lines(one.outcome.tables[0].view), notes=one.outcome.notes)
        if not quiet:
            kept = f"{one.n_trials - one.n_worked:,} of {one.n_trials:,} trials were there"
            say(f"Written to {one.folder} ({kept}): index.html, ...")


FILES = ("accuracy.csv", "convergence.csv", "worst.csv", "search.svg")


@typer_command
def search_bench_command(
    *,
    predictions: Annotated[
        Path | None, typer.Argument(help="Scored candidates: Parquet, CSV or Arrow.")
    ] = None,
    run: RunOption = None,
    shape: Annotated[
        str | None,
        Form("a name", "|".join(SHAPES)),
        Option("Synthetic data like that data set instead", TABLES),
    ] = None,
    tables: Annotated[
        Given,
        Flags(TableOptions, without=("adjust_for", *VALUES, *ITEM_SIDE, *OTHER_LISTS, *COUNTED)),
    ],
    bench_options: Annotated[Given, Flags(SearchBenchOptions, without=("threads",))],
    out: Annotated[Folder | None, Option("Folder for the figures and tables", OUTPUT)] = None,
    quiet: QuietOption = False,
) -> None:
    """Compare searchers: how much of the exact gap each finds after how many users."""
    with shown_progress(quiet) as progress:
        from fairrec.core.atomic_io import check_writable
        from fairrec.metrics.reading import read_inputs
        from fairrec.search.searcher import uses_proxy
        from fairrec_paper.bench import bench_searchers

        options = SearchBenchOptions(**bench_options)
        if out is not None:
            check_writable(out)
        read = {name: tables.pop(name) for name in ("metrics", "columns") if name in tables}
        title, searched = _source(predictions, run, shape, tables, options.seed, progress)
        progress("reading", 0, 0)
        wants = ("history",) if uses_proxy(options.searchers) else ()
        inputs, wanted = read_inputs(**searched, **read, wants=wants)
        bench = bench_searchers(inputs, wanted, options, progress)
        if out is not None:
            progress("drawing", 0, 0)
            _write_bench(bench, title, out)
    _print_bench(bench, title)
    if out is not None and not quiet:
        say(f"Written to {out}: {', '.join(FILES)}")


def _source(
    predictions: Path | None,
    run: Path | None,
    shape: str | None,
    tables: Given,
    seed: int,
    progress: Progress,
) -> tuple[str, dict[str, Any]]:
    """What to call the tables to search in, and these: named, of a run, or of a world."""
    if sum(source is not None for source in (predictions, run, shape)) != 1:
        raise InputError(
            "Name a table of predictions, a run or a shape, and one of them only: "
            "fairrec-paper search-bench PREDICTIONS --users USERS --by ATTRIBUTES, "
            "fairrec-paper search-bench --run RUN, or fairrec-paper search-bench --shape lfm360k"
        )
    if run is not None:
        need_torch()
        from fairrec_paper.models.run import load_run

        progress("scoring", 0, 0)
        loaded = load_run(run, "auto")
        title = plain(f"{loaded.record.dataset}, {loaded.record.model}")
        return title, {"predictions": loaded.predictions(), **loaded.tables(), **tables}
    if shape is None:
        need(tables, "users", "by", command="search-bench")
        return plain(predictions), {"predictions": predictions, **tables}
    for name in ("users", "items", "history", *HELD_OUT):
        if name in tables:
            raise InputError(f"--shape makes its own tables. Leave out {spell(name)}.")
    from fairrec_paper.datasets.synthetic import synthetic_bundle
    from fairrec_paper.models.data import TasteRecommender

    progress("making synthetic data", 0, 0)
    world = TasteRecommender(synthetic_bundle(shaped_like(shape, seed=seed)), seed)
    return f"synthetic world shaped like {shape}, ranked by popularity and taste", {
        "predictions": world.predictions(),
        **world.tables(),
        **tables,
    }


def _about(bench: SearchBench) -> list[str]:
    """What was compared, in two lines."""
    options = bench.options
    several = f"mean and spread of {options.n_seeds} seeds" if options.n_seeds > 1 else "one seed"
    return [
        f"{bench.n_users:,} users in {bench.n_groups:,} groups of at least {bench.min_users:,}, "
        f"of {bench.n_combinations:,} combinations; {several}",
        f"mean over {', '.join(bench.gaps)}, each searched by itself",
    ]


def _print_bench(bench: SearchBench, title: str) -> None:
    from fairrec.report.text import table_lines
    from fairrec.report.words import TableView

    budgets = [f"{100 * budget:g}%" for budget in bench.options.budgets]

    def print_table(heading: str, columns: list[str], rows: list[list[str]]) -> None:
        is_number = (False, *(True for _ in columns[1:]))
        view = TableView(heading, tuple(columns), is_number, tuple(map(tuple, rows)))
        _print(heading, *table_lines(view))

    summary = bench.summary().partition_by("searcher", as_dict=True)
    print_table(
        f"Share of the exact gap found: {title}",
        ["searcher", *budgets, "at the end", "users", "ms"],
        [
            [
                end["searcher"],
                *(_spread(row) for row in (*summary[end["searcher"],].to_dicts(), end)),
                f"{100 * end['share']:.0f}%",
                f"{end['ms_per_ask']:.2g}",
            ]
            for end in bench.ends().to_dicts()
        ],
    )
    if bench.worst.height:
        worst = bench.summary_of_worst().partition_by("searcher", "worst", maintain_order=True)
        rows = [part.to_dicts() for part in worst]
        print_table(
            "Share of the worst served groups found",
            ["searcher", "of the worst", *budgets],
            [[row[0]["searcher"], f"{row[0]['worst']:,}", *map(_spread, row)] for row in rows],
        )
    meaning = (
        "Shares are after scoring a share of the users of eligible groups, and at the end of a "
        "search without a budget, with the users it took; ms is its own time for each group."
    )
    _print("", *_about(bench), meaning, notes=bench.notes)


def _spread(row: dict[str, Any]) -> str:
    mean, sd = row["mean"], row["sd"]
    return f"{mean:.3f}" if sd is None else f"{mean:.3f}±{sd:.3f}".replace("±0.", "±.")


def _write_bench(bench: SearchBench, title: str, folder: Path) -> None:
    """Write all files, or none where one cannot be written."""
    from fairrec.core.atomic_io import atomic_folder, put_table
    from fairrec_paper.figures import search_curves

    chart = search_curves(bench.summary(), f"Share of the exact gap found: {title}", _about(bench))
    with atomic_folder(folder, owned=("accuracy.csv",)) as part:
        for name in ("convergence", "worst", "accuracy"):
            put_table(getattr(bench, name), part / f"{name}.csv", as_csv=True)
        chart.save(part / "search.svg")


app = make_app(
    "fairrec-paper",
    "The data, models and experiments of the FairRec paper.",
    {
        "Data": {
            "datasets": datasets_command,
            "prepare": prepare_command,
            "synthetic": synthetic_command,
        },
        "Models": {"train": train_command, "score": score_command, "serve": serve_command},
        "Experiments": {"reproduce": reproduce_command, "search-bench": search_bench_command},
    },
)


def main() -> None:
    """Run the command line."""
    run_app(app)
