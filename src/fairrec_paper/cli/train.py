"""`fairrec-paper train` and `fairrec-paper score`: a deep model and its predictions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.text import Text

from fairrec.cli.parameters import FieldsOf, Given, Here, takes_options
from fairrec.cli.shared import (
    DebugOption,
    LogOption,
    QuietOption,
    say,
    shown_progress,
    stdout,
)
from fairrec.core.errors import InputError, plain
from fairrec.core.kinds import FILE, FOLDER, NAME, one_of
from fairrec.core.options import OUTPUT, Option
from fairrec_paper.models.deep.model_names import DEEP_MODELS, need_torch
from fairrec_paper.models.deep.training_options import TRAINING, Device, Hyper, TrainingOptions

if TYPE_CHECKING:
    from fairrec_paper.models.runs.record import RunRecord

Target = Annotated[
    Literal["test", "validation"],
    Option(one_of("test", "validation"), "Which held-out targets' candidates"),
]


@takes_options
def train_command(
    *,
    dataset: Annotated[
        str | None,
        typer.Argument(help="The data set the bundle must hold. Default: whatever it holds."),
    ] = None,
    data: Annotated[Path, Option(FOLDER, "The bundle; see fairrec-paper prepare", TRAINING)],
    model: Annotated[
        str, Option(replace(NAME, metavar="|".join(DEEP_MODELS)), "The kind of model", TRAINING)
    ],
    training: Annotated[Given, FieldsOf(TrainingOptions, panels={"seed": TRAINING})],
    hyper: Hyper = {},  # noqa: B006 - read only
    out: Annotated[Path, Option(FOLDER, "Folder for the run", OUTPUT)],
    restart: Annotated[
        bool,
        typer.Option(
            "--restart", help="Begin anew, whatever the folder holds.", rich_help_panel=OUTPUT
        ),
    ] = False,
    quiet: QuietOption = False,
    log: LogOption = None,
    debug: DebugOption = False,
) -> None:
    """Train a deep recommender; after a kill, the same command goes on where it was."""
    with shown_progress(quiet, log) as progress:
        need_torch()
        from fairrec_paper.datasets.bundle import read_bundle
        from fairrec_paper.models.deep.registry import MODELS
        from fairrec_paper.models.deep.training import train

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


@takes_options
def score_command(
    *,
    run: Annotated[Path, Option(FOLDER, "A trained run")],
    out: Annotated[Path, Option(FILE, "The Parquet file to write")],
    target: Target = "test",
    device: Annotated[Device, Here(panel="")] = "auto",
    quiet: QuietOption = False,
    log: LogOption = None,
    debug: DebugOption = False,
) -> None:
    """Write the scored candidates of a run: user_id, item_id, score, label."""
    with shown_progress(quiet, log) as progress:
        need_torch()
        from fairrec_paper.models.runs.run import load_run, write_predictions

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
