"""What all commands share: options, progress, printing.

What is printed reaches a terminal as text: paths and names of the user's are in it too.
"""

from __future__ import annotations

import io
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.console import Console
from rich.text import Text

from fairrec.core.errors import InputError, plain
from fairrec.core.option_types import Folder, Switch
from fairrec.core.options import OUTPUT, TABLES, Option, spell
from fairrec.core.progress import Progress, ProgressLines

if TYPE_CHECKING:
    from fairrec.report.answer import Answer
    from fairrec.report.audit_result import AuditResult

Format = Literal["text", "markdown", "json"]
"""What is printed on standard output."""

AuditArgument = Annotated[
    Path, typer.Argument(help="Folder of an audit or mitigation: their --out.")
]
QuietOption = Annotated[Switch, Option("No progress on standard error", OUTPUT)]
FormatOption = Annotated[Format, Option("What to print", OUTPUT)]
VerboseOption = Annotated[
    Switch, Option("Print the report in Markdown, not only the answer in 24 lines", OUTPUT)
]
NoReportOption = Annotated[Switch, Option("Write no page, report.html", OUTPUT)]
ForceOption = Annotated[
    Switch,
    Option(
        "Replace a result of another kind in the folder, and files there of the same names", OUTPUT
    ),
]
RunOption = Annotated[
    Folder | None,
    Option("A trained run instead of tables; see fairrec-paper train", TABLES),
]


def need(given: Mapping[str, Any], *names: str, command: str) -> None:
    """Refuse to go on without some options."""
    for name in names:
        if given.get(name) is None:
            raise InputError(f"{spell(name)} is missing. See fairrec {command} --help")


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


def _as_text(part: Any) -> Any:
    if isinstance(part, Text) and shown(part.plain) != part.plain:
        # its styles would be at other places then
        return Text(shown(part.plain), style=part.style)
    return part


def print_result(
    result: AuditResult,
    output_format: Format,
    out: Path | None = None,
    *,
    verbose: bool = False,
    has_page: bool = False,
    about: str = "",
) -> None:
    """Print a result in the form asked for.

    Parameters
    ----------
    out : where it is written
    has_page : whether its page is there too
    about : more about the audit
    """
    from fairrec.report.text import to_markdown
    from fairrec.report.view import build_view

    folder = "AUDIT" if out is None else shlex.quote(str(out))
    view = build_view(result.summary, result.group_table, folder, is_saved=out is not None)
    also = (about,) if about else ()
    print_as(
        output_format,
        verbose=verbose,
        page=page_path(out, no_report=not has_page),
        json=result.to_json,
        markdown=lambda: to_markdown(view),
        answer=lambda: replace(view.answer, about=(*view.answer.about, *also)),
    )


def page_path(out: Path | None, *, no_report: bool) -> str:
    """Where the page of a result is; empty where there is none."""
    return "" if out is None or no_report else str(out / "report.html")


def print_as(
    output_format: Format,
    *,
    json: Callable[[], str],
    markdown: Callable[[], str],
    answer: Callable[[], Answer],
    verbose: bool = False,
    page: str = "",
) -> None:
    """Print in the form asked for; only that one is made.

    Parameters
    ----------
    page : where the page is
    """
    from fairrec.report.answer import print_answer

    if output_format == "json":
        # the same, with nothing in it that GitHub takes for a command of the old style
        typer.echo(json().replace("##[", "#\\u0023["))
    elif output_format == "markdown" or verbose:
        print_markdown(markdown())
    else:
        print_answer(replace(answer(), page=page), stdout())


def print_markdown(text: str) -> None:
    """Print Markdown, wherever standard output leads."""
    _escape_what_cannot_be_shown()
    typer.echo(text, nl=False)


def _escape_what_cannot_be_shown() -> None:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def stdout() -> Console:
    """Standard output; in a pipe wide enough that tables stay readable."""
    _escape_what_cannot_be_shown()
    return ShownConsole(highlight=False, width=None if sys.stdout.isatty() else 120)


def say_written(out: Path | None, files: str, *, no_report: bool, quiet: bool) -> None:
    """Name the files that were written, unless none were or `--quiet` was given."""
    if out is not None and not quiet:
        say(f"Written to {out}: {files}{'' if no_report else ', report.html'}")


def say(message: str) -> None:
    """A line on standard error; that it cannot be written is no reason to lose a result."""
    with suppress(OSError, ValueError):
        typer.echo(shown(message), err=True)


@contextmanager
def shown_progress(quiet: bool) -> Iterator[Progress]:
    """How far a command is, on standard error: a bar on a terminal, else lines."""
    if quiet:
        yield lambda stage, done, total: None
    elif not sys.stderr.isatty():
        # colours may be forced on a pipe, a bar is for a terminal
        yield ProgressLines(_say_progress)
    else:
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (TextColumn("{task.description}", markup=False), BarColumn())
        with Bar(
            *columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True
        ) as bar:
            task = bar.add_task("", total=None)
            yield lambda stage, done, total: bar.update(
                task, description=stage, completed=done, total=total or None
            )


def _say_progress(seconds: float, line: str) -> None:
    minutes, rest = divmod(int(seconds), 60)
    say(f"[{minutes}:{rest:02}] {plain(line, 300)}")
