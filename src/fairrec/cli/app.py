"""A command line of several commands: built from a table of them, listed in groups, run."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from fairrec.cli.parameters import SectionedCommand
from fairrec.cli.shared import ShownGroup, ended_with_reader
from fairrec.core.version import __version__

Commands = Mapping[str, Mapping[str, Callable[..., None]]]
"""Functions by the heading they are listed under and their names."""


_WHOLE_SENTENCE = 300


class _GroupedCommands(ShownGroup):
    """Commands whose help lists them under headings, in plain text."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands by heading, in the order they were added."""
        names = self.list_commands(ctx)
        sections: dict[str, list[tuple[str, str]]] = {}
        for name in names:
            command = self.commands[name]
            heading = getattr(command, "rich_help_panel", None) or "Commands"
            sections.setdefault(heading, []).append(
                (name, command.get_short_help_str(_WHOLE_SENTENCE))
            )
        for heading, rows in sections.items():
            with formatter.section(heading):
                formatter.write_dl(rows)


def make_app(program: str, about: str, commands: Commands) -> typer.Typer:
    """The command line of a program."""
    app = typer.Typer(
        cls=_GroupedCommands,
        help=about,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    for heading, group in commands.items():
        for name, command in group.items():
            app.command(name, cls=SectionedCommand, rich_help_panel=heading)(command)

    @app.callback(invoke_without_command=True)
    def start(
        version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    ) -> None:
        if version:
            with ended_with_reader():
                typer.echo(f"{program} {__version__}")
            raise typer.Exit

    return app


def run_app(app: typer.Typer) -> None:
    """Run a command line."""
    if sys.stderr is None:
        # the descriptor is closed: libraries write to it, so none of our files may reuse its number
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    # a command makes little garbage, and looking for it takes a tenth of the time of loading
    gc.set_threshold(100_000)
    app()
