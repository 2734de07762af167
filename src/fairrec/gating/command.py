"""`fairrec gate` and `fairrec init`: a policy, and whether a result is within it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from fairrec.cli.parameters import FieldsOf, Given, takes_options
from fairrec.cli.shared import (
    AuditArgument,
    DebugOption,
    Format,
    FormatOption,
    QuietOption,
    print_as,
    say,
)
from fairrec.core.atomic_io import errors_of_disk, write_text
from fairrec.core.errors import OutputError, plain
from fairrec.core.kinds import FILE
from fairrec.core.options import OUTPUT, Option
from fairrec.core.settings import SETTINGS_FILE
from fairrec.gating.options import GateOptions

if TYPE_CHECKING:
    from fairrec.auditing.saved_audits import Audited
    from fairrec.gating.policy import GateResult


@takes_options
def gate_command(
    *,
    audit: AuditArgument,
    options: Annotated[Given, FieldsOf(GateOptions)],
    format_: FormatOption = Format.text,
    debug: DebugOption = False,
) -> None:
    """Check an audit against a policy: exit code 0 pass, 1 fail, 2 bad input, 3 inconclusive."""
    held = GateOptions.of(**options)
    refuse_overwriting_inputs(held, [audit])
    raise typer.Exit(hold_against(audit, held, format_))


def refuse_overwriting_inputs(options: GateOptions, others: Iterable[object]) -> None:
    """An error where the outcome would be written over something else.

    Parameters
    ----------
    others : what is read and written besides
    """
    from fairrec.result.folder import refuse_overwriting

    others = [*others, options.policy, options.baseline, options.releases]
    refuse_overwriting("junit", options.junit, [*others, options.summary])
    refuse_overwriting("summary", options.summary, [*others, options.junit])


def hold_against(
    audit: Audited, options: GateOptions, format_: Format, *, is_beside: bool = False
) -> int:
    """Judge, write and print; the exit code.

    Parameters
    ----------
    is_beside : whether a result is printed too
    """
    from fairrec.gating.formats import to_text
    from fairrec.gating.gate import gate

    found = gate(
        audit,
        options.policy,
        baseline=options.baseline,
        releases=options.releases,
        inconclusive=options.inconclusive,
    )
    _write(found, options)
    if is_beside and format_ is Format.json:
        # one document on standard output
        say(to_text(found, explain=options.explain))
    else:
        with printed_as_text(options, format_):
            _print(found, format_, explain=options.explain)
    return found.exit_code


def printed_as_text(options: GateOptions | None, format_: Format) -> AbstractContextManager[None]:
    """What is printed for people has no commands for GitHub, which are apart."""
    from fairrec.gating.formats import as_text

    is_read = options is not None and options.github and format_ is not Format.json
    return as_text(typer.echo) if is_read else nullcontext()


def _write(found: GateResult, options: GateOptions) -> None:
    """What build servers read."""
    from fairrec.gating.formats import to_annotations, to_junit, to_markdown

    if options.junit is not None:
        write_text(options.junit, to_junit(found))
    if options.summary is not None:
        write_text(options.summary, to_markdown(found, explain=options.explain))
    if options.github:
        typer.echo(to_annotations(found), nl=False)
        if place := os.environ.get("GITHUB_STEP_SUMMARY"):
            _append(Path(place), to_markdown(found, explain=options.explain))


def _append(file: Path, text: str) -> None:
    """Add lines to a file that others have written to before."""
    with errors_of_disk(file):
        if file.is_fifo():
            raise OutputError(f"{plain(file, 300)}: is a pipe, which may never be read.")
        with file.open("ab+") as stream:
            if stream.seek(0, os.SEEK_END):
                stream.seek(-1, os.SEEK_END)
                text = text if stream.read(1) == b"\n" else f"\n{text}"
            stream.write(text.encode())


def _print(found: GateResult, format_: Format, *, explain: bool) -> None:
    from fairrec.gating.formats import to_markdown, to_text

    print_as(
        format_,
        json=lambda: found.model_dump_json(indent=2),
        markdown=lambda: to_markdown(found, explain=explain),
        text=lambda console: console.print(Text(to_text(found, explain=explain)), soft_wrap=True),
    )


@takes_options
def init_command(
    *,
    audit: AuditArgument,
    out: Annotated[Path, Option(FILE, "The file to write", OUTPUT)] = Path(SETTINGS_FILE),
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Write a commented policy from an audit, to be read and changed."""
    from fairrec.gating.gate import init_policy

    init_policy(audit, out)
    if not quiet:
        named = "" if out == Path(SETTINGS_FILE) else f" --policy {shlex.quote(str(out))}"
        say(
            f"Written: {out}. Read it, change the limits, and run: "
            f"fairrec gate {shlex.quote(str(audit))}{named}"
        )
