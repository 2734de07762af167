"""`fairrec train` and `fairrec score`: a deep model and its predictions."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from fairrec.cli.shared import (
    DebugOption,
    QuietOption,
    SeedOption,
    errors_in_words,
    need_torch,
    say,
    shown_progress,
    stdout,
)
from fairrec.core.errors import InputError

if TYPE_CHECKING:
    from fairrec.models.runs.checkpoint import RunRecord


class Target(StrEnum):
    """Which held-out items the candidates are for."""

    test = "test"
    validation = "validation"


def train_command(
    dataset: Annotated[str, typer.Argument(help="The data set the bundle holds.")],
    data: Annotated[Path, typer.Option(help="The bundle; see fairrec prepare.")],
    model: Annotated[str, typer.Option(help="wide_deep, deepfm, dcn or fgcnn.")],
    out: Annotated[Path, typer.Option(help="Folder for the run.")],
    epochs: Annotated[int, typer.Option(help="Most passes over the data.")] = 30,
    patience: Annotated[int, typer.Option(help="Epochs without progress before it stops.")] = 2,
    batch_size: Annotated[int, typer.Option(help="Rows in a step.")] = 4096,
    learning_rate: Annotated[float, typer.Option(help="Step size of Adam.")] = 1e-3,
    holdout: Annotated[float, typer.Option(help="Share of training rows kept out.")] = 0.2,
    candidates: Annotated[int, typer.Option(help="Candidates of a target, itself included.")] = 50,
    all_positive: Annotated[
        bool, typer.Option("--all-positive", help="Count every interaction as positive.")
    ] = False,
    hyper: Annotated[
        list[str] | None, typer.Option(help="Hyper-parameters: embedding=16, layers=256-128.")
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    restart: Annotated[
        bool, typer.Option("--restart", help="Begin anew, whatever the folder holds.")
    ] = False,
    seed: SeedOption = 0,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Train a deep recommender; after a kill, the same command goes on where it was."""
    with errors_in_words(debug), shown_progress(quiet) as progress:
        need_torch()
        from fairrec.datasets.bundle import read_bundle
        from fairrec.models.deep.registry import MODELS
        from fairrec.models.deep.training import TrainingOptions, train

        MODELS[model]
        bundle = read_bundle(data)
        if bundle.manifest.name != dataset:
            raise InputError(
                f"{data}: holds the data set '{bundle.manifest.name}', not '{dataset}'. "
                "Name that one, or give another --data."
            )
        options = TrainingOptions(
            epochs=epochs,
            patience=patience,
            batch_size=batch_size,
            learning_rate=learning_rate,
            holdout=holdout,
            candidates=candidates,
            all_positive=all_positive,
            seed=seed,
            device=device,
        )
        record = train(bundle, model, out, _hyper(hyper or ()), options, restart, progress)
    _print_record(record)
    if not quiet:
        say(f"Written to {out}. Next: fairrec audit --run {out}")


def score_command(
    run: Annotated[Path, typer.Option(help="A trained run.")],
    out: Annotated[Path, typer.Option(help="The Parquet file to write.")],
    target: Annotated[Target, typer.Option(help="Which targets' candidates.")] = Target.test,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Write the scored candidates of a run: user_id, item_id, score, label."""
    with errors_in_words(debug), shown_progress(quiet) as progress:
        need_torch()
        from fairrec.models.runs.run import load_run, write_predictions

        progress("scoring", 0, 0)
        n_rows = write_predictions(load_run(run, device), target.value, out)
    stdout().print(Text(f"{n_rows:,} candidates scored: {out}"), soft_wrap=True)


def _hyper(pairs: list[str] | tuple[str, ...]) -> dict[str, Any]:
    """`embedding=16`, `layers=256-128` as values."""
    values: dict[str, Any] = {}
    for pair in (part for text in pairs for part in text.split(",")):
        name, equals, value = pair.partition("=")
        try:
            if "-" in value:
                values[name] = tuple(int(number) for number in value.split("-"))
            else:
                values[name] = float(value) if "." in value else int(value)
        except ValueError:
            equals = ""
        if not equals:
            raise InputError(
                f"--hyper {pair!r} is not of the form name=number or name=number-number"
            )
    return values


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
