"""Options that name tables and their columns, for all commands that read them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

UsersOption = Annotated[Path | None, typer.Option(help="Users and their attributes.")]
ByOption = Annotated[
    str | None,
    typer.Option(help="Attributes, with commas; numbers in bins: gender,age:10,income:q5"),
]
ItemsOption = Annotated[
    Path | None, typer.Option(help="Items and their categories: for urd, mmr and calibrated.")
]
HistoryOption = Annotated[
    Path | None,
    typer.Option(help="Training interactions: for urp and urp_abs, re-rankers and searches."),
]
ColumnsOption = Annotated[
    list[str] | None,
    typer.Option(help="Other column names: user_id=uid or items.categories=tags."),
]
ThreadsOption = Annotated[int | None, typer.Option(help="Default: all cores.")]
