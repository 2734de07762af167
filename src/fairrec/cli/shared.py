"""What all commands share: options, progress, printing.

What is printed reaches a terminal as text: paths and names of the user's are in it too. Where
nobody reads it any more, a command ends as Unix tools do.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text
from typer.core import TyperGroup

from fairrec.core.atomic_io import errors_of_disk
from fairrec.core.errors import (
    InputError,
    plain,
)
from fairrec.core.kinds import FILE, FOLDER, one_of
from fairrec.core.options import OUTPUT, TABLES, Option, spelled
from fairrec.core.progress import Progress, ProgressLines
from fairrec.core.version import __version__

if TYPE_CHECKING:
    from fairrec.result.audit_result import AuditResult

UNREAD = 141
"""The exit code of a command whose pipe nobody reads any more: 128 and the number of SIGPIPE."""
_UsageError: Any = typer.BadParameter.__base__
"""Of click, or of the copy of it that newer versions of typer have."""


def shown(message: str) -> str:
    r"""A message in its lines, with what a terminal would act on escaped.

    >>> print(shown("Written to \x1b[31mout:\nresult.json"))
    Written to \x1b[31mout:
    result.json
    """
    return "\n".join(plain(line, sys.maxsize) for line in message.split("\n"))


class ShownConsole(Console):
    """A console that sends the codes of its own styles and no others."""

    def print(self, *objects: Any, **how: Any) -> None:
        """Print as `Console.print` does."""
        super().print(*map(_as_text, objects), **how)


class ShownGroup(TyperGroup):
    """Commands; a complaint about a word that is none of them is shown too."""

    def make_context(self, *words: Any, **how: Any) -> Any:
        """Take the words before a command apart, as `TyperGroup` does."""
        with ended_with_reader(), shown_complaints():
            return super().make_context(*words, **how)

    def resolve_command(self, *words: Any) -> Any:
        """Find the command, as `TyperGroup` does."""
        with shown_complaints():
            return super().resolve_command(*words)


@contextmanager
def ended_with_reader() -> Iterator[None]:
    """End without a word where nobody reads what is printed, as after `head`."""
    try:
        yield
    except BrokenPipeError as error:
        for stream in filter(None, (sys.stdout, sys.stderr)):
            try:
                stream.flush()
            except BrokenPipeError:
                # what is left is not tried again on the way out
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        raise typer.Exit(UNREAD) from error


@contextmanager
def shown_complaints() -> Iterator[None]:
    """Show what is not understood in the words of a command."""
    try:
        yield
    except _UsageError as error:
        error.message = shown(error.message)
        raise


def _as_text(part: Any) -> Any:
    if isinstance(part, Text) and shown(part.plain) != part.plain:
        # its styles would be at other places then
        return Text(shown(part.plain), style=part.style)
    return part


class Format(StrEnum):
    """What is printed on standard output."""

    text = "text"
    markdown = "markdown"
    json = "json"


_LONGEST_LINE = 300

AuditArgument = Annotated[
    Path, typer.Argument(help="Folder of an audit or mitigation: their --out.")
]
QuietOption = Annotated[
    bool,
    typer.Option("--quiet", help="No progress on standard error.", rich_help_panel=OUTPUT),
]
LogOption = Annotated[
    Path | None,
    Option(FILE, "File to append progress to, with date and time, also where all is quiet", OUTPUT),
]
DebugOption = Annotated[
    bool, typer.Option("--debug", help="Show where an error came from.", rich_help_panel=OUTPUT)
]
FormatOption = Annotated[
    Format, Option(replace(one_of(*Format), parse=Format), "What to print", OUTPUT)
]
NoReportOption = Annotated[
    bool,
    typer.Option("--no-report", help="Write no page, report.html.", rich_help_panel=OUTPUT),
]
ForceOption = Annotated[
    bool,
    typer.Option(
        "--force",
        help="Replace a result of another kind in the folder, and files there of the same names.",
        rich_help_panel=OUTPUT,
    ),
]
RunOption = Annotated[
    Path | None, Option(FOLDER, "A trained run instead of tables; see fairrec-paper train", TABLES)
]


def need(given: Mapping[str, Any], *names: str, command: str) -> None:
    """Refuse to go on without some options."""
    for name in names:
        if given.get(name) is None:
            raise InputError(f"{spelled(name)} is missing. See fairrec {command} --help")


def print_result(result: AuditResult, output_format: Format, out: Path | None = None) -> None:
    """Print a result in the form asked for.

    Parameters
    ----------
    out : where it is written
    """
    from fairrec.report.text.markdown import to_markdown
    from fairrec.report.text.terminal import print_text
    from fairrec.report.text.view import build_view

    folder = "AUDIT" if out is None else shlex.quote(str(out))
    print_as(
        output_format,
        json=result.to_json,
        markdown=lambda: to_markdown(build_view(result.summary)),
        text=lambda console: print_text(
            build_view(result.summary, folder, is_saved=out is not None), console
        ),
    )


def print_as(
    output_format: Format,
    *,
    json: Callable[[], str],
    markdown: Callable[[], str],
    text: Callable[[Console], None],
) -> None:
    """Print in the form asked for; only that one is made."""
    from fairrec.gating.formats import as_json_text

    if output_format is Format.json:
        typer.echo(as_json_text(json()))
    elif output_format is Format.markdown:
        print_markdown(markdown())
    else:
        text(stdout())


_PLAINER = "fairrec.plainer"
_IN_ASCII = {
    "\u2212": "-",
    "\u2264": "<=",
    "·": "|",
    **{"▼": "(worse)", "▲": "(better)", "◆": "(differs)"},
}


def _plainer(error: UnicodeError) -> tuple[str | bytes, int]:
    """Signs of ours as ASCII has them, the rest escaped."""
    if isinstance(error, UnicodeEncodeError):
        sign = _IN_ASCII.get(error.object[error.start])
        if sign is not None:
            return sign, error.start + 1
    escaped: tuple[str | bytes, int] = codecs.backslashreplace_errors(error)
    return escaped


codecs.register_error(_PLAINER, _plainer)


def print_markdown(text: str) -> None:
    """Print Markdown, wherever standard output leads."""
    _show_what_can_be()
    typer.echo(text, nl=False)


def _show_what_can_be() -> None:
    """Where only ASCII or little more can be shown, the rest is escaped."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors=_PLAINER)


def stdout() -> Console:
    """Standard output; in a pipe wide enough that tables stay readable."""
    _show_what_can_be()
    return _Heard(highlight=False, width=None if sys.stdout.isatty() else 120)


class _Heard(ShownConsole):
    """A console that does not take a closed pipe for a reason to exit without a word."""

    def on_broken_pipe(self) -> None:
        """Let it be an error, as where standard output is full."""
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


def say(message: str) -> None:
    """A line on standard error; nobody listening there is no reason to end otherwise."""
    with suppress(OSError, ValueError):
        _Heard(stderr=True, highlight=False).print(Text(shown(message)), soft_wrap=True)


@contextmanager
def shown_progress(quiet: bool, log: Path | None = None) -> Iterator[Progress]:
    """How far a command is, on standard error: a bar on a terminal, else lines.

    Parameters
    ----------
    quiet : nothing there
    log : a file that gets the lines, with date and time, whatever the terminal
    """
    with ExitStack() as stack:
        shown: list[Progress] = []
        if log is not None:
            shown.append(stack.enter_context(ProgressLines(stack.enter_context(_logged(log)))))
        if not quiet:
            # colours may be forced on a pipe, a bar is for a terminal; one that is only disabled
            # leaves an empty line behind with some versions of rich
            here: AbstractContextManager[Progress] = (
                _bar() if sys.stderr.isatty() else ProgressLines(_say_progress)
            )
            shown.append(stack.enter_context(here))

        def advance(stage: str, done: int, total: int) -> None:
            for progress in shown:
                progress(stage, done, total)

        yield advance


@contextmanager
def _bar() -> Iterator[Progress]:
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task("", total=None)

        def advance(stage: str, done: int, total: int) -> None:
            bar.update(task, description=stage, completed=done, total=total or None)

        yield advance


def _say_progress(seconds: float, line: str) -> None:
    minutes, rest = divmod(int(seconds), 60)
    # nobody listening is no reason to lose the result
    with suppress(OSError, ValueError):
        sys.stderr.write(f"[{minutes}:{rest:02}] {plain(line, _LONGEST_LINE)}\n")
        sys.stderr.flush()


@contextmanager
def _logged(file: Path) -> Iterator[Callable[[float, str], None]]:
    """Append lines to a file: which command begins, what it is told, and how it ended.

    The words of the command itself are not among them, as they may hold a secret.
    """
    with errors_of_disk(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        stream = file.open("a", encoding="utf-8", newline="\n")

    def write(seconds: float, line: str) -> None:
        stamp = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
        # nor is a full disk
        with suppress(OSError, ValueError):
            stream.write(f"{stamp} {plain(line, _LONGEST_LINE)}\n")
            stream.flush()

    try:
        write(0, f"fairrec {__version__}{_command_name()}")
        yield write
        write(0, "done")
    except BaseException as error:
        write(0, f"ended by {type(error).__name__}")
        raise
    finally:
        with suppress(OSError):
            stream.close()


def _command_name() -> str:
    """The first word of the command, where it is one; what follows may hold a secret."""
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    return f" {word}" if re.fullmatch(r"[a-z]+(-[a-z]+)*", word) else ""
