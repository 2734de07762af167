"""Run `fairrec-paper` in this process."""

from __future__ import annotations

from functools import cache

import typer

from fairrec_paper.cli import app
from tests.end_to_end.command_line import Ran, run_command

built_command = cache(lambda: typer.main.get_command(app))


def run_paper(*arguments: str) -> Ran:
    """Run the paper's command line; an exception that is no exit is raised."""
    return run_command(built_command(), "fairrec-paper", arguments)
