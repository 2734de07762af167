"""`fairrec list`: what FairRec knows about itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Annotated

import typer
from rich.text import Text

from fairrec.cli.parameters import typer_command
from fairrec.cli.shared import stdout
from fairrec.core.errors import InputError, plain, unknown_name


@typer_command
def list_command(
    *,
    kind: Annotated[
        str, typer.Argument(help="metrics, searchers, rerankers, or schema for files.")
    ],
    name: Annotated[
        str | None, typer.Argument(help="After schema: the file whose JSON schema is printed.")
    ] = None,
) -> None:
    """List metrics, searchers, re-rankers, or JSON schemas of files that FairRec writes."""
    if kind not in _KINDS:
        raise unknown_name("list", kind, _KINDS)
    if name is None:
        console = stdout()
        for entry, about in _KINDS[kind]():
            console.print(Text.assemble((f"{entry:<21} ", "bold"), about))
    elif kind == "schema":
        from fairrec.schemas import schema

        typer.echo(json.dumps(schema(name), indent=2))
    else:
        raise InputError(
            f"{plain(name)}: {kind} are listed all at once. Leave it out: fairrec list {kind}"
        )


def _list_metrics() -> Iterator[tuple[str, str]]:
    from fairrec.metrics import ITEM_METRICS, METRICS
    from fairrec.metrics.registry import TABLE_OF_NEED

    for name in METRICS:
        entry = METRICS[name]
        tables = {TABLE_OF_NEED[need] for need in entry.needs if need in TABLE_OF_NEED}
        needs = "".join(f" (needs --{table.replace('_', '-')})" for table in sorted(tables))
        yield entry.written, entry.definition + needs
    for name in ITEM_METRICS:
        yield ITEM_METRICS[name].written, f"{ITEM_METRICS[name].definition} (needs --side items)"


def _list_searchers() -> Iterator[tuple[str, str]]:
    from dataclasses import fields

    from fairrec.search.searcher import SEARCHERS

    for name in SEARCHERS:
        settings = ", ".join(
            f"{field.name}={'by size' if field.default is None else field.default}"
            for field in fields(SEARCHERS[name].hyper_parameters)
        )
        yield name, SEARCHERS[name].about + f" ({settings})" * bool(settings)


def _list_rerankers() -> Iterator[tuple[str, str]]:
    from fairrec.mitigation.reranker import RERANKERS

    for name in RERANKERS:
        kind = RERANKERS[name]
        made_for = f" (made for {', '.join(kind.serves)})" if kind.serves else ""
        needs = "".join(f" (needs --{table})" for table in sorted(kind.needs - {"labels"}))
        yield name, kind.about + made_for + needs


def _list_schemas() -> Iterator[tuple[str, str]]:
    from fairrec.schemas import FILES

    return ((name, file.about) for name, file in FILES.items())


_KINDS: dict[str, Callable[[], Iterator[tuple[str, str]]]] = {
    "metrics": _list_metrics,
    "searchers": _list_searchers,
    "rerankers": _list_rerankers,
    "schema": _list_schemas,
}
