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
from fairrec.core.errors import InputError, listed, plain
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

HAS_PROBLEMS = 1


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
    """Ask a model for one batch and say what it does; exit 1 where an audit would be spoiled."""
    model = chosen_model(scorer, endpoint, onnx, how_asked)
    if model is None:
        raise InputError("Name the model: --scorer, --endpoint or --onnx.")
    from fairrec.auditing.doctor import examine

    console = stdout()
    model.open()
    for line in _about(model):
        console.print(Text(line), soft_wrap=True)
    seen = examine(model, predictions, **tables)
    for line in _said(seen):
        console.print(Text(line), soft_wrap=True)
    if seen.problems():
        raise typer.Exit(HAS_PROBLEMS)


def _about(model: Model) -> list[str]:
    """What the model says of itself."""
    from fairrec.scoring.endpoint import Endpoint
    from fairrec.scoring.onnx_model import OnnxModel

    if isinstance(model, OnnxModel):
        lines = [f"model     {plain(model.file, 200)}, loaded"]
        tensors = {"inputs   ": model.inputs(), "outputs  ": model.outputs()}
    elif isinstance(model, Endpoint):
        seen = model.metadata
        parts = [
            "ready" if seen.is_ready else "it does not say whether it is ready",
            *([f"model {plain(seen.model)}"] if seen.model else []),
            *([f"version {plain(seen.version)}"] if seen.version else []),
        ]
        protocol = model.options.protocol
        lines = [f"endpoint  {plain(model.address, 200)} ({protocol}): {', '.join(parts)}"]
        tensors = {"inputs   ": seen.inputs, "outputs  ": seen.outputs}
    else:
        return ["model     a Python function, imported"]
    return lines + [f"{label} {listed(named)}" for label, named in tensors.items() if named]


def _said(seen: ModelCheck) -> list[str]:
    """What the batch showed."""
    from fairrec.report.words import number

    first, second = seen.seconds
    given = ", ".join(
        one.name if one.name == one.column else f"{one.name} (from {one.column})"
        for one in seen.inputs
    )
    lines = [
        f"batch     {seen.n_users:,} users, {seen.n_pairs:,} pairs; sent: {plain(given, 300)}",
        f"reply     {seen.n_pairs:,} scores in {number(first * 1000)} ms, again in "
        f"{number(second * 1000)} ms ({number(seen.n_pairs / max(second, 1e-9))} a second)",
        f"scores    {seen.lowest:.6g} to {seen.highest:.6g}, {seen.n_distinct:,} different",
        f"again     {_difference(seen.again)}",
        f"backwards {_difference(seen.backwards)}",
        f"alone     {_difference(seen.alone)}",
    ]
    if seen.faults:
        kinds = ", ".join(f"{n:,} x {plain(kind)}" for kind, n in seen.faults.items())
        lines.append(f"faults    {kinds}, tried again")
    problems = seen.problems()
    lines += [f"problem   {problem}" for problem in problems]
    return lines if problems else [*lines, "sound     an audit can ask this model"]


def _difference(size: float) -> str:
    return "the same scores" if size == 0 else f"scores differ by up to {size:.3g}"
