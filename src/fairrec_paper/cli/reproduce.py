"""`fairrec-paper reproduce` and `search-bench`: the experiments, and a comparison of searchers."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from fairrec.cli.parameters import Flags, Given, typer_command
from fairrec.cli.shared import (
    DebugOption,
    LogOption,
    QuietOption,
    RunOption,
    need,
    say,
    shown_progress,
    stdout,
)
from fairrec.core.errors import InputError, plain
from fairrec.core.option_types import Folder, Form, Names
from fairrec.core.options import OUTPUT, TABLES, Option, spell
from fairrec.inputs.table_options import (
    COUNTED,
    HELD_OUT,
    ITEM_SIDE,
    OTHER_LISTS,
    VALUES,
    TableOptions,
)
from fairrec_paper.datasets.synthetic import SHAPES, shaped_like
from fairrec_paper.models.options import need_torch
from fairrec_paper.reproduction.options import QUICK, ReproduceOptions, SearchBenchOptions

if TYPE_CHECKING:
    from fairrec.core.progress import Progress
    from fairrec_paper.bench import SearchBench
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


FILES = ("accuracy.csv", "convergence.csv", "worst.csv", "search.svg", "search.html")


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
    log: LogOption = None,
    debug: DebugOption = False,
) -> None:
    """Compare searchers: how much of the exact gap each finds after how many users."""
    with shown_progress(quiet, log) as progress:
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
    if shape is not None:
        return _make_world(shape, tables, seed, progress)
    need(tables, "users", "by", command="search-bench")
    return plain(predictions), {"predictions": predictions, **tables}


def _make_world(
    shape: str, tables: Given, seed: int, progress: Progress
) -> tuple[str, dict[str, Any]]:
    for name in ("users", "items", "history", *HELD_OUT):
        if name in tables:
            raise InputError(f"--shape makes its own tables. Leave out {spell(name)}.")
    from fairrec_paper.datasets.synthetic import synthetic_bundle
    from fairrec_paper.models.data import TasteRecommender

    progress("making synthetic data", 0, 0)
    world = TasteRecommender(synthetic_bundle(shaped_like(shape, seed=seed)), seed)
    by = tables.get("by") or world.tables()["by"]
    return f"synthetic world shaped like {shape}, ranked by popularity and taste", {
        "predictions": world.predictions(),
        **world.tables(),
        "by": by,
    }


def _about(bench: SearchBench) -> list[str]:
    """What was compared, in two lines."""
    options = bench.options
    how = "one search for all metrics" if options.together else "each metric searched by itself"
    several = f"mean and spread of {options.n_seeds} seeds" if options.n_seeds > 1 else "one seed"
    return [
        f"{bench.n_users:,} users in {bench.n_groups:,} groups of at least {bench.min_users:,}, "
        f"of {bench.n_combinations:,} combinations; {several}",
        f"mean over {', '.join(bench.gaps)}; {how}",
    ]


def _print_bench(bench: SearchBench, title: str) -> None:
    console = stdout()
    console.print(Text(f"Share of the exact gap found: {title}", style="bold"), soft_wrap=True)
    for line in _about(bench):
        console.print(Text(line), soft_wrap=True)
    budgets = [f"{100 * budget:g}%" for budget in bench.options.budgets]
    table = _table("searcher", *budgets, "at the end", "users", "ms")
    table.caption_justify = "left"
    table.caption = Text(
        "After scoring a share of the users of eligible groups; at the end of a search "
        "without a budget, and the users it took.\n"
        "ms: the searcher's own time for each group it proposes."
    )
    summary = bench.summary()
    for end in bench.ends().to_dicts():
        rows = summary.filter(searcher=end["searcher"]).to_dicts()
        table.add_row(
            Text(end["searcher"]),
            *(_spread(row["mean"], row["sd"]) for row in (*rows, end)),
            f"{100 * end['share']:.0f}%",
            f"{end['ms_per_ask']:.2g}",
        )
    console.print(table)
    if bench.worst.height:
        worst = _table("searcher", "of the", *budgets)
        worst.title, worst.title_justify = Text("Share of the worst served groups found"), "left"
        shares = bench.summary_of_worst().partition_by("searcher", "worst", maintain_order=True)
        for rows in (part.to_dicts() for part in shares):
            cells = (_spread(row["mean"], row["sd"]) for row in rows)
            worst.add_row(Text(rows[0]["searcher"]), f"{rows[0]['worst']:,} worst", *cells)
        console.print(worst)
    for note in bench.notes:
        console.print(Text.assemble(("note: ", "yellow"), note), soft_wrap=True)


def _table(first: str, *others: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(first)
    for heading in others:
        table.add_column(heading, justify="right")
    return table


def _spread(mean: float, sd: float | None) -> str:
    return f"{mean:.3f}" if sd is None else f"{mean:.3f}±{sd:.3f}".replace("±0.", "±.")


def _write_bench(bench: SearchBench, title: str, folder: Path) -> None:
    """Write all files, or none where one cannot be written."""
    from fairrec.core.atomic_io import atomic_folder, put_table
    from fairrec_paper.figures import search_curves

    chart = search_curves(bench.curve, f"Share of the exact gap found: {title}", _about(bench))
    with atomic_folder(folder, owned=("accuracy.csv",)) as part:
        for name in ("convergence", "worst", "accuracy"):
            put_table(getattr(bench, name), part / f"{name}.csv", as_csv=True)
        chart.save(part / "search.svg")
        (part / "search.html").write_text(chart.to_html(inline=True), encoding="utf-8")
