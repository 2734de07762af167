"""`fairrec schema`, `fairrec metrics` and `fairrec searchers`: what FairRec knows about itself."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.text import Text

from fairrec.cli.parameters import takes_options
from fairrec.cli.shared import DebugOption, stdout


@takes_options
def schema_command(
    *,
    name: Annotated[
        str | None, typer.Argument(help="Which file; without one all are listed.")
    ] = None,
    debug: DebugOption = False,
) -> None:
    """Print the JSON schema of a file that FairRec writes."""
    from fairrec.workflows.schemas import FILES, schema

    if name is not None:
        typer.echo(json.dumps(schema(name), indent=2))
        return
    console = stdout()
    for known, file in FILES.items():
        console.print(Text.assemble((f"{known:<16}", "bold"), file.about))


@takes_options
def metrics_command(*, debug: DebugOption = False) -> None:
    """List the metrics with their definitions."""
    from fairrec.metrics import ITEM_METRICS, METRICS
    from fairrec.metrics.registry import TABLE_OF_NEED

    console = stdout()
    for name in METRICS:
        entry = METRICS[name]
        tables = {TABLE_OF_NEED[need] for need in entry.needs if need in TABLE_OF_NEED}
        needs = "".join(f" (needs --{table.replace('_', '-')})" for table in sorted(tables))
        console.print(Text.assemble((f"{entry.written:<22}", "bold"), entry.definition, needs))
    for name in ITEM_METRICS:
        entry = ITEM_METRICS[name]
        side = " (needs --side items)"
        console.print(Text.assemble((f"{entry.written:<22}", "bold"), entry.definition, side))


@takes_options
def searchers_command(*, debug: DebugOption = False) -> None:
    """List the searchers with their hyper-parameters."""
    from dataclasses import fields

    from fairrec.search.searcher import SEARCHERS

    console = stdout()
    for name in SEARCHERS:
        entry = SEARCHERS[name]
        settings = ", ".join(
            f"{field.name}={'by size' if field.default is None else field.default}"
            for field in fields(entry.hyper_parameters)
        )
        console.print(
            Text.assemble((f"{name:<10}", "bold"), entry.about, f" ({settings})" * bool(settings))
        )
