"""`fairrec schema`, `fairrec metrics` and `fairrec searchers`: what FairRec knows about itself."""

from __future__ import annotations

import json

import typer
from rich.text import Text

from fairrec.cli.parameters import takes_options
from fairrec.cli.shared import DebugOption, stdout


def schema_command() -> None:
    """Print the JSON schema of result.json."""
    from fairrec.result.schema import AuditSummary

    typer.echo(json.dumps(AuditSummary.model_json_schema(mode="serialization"), indent=2))


@takes_options
def metrics_command(*, debug: DebugOption = False) -> None:
    """List the metrics with their definitions."""
    from fairrec.metrics import METRICS

    console = stdout()
    for name in METRICS:
        entry = METRICS[name]
        label = f"{name}@k" if entry.has_cutoff else name
        needs = "".join(f" (needs --{need})" for need in sorted(entry.needs & {"items", "history"}))
        console.print(Text.assemble((f"{label:<12}", "bold"), entry.definition, needs))


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
