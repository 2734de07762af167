"""`fairrec gate` and `fairrec init`: a policy, and whether a result is within it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairrec.cli.parameters import Flags, Given, typer_command
from fairrec.cli.shared import (
    AuditArgument,
    Format,
    FormatOption,
    QuietOption,
    VerboseOption,
    print_as,
    say,
)
from fairrec.core.atomic_io import errors_of_disk, write_text
from fairrec.core.options import OUTPUT, Option
from fairrec.core.settings import SETTINGS_FILE
from fairrec.gating.options import GateOptions

if TYPE_CHECKING:
    from fairrec.auditing.saved_audits import Audited
    from fairrec.gating.policy import GateResult


@typer_command
def gate_command(
    *,
    audit: AuditArgument,
    options: Annotated[Given, Flags(GateOptions)],
    format_: FormatOption = "text",
    verbose: VerboseOption = False,
) -> None:
    """Check an audit against a policy: exit code 0 pass, 1 fail, 2 bad input, 3 inconclusive."""
    held = GateOptions(**options)
    refuse_overwriting_inputs(held, [audit])
    raise typer.Exit(report_gate(audit, held, format_, verbose=verbose))


def refuse_overwriting_inputs(options: GateOptions, others: Iterable[object]) -> None:
    """An error where the outcome would be written over what is read, or written besides."""
    from fairrec.result.folder import refuse_overwriting

    others = [*others, options.policy, options.baseline, options.releases]
    refuse_overwriting("junit", options.junit, [*others, options.summary])
    refuse_overwriting("summary", options.summary, [*others, options.junit])


def report_gate(
    audit: Audited,
    options: GateOptions,
    format_: Format,
    *,
    is_beside: bool = False,
    verbose: bool = False,
) -> int:
    """Judge, write and print; the exit code.

    Parameters
    ----------
    is_beside : whether a result is printed too
    """
    from fairrec.gating.gate import gate
    from fairrec.gating.reports import to_text

    found = gate(
        audit,
        options.policy,
        baseline=options.baseline,
        releases=options.releases,
        inconclusive=options.inconclusive,
    )
    _write(found, options)
    if is_beside and format_ == "json":
        # one document on standard output
        say(to_text(found, explain=options.explain))
    else:
        with protect_output(options, format_):
            _print(found, format_, explain=options.explain, verbose=verbose)
    return found.exit_code


def protect_output(options: GateOptions | None, format_: Format) -> AbstractContextManager[None]:
    """What is printed for people has no commands for GitHub, which are apart."""
    from fairrec.gating.reports import as_text

    is_read = options is not None and options.github and format_ != "json"
    return as_text(typer.echo) if is_read else nullcontext()


def _write(found: GateResult, options: GateOptions) -> None:
    """What build servers read."""
    from fairrec.gating.reports import to_annotations, to_junit, to_markdown

    if options.junit is not None:
        write_text(options.junit, to_junit(found))
    if options.summary is not None:
        write_text(options.summary, to_markdown(found, explain=options.explain))
    if options.github:
        typer.echo(to_annotations(found), nl=False)
        if place := os.environ.get("GITHUB_STEP_SUMMARY"):
            # other steps may have left a line unfinished
            text = f"\n{to_markdown(found, explain=options.explain)}"
            with errors_of_disk(Path(place)), Path(place).open("a", encoding="utf-8") as stream:
                stream.write(text)


def _print(found: GateResult, format_: Format, *, explain: bool, verbose: bool) -> None:
    from fairrec.gating.reports import gate_answer, to_markdown

    print_as(
        format_,
        verbose=verbose,
        json=lambda: found.model_dump_json(indent=2),
        markdown=lambda: to_markdown(found, explain=explain),
        answer=lambda: gate_answer(found, explain=explain),
    )


@typer_command
def init_command(
    *,
    audit: AuditArgument,
    out: Annotated[Path, Option("The file to write", OUTPUT)] = Path(SETTINGS_FILE),
    quiet: QuietOption = False,
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
