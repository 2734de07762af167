"""Whatever holds the tables, and in whatever order: the same result."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from fairrec.core.errors import InputError
from fairrec.inputs.candidates import CandidateLists, read_candidates
from fairrec.inputs.frames import widen_floats
from fairrec.inputs.tables import Table
from fairrec.inputs.users import read_users
from fairrec.report.audit_result import AuditResult
from tests.builders import Tables, as_lists, audit, make_tables, numbers_of, one_each, values_of

Hold = Callable[[pl.DataFrame, Path], Any]
"""Puts a table into some form: a file at the path (without an ending), or an object."""


def _file(ending: str, write: Callable[[pl.DataFrame, Path], Any]) -> Hold:
    def hold(table: pl.DataFrame, path: Path) -> Path:
        path = path.with_suffix(ending)
        write(table, path)
        return path

    return hold


def _joined(table: pl.DataFrame) -> pl.DataFrame:
    """Categories as `a|b`, since text files hold no lists."""
    if "categories" not in table.columns:
        return table
    return table.with_columns(pl.col("categories").list.join("|"))


def _write_feather(table: pl.DataFrame, path: Path) -> None:
    table.to_pandas().to_feather(path)


def _write_compressed(table: pl.DataFrame, path: Path) -> None:
    path.write_bytes(gzip.compress(_joined(table).write_csv().encode()))


def _write_parts(table: pl.DataFrame, path: Path) -> None:
    path.mkdir()
    half = table.height // 2
    table[:half].write_parquet(path / "part-0.parquet")
    table[half:].write_parquet(path / "part-1.parquet")


HOLDS_LISTS: dict[str, Hold] = {
    "parquet folder": _file("", _write_parts),
    "json lines": _file(".jsonl", pl.DataFrame.write_ndjson),
    "parquet": _file(".parquet", pl.DataFrame.write_parquet),
    "arrow": _file(".arrow", pl.DataFrame.write_ipc),
    "feather from pandas": _file(".feather", _write_feather),
    "polars": lambda table, path: table,
    "polars lazy": lambda table, path: table.lazy(),
    "pandas": lambda table, path: table.to_pandas(),
    "pandas backed by arrow": lambda table, path: table.to_pandas(use_pyarrow_extension_array=True),
    "pyarrow": lambda table, path: table.to_arrow(),
}
FORMATS = HOLDS_LISTS | {
    "csv": _file(".csv", lambda table, path: _joined(table).write_csv(path)),
    "csv.gz": _file(".csv.gz", _write_compressed),
    "txt": _file(".txt", lambda table, path: _joined(table).write_csv(path, separator="\t")),
    "tsv": _file(".tsv", lambda table, path: _joined(table).write_csv(path, separator="\t")),
}

METRICS = "auc,mrr@3,ndcg@5,recall@2,urd@5,urp@5"


def _audit(tables: Tables | list[Any], **options: Any) -> AuditResult:
    predictions, users, items, history = tables
    options = {"by": "gender,age:20,member", "metrics": METRICS, "min_support": 3, **options}
    return audit(predictions, users, items=items, history=history, **options)


@cache
def _expected(**options: Any) -> AuditResult:
    """What an audit of the tables as they are made comes to."""
    return _audit(make_tables(), **options)


def _assert_same(result: AuditResult, expected: AuditResult) -> None:
    assert numbers_of(result) == numbers_of(expected)
    assert_frame_equal(result.group_table, expected.group_table, check_exact=True)
    assert_frame_equal(result.per_user, expected.per_user, check_exact=True)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_result(name: str, tmp_path: Path):
    tables = make_tables()
    expected = _expected()
    assert expected.metrics["mrr@3"].gap > 0
    assert expected.metrics["mrr@3"].chance.p_value < 1
    held = [FORMATS[name](table, tmp_path / part) for part, table in tables._asdict().items()]
    _assert_same(_audit(held), expected)


@pytest.mark.parametrize("name", HOLDS_LISTS)
def test_one_row_a_user_with_lists_gives_the_same_result(name: str, tmp_path: Path):
    tables = make_tables()
    lists = HOLDS_LISTS[name](as_lists(tables.predictions), tmp_path / "predictions")
    _assert_same(_audit([lists, *tables[1:]]), _expected())


def test_rows_in_any_order_give_the_same_result():
    tables = make_tables()
    shuffled = [table.sample(fraction=1.0, shuffle=True, seed=1) for table in tables]
    _assert_same(_audit(shuffled), _expected())
    shuffled[0] = as_lists(tables.predictions).sample(fraction=1.0, shuffle=True, seed=5)
    _assert_same(_audit(shuffled), _expected())


RECBOLE = {
    "ml.user": "user_id:token\tage:token\tincome:float\tzip:token\n1\t24\t1.5\t007\n2\t53\t2\t7\n",
    "ml.item": "item_id:token\tgenre:token_seq\tyear:float_seq\n"
    "0\tDrama Sci-Fi\t1 2.5\n1\tDrama\t\n2\tComedy  Sci-Fi\t3\n3\t12\t4\n",
    "ml.inter": "user_id:token\titem_id:token\trating:float\n1\t0\t3\n2\t1\t4\n",
}


@pytest.fixture
def recbole(tmp_path: Path) -> Path:
    for name, content in RECBOLE.items():
        (tmp_path / name).write_text(content)
    return tmp_path


def test_sequences_of_recbole_are_lists(recbole: Path):
    items = Table(recbole / "ml.item", "items")
    read = items.read({"item_id": "item_id:token", "g": "genre:token_seq", "y": "year:float_seq"})
    assert read["g"].to_list() == [["Drama", "Sci-Fi"], ["Drama"], ["Comedy", "Sci-Fi"], ["12"]]
    assert read["y"].to_list() == [[1.0, 2.5], None, [3.0], [4.0]]


def test_tokens_of_recbole_are_text_and_floats_are_numbers(recbole: Path):
    users = Table(recbole / "ml.user", "users")
    named = {"user_id": "user_id:token", "zip": "zip:token", "income": "income:float"}
    read = users.read(named, labels=["zip", "income"])
    assert read.rows() == [("1", "007", 1.5), ("2", "7", 2.0)]
    # what is to be binned is a number all the same
    assert users.read({"age": "age:token"})["age"].to_list() == [24, 53]


def test_atomic_files_of_recbole_are_audited(recbole: Path):
    result = audit(
        one_each({1: 1, 2: 2}),
        recbole / "ml.user",
        ["age:10", "zip"],
        items=recbole / "ml.item",
        history=recbole / "ml.inter",
        metrics="mrr,urd@2,urp@2",
    )
    assert result.summary.attributes["zip"].values == {"007": 1, "7": 1}
    assert result.summary.attributes["age"].values == {"20-29": 1, "50-59": 1}
    # items 0 and 1 share Drama of Drama and Sci-Fi
    assert result.metrics["urd@2"].mean == 1 / 2
    popularity, alike = result.warnings
    assert alike.startswith("check: attribute 'zip': 2 values differ from another only in")
    assert popularity == "2 of 4 candidate items do not occur in ml.inter; their popularity is 0"


def test_a_user_with_an_empty_list_is_counted_and_undefined():
    lists = as_lists(one_each({"a": 1, "b": 2}))
    empty = pl.DataFrame(
        {"user_id": ["c"], "item_id": [[]], "score": [[]], "label": [[]]}, schema=lists.schema
    )
    users = pl.DataFrame({"user_id": ["a", "b", "c"], "group": ["x", "x", "y"]})
    result = audit(pl.concat([empty, lists]), users, "group")
    assert result.summary.n_users == 3
    assert values_of(result, "mrr@5", ["a", "b", "c"]) == [1, 1 / 2, None]
    assert result.metrics["mrr@5"].n_undefined == 1
    assert result.metrics["mrr@5"].mean == pytest.approx((1 + 1 / 2) / 2)


TEXT = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], include_characters="\n\t"),
    min_size=1,
    max_size=6,
)


@st.composite
def random_tables(draw: st.DrawFn) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Predictions and users with any text as ids and values, rows in any order."""
    user_ids = draw(st.lists(TEXT, min_size=1, max_size=5, unique=True))
    item_ids = draw(st.lists(TEXT, min_size=1, max_size=5, unique=True))
    values = draw(st.lists(st.none() | TEXT, min_size=len(user_ids), max_size=len(user_ids)))
    pairs = draw(
        st.lists(
            st.tuples(st.sampled_from(user_ids), st.sampled_from(item_ids)),
            min_size=1,
            max_size=12,
            unique=True,
        )
    )
    scores = draw(
        st.lists(
            st.floats(allow_nan=False, allow_infinity=False),
            min_size=len(pairs),
            max_size=len(pairs),
            # a table without any order is refused
            unique=True,
        )
    )
    predictions = pl.DataFrame(
        {
            "user_id": [user for user, _ in pairs],
            "item_id": [item for _, item in pairs],
            "score": scores,
            "label": [i % 2 for i in range(len(pairs))],
        }
    )
    users = pl.DataFrame(
        {"user_id": user_ids, "x": pl.Series(values, dtype=pl.String), "n": range(len(user_ids))}
    )
    return predictions, users


def _read(predictions: Any, users: Any) -> tuple[CandidateLists, list[int], Any]:
    everyone = read_users(Table(users, "users"), ["n", "x"])
    lists, row_of_list, _ = read_candidates(
        Table(predictions, "predictions"), everyone.keys, "users", needs_labels=True
    )
    attributes = everyone.attributes(pl.Series(range(len(everyone.ids))).to_numpy())
    codes = [(a.name, a.codes.tolist(), a.values, a.n_missing) for a in attributes]
    return lists, row_of_list.tolist(), codes


@given(tables=random_tables())
def test_read_lists_hold_exactly_the_rows_of_the_table(tables: tuple[pl.DataFrame, pl.DataFrame]):
    predictions, users = tables
    lists, rows, _ = _read(predictions, users)
    user_ids = read_users(Table(users, "users"), ["n", "x"]).ids.to_list()
    found = [
        (user_ids[row], str(lists.item_ids[int(item)]), score, label)
        for row, start, stop in zip(rows, lists.offsets[:-1], lists.offsets[1:], strict=True)
        for item, score, label in zip(
            lists.items[start:stop], lists.scores[start:stop], lists.labels[start:stop], strict=True
        )
    ]
    assert sorted(found) == sorted(predictions.iter_rows())
    # candidates of a user keep the order of the rows
    for user in set(predictions["user_id"]):
        kept = [row for row in found if row[0] == user]
        assert kept == [row for row in predictions.iter_rows() if row[0] == user]


@pytest.mark.parametrize("column", ["user_id", "item_id", "score", "rating", "categories"])
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("texts", [["[1, 2, 3]", None, "[4]"], ["[1 2\n 3]", "[]", "[4 5]"]])
def test_lists_written_as_text_are_refused(column, ending, texts, tmp_path):
    path = tmp_path / f"t{ending}"
    frame = pl.DataFrame({"n": [1, 2, 3], column: texts})
    frame.write_csv(path) if ending == ".csv" else frame.write_parquet(path)
    with pytest.raises(InputError) as caught:
        Table(path, "predictions").read({column: column})
    assert str(caught.value) == (
        f"t{ending}: column '{column}' holds lists written as text ({texts[0]!r}). Save the table "
        "as Parquet, where lists stay lists, or write one row for each of their values; several "
        "categories are joined with '|'."
    )


@given(
    st.one_of(
        st.lists(numbers, min_size=1)
        for numbers in (
            st.floats(width=32),
            *(st.integers(-9999, 9999).map(lambda n, d=d: n / d) for d in (1, 10, 100, 10_000)),
        )
    ),
    st.sampled_from([pl.Float32, pl.Float16]),
)
def test_numbers_are_those_that_numpy_shows(values: list[float], kind: Any):
    narrow = pl.Series(values).cast(kind)
    expected = [float(str(one)) for one in narrow.to_numpy()]
    np.testing.assert_array_equal(widen_floats(narrow).to_numpy(), expected)
    lists = widen_floats(pl.Series([narrow, narrow], dtype=pl.List(kind)))
    np.testing.assert_array_equal(lists.explode().to_numpy(), expected * 2)
    gap = widen_floats(pl.concat([narrow, pl.Series([None], dtype=kind)]))
    assert gap.null_count() == 1
