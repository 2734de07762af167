"""A command line of several commands: built from a table of them, with help in plain text, run."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from fairrec.core.options import OUTPUT
from fairrec.core.signals import end_in_order
from fairrec.core.version import __version__

Commands = Mapping[str, Mapping[str, Callable[..., None]]]
"""Functions by the heading they are listed under and their names."""

_UsageError: Any = typer.BadParameter.__base__
"""Of click, or of the copy of it that newer versions of typer have."""
_WHOLE_SENTENCE = 300


def _write_sections(formatter: Any, rows: Iterable[tuple[str, tuple[str, str]]]) -> None:
    """Write names and what they mean under their headings, in the order of the first of each."""
    sections: dict[str, list[tuple[str, str]]] = {}
    for heading, row in rows:
        sections.setdefault(heading, []).append(row)
    for heading, section in sections.items():
        with formatter.section(heading):
            formatter.write_dl(section)


class SectionedCommand(TyperCommand):
    """A command whose help has its options under headings."""

    def make_context(self, *words: Any, **how: Any) -> Any:
        """Parse the words of the command, with a hint where names are separated by blanks."""
        try:
            return super().make_context(*words, **how)
        except _UsageError as error:
            if "unexpected extra argument" in error.message:
                error.message += ". Names stand in one word, with commas: --by gender,age"
            raise

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the options by heading."""
        _write_sections(formatter, self._list_options(ctx))

    def _list_options(self, ctx: Any) -> Iterator[tuple[str, tuple[str, str]]]:
        panels = [getattr(parameter, "rich_help_panel", None) for parameter in self.params]
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            name, about = record
            if parameter.required:
                about = f"{about.removesuffix('[required]').rstrip()} Required."
            panel = getattr(parameter, "rich_help_panel", None) or "Options"
            if parameter.param_type_name == "argument":
                # some versions of typer add the type
                panel, name = "Arguments", name.partition(" <")[0]
            elif parameter.name == "help" and OUTPUT in panels:
                panel = OUTPUT
            yield panel, (name, about)


class _GroupedCommands(TyperGroup):
    """Commands whose help lists them under headings."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands by heading, in the order they were added."""
        commands = ((name, self.commands[name]) for name in self.list_commands(ctx))
        _write_sections(
            formatter,
            (
                (
                    getattr(command, "rich_help_panel", None) or "Commands",
                    (name, command.get_short_help_str(_WHOLE_SENTENCE)),
                )
                for name, command in commands
            ),
        )


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
            typer.echo(f"{program} {__version__}")
            raise typer.Exit

    return app


def run_app(app: typer.Typer) -> None:
    """Run a command line."""
    if sys.stderr is None:  # closed, as by 2>&-
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 - for as long as the process
    end_in_order()
    # a command makes little garbage, and looking for it takes a tenth of the time of loading
    gc.set_threshold(100_000)
    app()
