"""The command line: parse, call the library, print, exit code."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from fairrec.cli.audit import audit_command, demo_command
from fairrec.cli.compare import compare_command
from fairrec.cli.count import count_command
from fairrec.cli.counterfactual import counterfactual_command
from fairrec.cli.data import datasets_command, prepare_command, synthetic_command
from fairrec.cli.describe import metrics_command, schema_command, searchers_command
from fairrec.cli.doctor import doctor_command
from fairrec.cli.gate import gate_command, init_command
from fairrec.cli.mitigate import mitigate_command, rerank_command, rerankers_command
from fairrec.cli.parameters import SectionedCommand
from fairrec.cli.plan import plan_command
from fairrec.cli.report import report_command
from fairrec.cli.reproduce import reproduce_command
from fairrec.cli.search_bench import search_bench_command
from fairrec.cli.serve import serve_run_command
from fairrec.cli.shown_console import ShownGroup, ended_with_reader
from fairrec.cli.stores import card_command, mlflow_command
from fairrec.cli.train import score_command, train_command
from fairrec.cli.trend import trend_command
from fairrec.core.version import __version__

app = typer.Typer(
    cls=ShownGroup,
    help="Test whether a recommender system serves some groups of people worse than others.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("audit", cls=SectionedCommand)(audit_command)
app.command("count", cls=SectionedCommand)(count_command)
app.command("plan", cls=SectionedCommand)(plan_command)
app.command("demo", cls=SectionedCommand)(demo_command)
app.command("compare", cls=SectionedCommand)(compare_command)
app.command("counterfactual", cls=SectionedCommand)(counterfactual_command)
app.command("trend", cls=SectionedCommand)(trend_command)
app.command("report", cls=SectionedCommand)(report_command)
app.command("gate", cls=SectionedCommand)(gate_command)
app.command("init", cls=SectionedCommand)(init_command)
app.command("card", cls=SectionedCommand)(card_command)
app.command("mlflow", cls=SectionedCommand)(mlflow_command)
app.command("mitigate", cls=SectionedCommand)(mitigate_command)
app.command("rerank", cls=SectionedCommand)(rerank_command)
app.command("search-bench", cls=SectionedCommand)(search_bench_command)
app.command("reproduce", cls=SectionedCommand)(reproduce_command)
app.command("datasets", cls=SectionedCommand)(datasets_command)
app.command("prepare", cls=SectionedCommand)(prepare_command)
app.command("synthetic", cls=SectionedCommand)(synthetic_command)
app.command("train", cls=SectionedCommand)(train_command)
app.command("score", cls=SectionedCommand)(score_command)
app.command("serve-run", cls=SectionedCommand)(serve_run_command)
app.command("doctor", cls=SectionedCommand)(doctor_command)
app.command("metrics", cls=SectionedCommand)(metrics_command)
app.command("searchers", cls=SectionedCommand)(searchers_command)
app.command("rerankers", cls=SectionedCommand)(rerankers_command)
app.command("schema", cls=SectionedCommand)(schema_command)


@app.callback(invoke_without_command=True)
def _fairrec(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        with ended_with_reader():
            typer.echo(f"fairrec {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command line."""
    if sys.stderr is None:
        # closed: nobody listens, and no file of ours may get the number of what libraries write to
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    # a command makes little garbage, and looking for it takes a tenth of the time of loading
    gc.set_threshold(100_000)
    app()
