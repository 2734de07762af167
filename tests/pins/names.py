"""The names that users write: of Python and of the command line."""

from __future__ import annotations

import typer

import fairrec
import fairrec.commands
import fairrec_paper.cli


def public_names() -> dict[str, list[str]]:
    """What `fairrec` exports, and the flags of each command of both programs."""
    programs = {"fairrec": fairrec.commands.app, "fairrec-paper": fairrec_paper.cli.app}
    flags = {
        f"{program} {name}": sorted(
            flag for one in command.params for flag in (*one.opts, *one.secondary_opts)
        )
        for program, app in programs.items()
        for name, command in sorted(typer.main.get_command(app).commands.items())
    }
    return {"fairrec": sorted(fairrec.__all__), **flags}
