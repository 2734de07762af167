"""The command line of the paper: its data, models and experiments."""

from __future__ import annotations

from fairrec.cli.app import make_app, run_app
from fairrec_paper.cli.data import (
    datasets_command,
    prepare_command,
    score_command,
    serve_command,
    synthetic_command,
    train_command,
)
from fairrec_paper.cli.reproduce import reproduce_command, search_bench_command

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
