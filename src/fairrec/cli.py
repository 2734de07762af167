"""The command line: parse, call the library, print, exit code."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Console
from rich.text import Text

from fairrec.errors import FairRecError, InputError
from fairrec.version import __version__

if TYPE_CHECKING:
    from fairrec.options import Progress
    from fairrec.result.audit_result import AuditResult

app = typer.Typer(
    help="Test whether a recommender system serves some groups of people worse than others.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

BAD_INPUT = 2


class Format(StrEnum):
    """What is printed on standard output."""

    text = "text"
    markdown = "markdown"
    json = "json"


class Correction(StrEnum):
    """How p-values are adjusted for the number of groups."""

    max = "max"
    bh = "bh"


QuietOption = Annotated[bool, typer.Option("--quiet", help="No progress on standard error.")]
DebugOption = Annotated[bool, typer.Option("--debug", help="Show where an error came from.")]
FormatOption = Annotated[Format, typer.Option("--format", help="What to print.")]
SeedOption = Annotated[int, typer.Option(help="Same seed, same numbers.")]


@app.callback(invoke_without_command=True)
def _fairrec(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"fairrec {__version__}")
        raise typer.Exit


@app.command("audit")
def audit_command(
    predictions: Annotated[Path, typer.Argument(help="Scored candidates: Parquet, CSV or Arrow.")],
    users: Annotated[Path, typer.Option(help="Users and their attributes.")],
    by: Annotated[
        str,
        typer.Option(help="Attributes, with commas; numbers in bins: gender,age:10,income:q5"),
    ],
    items: Annotated[Path | None, typer.Option(help="Items and their categories, for urd.")] = None,
    history: Annotated[
        Path | None, typer.Option(help="Training interactions, for urp and urp_abs.")
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option(help="Metrics, with commas: auc,ndcg@10. Default: what the tables allow."),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(help="Other column names: user_id=uid or items.categories=tags."),
    ] = None,
    depth: Annotated[
        str, typer.Option(help="Combine up to so many attributes, or 'full' for all at once.")
    ] = "3",
    min_support: Annotated[
        float, typer.Option(help="Smallest group: a share of users, or a number from 1.")
    ] = 0.001,
    permutations: Annotated[int, typer.Option(help="Random dealings; 0 for no tests.")] = 1000,
    alpha: Annotated[float, typer.Option(help="Chance of any false finding.")] = 0.05,
    correction: Annotated[
        Correction, typer.Option(help="max: no false finding; bh: few among many.")
    ] = Correction.max,
    seed: SeedOption = 0,
    threads: Annotated[int | None, typer.Option(help="Default: all cores.")] = None,
    load: Annotated[
        list[str] | None, typer.Option(help="Python file or module that registers own metrics.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the result's files.")] = None,
    output_format: FormatOption = Format.text,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Find the groups served best and worst, and tell real gaps from chance."""
    with _errors_in_words(debug), _progress(quiet) as progress:
        from fairrec.auditing import audit
        from fairrec.inputs.columns import parse_mapping
        from fairrec.result.audit_result import check_writable

        if out is not None:
            check_writable(out)
        for source in load or ():
            _load_metrics(source)
        result = audit(
            predictions,
            users=users,
            by=by,
            items=items,
            history=history,
            metrics=metrics,
            columns=parse_mapping([pair for text in columns or () for pair in text.split(",")]),
            depth=_depth(depth),
            min_support=min_support,
            permutations=permutations,
            alpha=alpha,
            correction=correction.value,
            seed=seed,
            threads=threads,
            progress=progress,
            command=shlex.join(["fairrec", *sys.argv[1:]]),
        )
        if out is not None:
            result.save(out)
    _print(result, output_format)
    if out is not None and not quiet:
        _say(f"Written to {out}: result.json, groups.parquet, per_user.parquet")


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the tables and the audit.")] = Path(
        "fairrec-demo"
    ),
    seed: SeedOption = 0,
    output_format: FormatOption = Format.text,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Make a small world with one badly served group, train a recommender, audit it."""
    with _errors_in_words(debug), _progress(quiet) as progress:
        from fairrec.demo import PLANTED, audit_command, run_demo

        result = run_demo(out, seed, progress)
    _print(result, output_format)
    if output_format is Format.text:
        planted = ", ".join(f"{name}={value}" for name, value in PLANTED.items())
        console = _stdout()
        console.print(Text(f"\nThe group made hard to serve in this world: {planted}."))
        console.print(
            Text(
                f"Open {out}/audit/result.json or read {out}/audit/groups.parquet. "
                "Next, change something and audit again:"
            )
        )
        console.print(Text(f"  {audit_command(out, seed)}"), soft_wrap=True)


@app.command()
def schema() -> None:
    """Print the JSON schema of result.json."""
    from fairrec.result.schema import AuditSummary

    typer.echo(json.dumps(AuditSummary.model_json_schema(mode="serialization"), indent=2))


@app.command()
def metrics(debug: DebugOption = False) -> None:
    """List the metrics with their definitions."""
    with _errors_in_words(debug):
        from fairrec.metrics import METRICS

        console = _stdout()
        for name in METRICS:
            entry = METRICS[name]
            label = f"{name}@k" if entry.has_cutoff else name
            needs = "".join(f" (needs --{need})" for need in sorted(entry.needs - {"labels"}))
            console.print(Text.assemble((f"{label:<12}", "bold"), entry.definition, needs))


def main() -> None:
    """Run the command line."""
    app()


def _depth(text: str) -> int | Literal["full"]:
    if text.isdecimal():
        return int(text)
    if text == "full":
        return "full"
    raise InputError(f"--depth {text} is not possible. Give a number from 1, or 'full'.")


def _load_metrics(source: str) -> None:
    """Import a file or module for the metrics it registers."""
    import importlib
    import importlib.util

    path = Path(source)
    try:
        if path.suffix == ".py":
            spec = importlib.util.spec_from_file_location(path.stem, path)
            assert spec is not None and spec.loader is not None
            spec.loader.exec_module(importlib.util.module_from_spec(spec))
        else:
            sys.path.insert(0, "")
            importlib.import_module(source)
    except FairRecError:
        raise
    except Exception as error:
        raise InputError(
            f"--load {source}: {type(error).__name__}: {error}. "
            "Give a Python file, or a module that can be imported from here."
        ) from error


def _print(result: AuditResult, output_format: Format) -> None:
    from fairrec.report.markdown import to_markdown
    from fairrec.report.text import print_text
    from fairrec.report.view import build_view

    if output_format is Format.json:
        typer.echo(result.to_json())
    elif output_format is Format.markdown:
        typer.echo(to_markdown(build_view(result.summary)), nl=False)
    else:
        print_text(build_view(result.summary), _stdout())


def _stdout() -> Console:
    """Standard output; in a pipe wide enough that tables stay readable."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else 120)


def _say(message: str) -> None:
    Console(stderr=True, highlight=False).print(Text(message), soft_wrap=True)


@contextmanager
def _errors_in_words(debug: bool) -> Iterator[None]:
    """A clear message and exit code 2 for what the user can mend."""
    try:
        yield
    except FairRecError as error:
        if debug:
            raise
        _say(f"{type(error).__name__}: {error}")
        raise typer.Exit(BAD_INPUT) from error


@contextmanager
def _progress(quiet: bool) -> Iterator[Progress]:
    """A bar on standard error while there is a terminal to show it on."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=quiet or not console.is_terminal,
    )
    with bar:
        task = bar.add_task("", total=None)

        def advance(stage: str, done: int, total: int) -> None:
            bar.update(task, description=stage, completed=done, total=total or None)

        yield advance


if __name__ == "__main__":
    main()
