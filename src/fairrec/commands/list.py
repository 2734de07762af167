"""`fairrec list`: what FairRec knows about itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated

import typer
from rich.text import Text

from fairrec.cli.parameters import takes_options
from fairrec.cli.shared import DebugOption, stdout
from fairrec.core.errors import InputError, plain, unknown_name


@takes_options
def list_command(
    *,
    kind: Annotated[
        str, typer.Argument(help="metrics, searchers, rerankers, or schema for files.")
    ],
    name: Annotated[
        str | None, typer.Argument(help="After schema: the file whose JSON schema is printed.")
    ] = None,
    debug: DebugOption = False,
) -> None:
    """List metrics, searchers, re-rankers, or JSON schemas of files that FairRec writes."""
    if kind not in _KINDS:
        raise unknown_name("list", kind, _KINDS)
    if name is None:
        _KINDS[kind]()
    elif kind == "schema":
        from fairrec.schemas import schema

        typer.echo(json.dumps(schema(name), indent=2))
    else:
        raise InputError(
            f"{plain(name)}: {kind} are listed all at once. Leave it out: fairrec list {kind}"
        )


def _list_metrics() -> None:
    from fairrec.metrics import ITEM_METRICS, METRICS
    from fairrec.metrics.registry import TABLE_OF_NEED

    for name in METRICS:
        entry = METRICS[name]
        tables = {TABLE_OF_NEED[need] for need in entry.needs if need in TABLE_OF_NEED}
        needs = "".join(f" (needs --{table.replace('_', '-')})" for table in sorted(tables))
        _print(entry.written, entry.definition + needs)
    for name in ITEM_METRICS:
        entry = ITEM_METRICS[name]
        _print(entry.written, f"{entry.definition} (needs --side items)")


def _list_searchers() -> None:
    from dataclasses import fields

    from fairrec.search.searcher import SEARCHERS

    for name in SEARCHERS:
        entry = SEARCHERS[name]
        settings = ", ".join(
            f"{field.name}={'by size' if field.default is None else field.default}"
            for field in fields(entry.hyper_parameters)
        )
        _print(name, entry.about + f" ({settings})" * bool(settings))


def _list_rerankers() -> None:
    from fairrec.mitigation.reranker import RERANKERS

    for name in RERANKERS:
        kind = RERANKERS[name]
        made_for = f" (made for {', '.join(kind.serves)})" if kind.serves else ""
        needs = "".join(f" (needs --{table})" for table in sorted(kind.needs - {"labels"}))
        _print(name, kind.about + made_for + needs)


def _list_schemas() -> None:
    from fairrec.schemas import FILES

    for name, file in FILES.items():
        _print(name, file.about)


def _print(name: str, about: str) -> None:
    stdout().print(Text.assemble((f"{name:<22}", "bold"), about))


_KINDS: dict[str, Callable[[], None]] = {
    "metrics": _list_metrics,
    "searchers": _list_searchers,
    "rerankers": _list_rerankers,
    "schema": _list_schemas,
}
