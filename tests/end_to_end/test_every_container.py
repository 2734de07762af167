"""The same tables give the same result from every container, in any order of rows and columns."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.builders import audit, make_tables, without_origin


def _in_folder(table: pl.DataFrame, path: Path) -> Path:
    path.mkdir()
    for at, part in enumerate((table[:20], table[20:])):
        part.write_parquet(path / f"part-{at}.parquet")
    return path


def _in_file(ending: str, writer: str) -> Callable[[pl.DataFrame, Path], Path]:
    def write(table: pl.DataFrame, path: Path) -> Path:
        file = path.with_suffix(ending)
        getattr(table, writer)(file)
        return file

    return write


CONTAINERS: dict[str, Callable[[pl.DataFrame, Path], Any]] = {
    "lazy frame": lambda table, path: table.lazy(),
    "pandas": lambda table, path: table.to_pandas(),
    "pandas with arrow": lambda table, path: table.to_pandas(use_pyarrow_extension_array=True),
    "arrow": lambda table, path: table.to_arrow(),
    "csv": _in_file(".csv", "write_csv"),
    "parquet": _in_file(".parquet", "write_parquet"),
    "arrow file": _in_file(".arrow", "write_ipc"),
    "folder": _in_folder,
}


def result_of(predictions: Any, users: Any) -> dict[str, Any]:
    """The result, whatever the tables are called."""
    found = audit(predictions, users, ["gender", "age:20", "member"], permutations=19)
    text = json.dumps(without_origin(json.loads(found.to_json())))
    text = re.sub(r"the (\w+) table|(\w+)\.(csv|parquet|arrow)", r"\1\2", text)
    return {**json.loads(text), "groups": found.group_table.rows()}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("text_ids", [True, False])
def test_a_table_has_the_same_result_in_every_container(
    container: str, text_ids: bool, tmp_path: Path
):
    tables, rng = make_tables(text_ids=text_ids), np.random.default_rng(1)

    def store(table: pl.DataFrame, name: str) -> Any:
        shuffled = table.select(rng.permutation(table.columns))[rng.permutation(table.height)]
        return CONTAINERS[container](shuffled, tmp_path / name)

    predictions, users = store(tables.predictions, "predictions"), store(tables.users, "users")
    assert result_of(predictions, users) == result_of(tables.predictions, tables.users)
