"""The names that users write: of Python and of the command line."""

from __future__ import annotations

import typer

import fairrec
from fairrec.cli import app


def public_names() -> dict[str, list[str]]:
    """What `fairrec` exports, and the flags of each command."""
    command = typer.main.get_command(app)
    flags = {
        f"fairrec {name}": sorted(
            flag
            for one in command.commands[name].params
            for flag in (*one.opts, *one.secondary_opts)
        )
        for name in sorted(command.commands)
    }
    return {"fairrec": sorted(fairrec.__all__), **flags}
