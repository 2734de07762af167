"""`fairrec doctor`: whether a model answers as an audit needs it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from fairrec.auditing.model_options import (
    EndpointOption,
    HowAsked,
    OnnxOption,
    ScorerOption,
    chosen_model,
)
from fairrec.cli.parameters import Flags, Given, typer_command
from fairrec.cli.shared import stdout
from fairrec.core.errors import FAILED, InputError, listed, plain
from fairrec.inputs.table_options import (
    COUNTED,
    GROUPED,
    HELD_OUT,
    ITEM_SIDE,
    OTHER_LISTS,
    VALUES,
    TableOptions,
)

if TYPE_CHECKING:
    from fairrec.auditing.doctor import ModelCheck
    from fairrec.scoring.model import Model


@typer_command
def doctor_command(
    *,
    predictions: Annotated[Path, typer.Argument(help="Candidates: Parquet, CSV or Arrow.")],
    tables: Annotated[
        Given,
        Flags(
            TableOptions,
            without=("history", *GROUPED, *HELD_OUT, *VALUES, *ITEM_SIDE, *OTHER_LISTS, *COUNTED),
        ),
    ],
    scorer: ScorerOption = None,
    endpoint: EndpointOption = None,
    onnx: OnnxOption = None,
    how_asked: HowAsked,
) -> None:
    """Test a model with one batch; exit 1 if it cannot be audited."""
    model = chosen_model(scorer, endpoint, onnx, how_asked)
    if model is None:
        raise InputError("Name the model: --scorer, --endpoint or --onnx.")
    from fairrec.auditing.doctor import examine

    model.open()
    lines = _describe_model(model)
    found = examine(model, predictions, **tables)
    console = stdout()
    for label, text in (*lines, *_describe_batch(found)):
        console.print(Text(f"{label:<9} {text}"), soft_wrap=True)
    if found.problems():
        raise typer.Exit(FAILED)


def _describe_model(model: Model) -> list[tuple[str, str]]:
    """What the model says of itself."""
    from fairrec.scoring.endpoint import Endpoint
    from fairrec.scoring.onnx_model import OnnxModel

    if isinstance(model, OnnxModel):
        lines = [("model", f"{plain(model.file, 200)}, loaded")]
        tensors = {"inputs": model.inputs(), "outputs": model.outputs()}
    elif isinstance(model, Endpoint):
        seen = model.metadata
        parts = [
            "ready" if seen.is_ready else "it does not say whether it is ready",
            *([f"model {plain(seen.model)}"] if seen.model else []),
            *([f"version {plain(seen.version)}"] if seen.version else []),
        ]
        protocol = model.options.protocol
        lines = [("endpoint", f"{plain(model.address, 200)} ({protocol}): {', '.join(parts)}")]
        tensors = {"inputs": seen.inputs, "outputs": seen.outputs}
    else:
        return [("model", "a Python function, imported")]
    return lines + [(label, listed(named)) for label, named in tensors.items() if named]


def _describe_batch(found: ModelCheck) -> list[tuple[str, str]]:
    """What the batch showed."""
    from fairrec.report.words import number

    first, second = found.seconds
    given = ", ".join(
        one.name if one.name == one.column else f"{one.name} (from {one.column})"
        for one in found.inputs
    )
    rate = number(found.n_pairs / max(second, 1e-9))
    lines = [
        ("batch", f"{found.n_users:,} users, {found.n_pairs:,} pairs; sent: {plain(given, 300)}"),
        (
            "reply",
            f"{found.n_pairs:,} scores in {number(first * 1000)} ms, again in "
            f"{number(second * 1000)} ms ({rate} a second)",
        ),
        ("scores", f"{found.lowest:.6g} to {found.highest:.6g}, {found.n_distinct:,} different"),
    ]
    for name in ("again", "backwards", "alone"):
        size = getattr(found, name)
        same = "the same scores" if size == 0 else f"scores differ by up to {size:.3g}"
        lines.append((name, same))
    if found.faults:
        kinds = ", ".join(f"{n:,} x {plain(kind)}" for kind, n in found.faults.items())
        lines.append(("faults", f"{kinds}, tried again"))
    problems = [("problem", problem) for problem in found.problems()]
    return [*lines, *(problems or [("sound", "an audit can ask this model")])]
