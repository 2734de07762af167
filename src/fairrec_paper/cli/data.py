"""`fairrec-paper datasets`, `prepare`, `synthetic`, `train`, `score`, `serve`: data and models."""

from __future__ import annotations

import logging
import os
import shlex
import socket
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer
from pydantic import Field
from rich.text import Text

from fairrec.cli.parameters import Flags, Given, typer_command
from fairrec.cli.shared import DebugOption, LogOption, QuietOption, say, shown_progress, stdout
from fairrec.core.errors import InputError, plain
from fairrec.core.option_types import Folder, Form, Name, Whole
from fairrec.core.options import OUTPUT, Option, bind
from fairrec.demo.world_options import WORLD, WorldOptions
from fairrec_paper.datasets.synthetic import SHAPES, shaped_like
from fairrec_paper.models.options import (
    DEEP_MODELS,
    TRAINING,
    Device,
    Hyper,
    TrainingOptions,
    need_torch,
)

if TYPE_CHECKING:
    from fairrec_paper.datasets.bundle import Manifest
    from fairrec_paper.models.run import Run
    from fairrec_paper.models.runs import RunRecord

BundleOption = Annotated[Folder, Option("Folder for the bundle", OUTPUT)]


@typer_command
def datasets_command(*, debug: DebugOption = False) -> None:
    """List the data sets that can be prepared, and where to get them."""
    from fairrec_paper.datasets.bundle import DATASETS

    console = stdout()
    for name in DATASETS:
        entry = DATASETS[name]
        console.print(Text.assemble((name, "bold"), f": {entry.title}"))
        for label, text in (
            ("from", entry.where),
            ("files", ", ".join(entry.files)),
            ("licence", entry.licence),
            ("attributes", f"{', '.join(entry.attributes)} ({entry.n_groups} groups)"),
        ):
            console.print(Text(f"  {label}: {text}"), soft_wrap=True)


@typer_command
def prepare_command(
    *,
    name: Annotated[str, typer.Argument(help="The data set; see fairrec-paper datasets.")],
    raw: Annotated[Folder, Option("Folder with the publisher's files")],
    out: BundleOption,
    quiet: QuietOption = False,
    log: LogOption = None,
    debug: DebugOption = False,
) -> None:
    """Turn a publisher's files into a bundle to train on."""
    with shown_progress(quiet, log) as progress:
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
        Flags(
            WorldOptions,
            without=("name",),
            default="the shape's, or {}",
        ),
    ],
    out: BundleOption,
    quiet: QuietOption = False,
    log: LogOption = None,
    debug: DebugOption = False,
) -> None:
    """Make a bundle with a planted gap, or none, of any size."""
    with shown_progress(quiet, log) as progress:
        from fairrec_paper.datasets.bundle import refuse_no_bundle, write_bundle
        from fairrec_paper.datasets.synthetic import synthetic_bundle

        refuse_no_bundle(out)
        progress("making synthetic data", 0, 0)
        options = WorldOptions(**world) if shape is None else shaped_like(shape, **world)
        manifest = write_bundle(synthetic_bundle(options), out)
    _print_manifest(manifest, out, quiet)


def _print_manifest(manifest: Manifest, out: Path, quiet: bool) -> None:
    console = stdout()
    console.print(
        Text(
            f"{manifest.name}: {manifest.n_users:,} users, {manifest.n_items:,} items, "
            f"{manifest.n_interactions:,} interactions, {manifest.n_positive:,} positive "
            f"({manifest.positive})"
        ),
        soft_wrap=True,
    )
    for note in manifest.notes:
        console.print(Text.assemble(("note: ", "yellow"), note), soft_wrap=True)
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
    log: LogOption = None,
    debug: DebugOption = False,
) -> None:
    """Train a deep recommender; a run that is there already is not trained again."""
    with shown_progress(quiet, log) as progress:
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
    log: LogOption = None,
    debug: DebugOption = False,
) -> None:
    """Write the scored candidates of a run: user_id, item_id, score, label."""
    with shown_progress(quiet, log) as progress:
        need_torch()
        from fairrec_paper.models.run import load_run, write_predictions

        progress("scoring", 0, 0)
        n_rows = write_predictions(load_run(run, device), target, out)
    stdout().print(Text(f"{n_rows:,} candidates scored: {out}"), soft_wrap=True)


def _print_record(record: RunRecord) -> None:
    console = stdout()
    best = record.epochs[record.best_epoch - 1]
    lines = [
        f"{record.model} on {record.dataset}: {record.n_train:,} positive interactions, "
        f"{len(record.epochs)} epochs, the best {best.epoch} "
        f"(validation AUC {best.validation_auc:.4f})",
        f"rows kept out of training: log loss {record.holdout_loss:.4f}, "
        f"AUC {record.holdout_auc:.4f}",
        "test targets: " + ", ".join(f"{name} {value:.4f}" for name, value in record.test.items()),
    ]
    if record.n_too_short:
        lines.append(f"note: {record.n_too_short:,} users are too short for a target")
    for line in lines:
        console.print(Text(line), soft_wrap=True)


@typer_command
def serve_command(
    *,
    run: Annotated[Path, typer.Argument(help="A trained run; see fairrec-paper train.")],
    host: Annotated[str, Form("text", "HOST"), Option("Address to listen at")] = "127.0.0.1",
    port: Annotated[
        Whole, Field(ge=0, le=65_535), Option("Port to listen at; 0 for any free one")
    ] = 8080,
    name: Annotated[
        Name | None, Option("Name of the model in addresses", default="its kind")
    ] = None,
    token_env: Annotated[
        Name | None, Option("Environment variable with a bearer token to ask for")
    ] = None,
    device: Annotated[Device, replace(DEVICE, panel="")] = "auto",
    quiet: QuietOption = False,
    debug: DebugOption = False,
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
    model = name or loaded.record.model
    if not all(letter.isalnum() or letter in "-_." for letter in model):
        raise InputError(f"--name {plain(model)}: give letters, digits, '-', '_' and '.' only.")
    app = serving_app(loaded, model, token, host)
    listener = _listen(host, port)
    if not quiet:
        name_of_host = f"[{host}]" if ":" in host else host
        address = f"http://{name_of_host}:{listener.getsockname()[1]}/v2/models/{model}"
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
    kind = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=kind, backlog=128)
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
