"""`fairrec-paper reproduce`: the experiments of the FairRec paper."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from fairrec.cli.parameters import Flags, Given, typer_command
from fairrec.cli.shared import DebugOption, LogOption, QuietOption, say, shown_progress, stdout
from fairrec.core.errors import InputError
from fairrec.core.option_types import Folder, Form, Names
from fairrec.core.options import Option
from fairrec_paper.models.options import need_torch
from fairrec_paper.reproduction.options import QUICK, ReproduceOptions

if TYPE_CHECKING:
    from fairrec_paper.reproduction.reproducing import Reproduced

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
    log: LogOption = None,
    debug: DebugOption = False,
) -> None:
    """Run an experiment of the FairRec paper; its outcome stands beside the published one."""
    if list_:
        _print_list()
        return
    with shown_progress(quiet, log) as progress:
        if experiment is None or out is None:
            raise InputError(
                "Name an experiment and a folder: fairrec-paper reproduce table2 --out DIR. "
                "fairrec-paper reproduce --list names them all."
            )
        from fairrec_paper.reproduction.reproducing import EXPERIMENTS, reproduce

        names = list(EXPERIMENTS) if experiment == ALL else [experiment]
        options = replace(QUICK if given.get("quick") else ReproduceOptions(), **given)
        if options.has_deep_models and any(EXPERIMENTS[name].needs_models for name in names):
            need_torch()
        done = reproduce(
            names,
            out,
            data,
            datasets,
            runs,
            options,
            progress,
            shlex.join(["fairrec", *sys.argv[1:]]) if sys.argv[1:] else "",
        )
    _print(done, quiet)


def _print_list() -> None:
    from fairrec_paper.reproduction.reproducing import EXPERIMENTS

    console = stdout()
    for name in EXPERIMENTS:
        entry = EXPERIMENTS[name]
        where = ", ".join(entry.datasets) or entry.made_for
        console.print(Text.assemble((name, "bold"), f": {entry.label}. {entry.title}"))
        console.print(Text(f"  {where}"), soft_wrap=True)
    console.print(Text.assemble((ALL, "bold"), ": all of them"))


def _print(done: list[Reproduced], quiet: bool) -> None:
    from fairrec.report.text import rich_table

    console = stdout()
    for one in done:
        console.print(Text(one.title, style="bold"), soft_wrap=True)
        console.print(rich_table(one.outcome.tables[0].view, console.width))
        for note in one.outcome.notes:
            console.print(Text.assemble(("note: ", "yellow"), note), soft_wrap=True)
        if not quiet:
            kept = f"{one.n_trials - one.n_worked:,} of {one.n_trials:,} trials were there"
            say(f"Written to {one.folder} ({kept}): index.html, {one.experiment.name}.tex, ...")
