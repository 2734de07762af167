"""`fairrec reproduce`: the experiments of the FairRec paper."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
    from fairrec.reproduction.experiment import ReproduceOptions
    from fairrec.reproduction.reproducing import Reproduced

ALL = "all"


def reproduce_command(
    experiment: Annotated[
        str | None, typer.Argument(help="table1, table2, ..., or all; see --list.")
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Option(help="A bundle or a publisher's folder: FOLDER or NAME=FOLDER. Repeat it."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for tables, figures and cells.")] = None,
    runs: Annotated[
        Path | None, typer.Option(help="Folder of trained runs to use. Default: OUT/runs.")
    ] = None,
    datasets: Annotated[
        str | None,
        typer.Option(
            help="The paper's data sets to use, with commas; synthetic shapes where no files are "
            "given. Default: those given, or all."
        ),
    ] = None,
    models: Annotated[
        str | None,
        typer.Option(help="wide_deep,deepfm,dcn,fgcnn (the default), or taste: without training."),
    ] = None,
    seeds: Annotated[int | None, typer.Option(help="Searches of each method. Default: 5.")] = None,
    permutations: Annotated[
        int | None, typer.Option(help="Times attributes are dealt out anew. Default: 1000.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Small synthetic worlds, to see that all of it runs.")
    ] = False,
    list_: Annotated[bool, typer.Option("--list", help="List the experiments.")] = False,
    seed: SeedOption = 0,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Run an experiment of the FairRec paper; its outcome stands beside the published one."""
    if list_:
        _print_list()
        return
    with errors_in_words(debug), shown_progress(quiet) as progress:
        if experiment is None or out is None:
            raise InputError(
                "Name an experiment and a folder: fairrec reproduce table2 --out DIR. "
                "fairrec reproduce --list names them all."
            )
        from fairrec.reproduction.registry import EXPERIMENTS
        from fairrec.reproduction.reproducing import reproduce

        names = list(EXPERIMENTS) if experiment == ALL else [experiment]
        options = _options(models, seeds, permutations, seed, quick)
        if options.has_deep_models and any(EXPERIMENTS[name].needs_models for name in names):
            need_torch()
        done = reproduce(
            names,
            out,
            data or (),
            None if datasets is None else _names(datasets),
            runs,
            options,
            progress,
            shlex.join(["fairrec", *sys.argv[1:]]) if sys.argv[1:] else "",
        )
    _print(done, quiet)


def _options(
    models: str | None, seeds: int | None, permutations: int | None, seed: int, quick: bool
) -> ReproduceOptions:
    from dataclasses import replace

    from fairrec.reproduction.experiment import QUICK, ReproduceOptions

    chosen = QUICK if quick else ReproduceOptions()
    if models is not None:
        chosen = replace(chosen, models=tuple(dict.fromkeys(_names(models))))
    if seeds is not None:
        chosen = replace(chosen, n_seeds=seeds)
    if permutations is not None:
        chosen = replace(chosen, permutations=permutations)
    return replace(chosen, seed=seed)


def _names(text: str) -> list[str]:
    from fairrec.inputs.audit_inputs import names_of

    return names_of(text)


def _print_list() -> None:
    from fairrec.reproduction.registry import EXPERIMENTS

    console = stdout()
    for name in EXPERIMENTS:
        entry = EXPERIMENTS[name]
        where = ", ".join(entry.datasets) or entry.made_for
        console.print(Text.assemble((name, "bold"), f": {entry.label}. {entry.title}"))
        console.print(Text(f"  {where}"), soft_wrap=True)
    console.print(Text.assemble((ALL, "bold"), ": all of them"))


def _print(done: list[Reproduced], quiet: bool) -> None:
    from fairrec.report.text.terminal import rich_table

    console = stdout()
    for one in done:
        console.print(Text(one.title, style="bold"), soft_wrap=True)
        console.print(rich_table(one.outcome.tables[0].view))
        for note in one.outcome.notes:
            console.print(Text.assemble(("note: ", "yellow"), note), soft_wrap=True)
        if not quiet:
            kept = f"{one.n_trials - one.n_worked:,} of {one.n_trials:,} trials were there"
            say(f"Written to {one.folder} ({kept}): index.html, {one.experiment.name}.md, ...")
