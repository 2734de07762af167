"""Parts of a table give every user the values that the whole table gives, and memory is kept."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from fairrec.core.errors import InputError, OutputError
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.inputs.partition import (
    ALWAYS,
    LARGE,
    code_ids,
    estimate_bytes,
    is_large,
    most_rows,
    open_parts,
    refuse_large,
)
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.tables import Table
from fairrec.metrics.measured import measure_everyone
from fairrec.metrics.reading import read_inputs

BY = ["gender", "age:10", "income:q3"]
LABELS = ["auc", "mrr@3", "ndcg@3", "urp@3", "urd@3"]
HELD_OUT = ["recall@3", "ndcg@3", "map@3", "coverage@3", "urp@3"]


def made(folder: Path, seed: int, order: str, ids: str = "numbers") -> dict[str, Path]:
    """All tables of an audit of a few users, some of whom have nothing but attributes."""
    rng = np.random.default_rng(seed)
    n_users, n_items = 14, 12
    numbers = rng.permutation(100)[:n_users]
    names = numbers if ids == "numbers" else np.array([f"u{n}" for n in numbers])
    users = pl.DataFrame(
        {
            "user_id": names,
            "gender": rng.choice(["F", "M", None], n_users).tolist(),
            "age": rng.integers(10, 60, n_users) + rng.choice([0.0, 0.5], n_users),
            "income": rng.integers(0, 50, n_users).astype(float),
        }
    )
    audited = names[: n_users - 3]

    def rows(of: Any, n_most: int) -> pl.DataFrame:
        n_each = rng.integers(1, n_most, len(of))
        items = np.concatenate([rng.permutation(n_items)[:n] for n in n_each])
        return pl.DataFrame({"user_id": np.repeat(of, n_each), "item_id": items})

    candidates = rows(audited, 9)
    n = len(candidates)
    candidates = candidates.with_columns(
        score=pl.Series(rng.normal(size=n)), label=pl.Series(rng.integers(0, 3, n))
    )
    test, history = rows(rng.permutation(names)[:-2], 5), rows(names[1:], 6)
    if order == "scattered":
        candidates, test, history = (
            table[rng.permutation(len(table))] for table in (candidates, test, history)
        )
    items = pl.DataFrame(
        {"item_id": np.arange(n_items), "categories": rng.choice(["a", "b", "a|b"], n_items)}
    )
    tables = {
        "candidates": candidates,
        "recommended": candidates.drop("label"),
        "test": test,
        "history": history,
        "users": users[rng.permutation(n_users)],
        "items": items,
    }
    paths = {}
    for name, table in tables.items():
        paths[name] = folder / f"{name}.parquet"
        table.write_parquet(paths[name], row_group_size=7)
    return paths


def measured(tables: dict[str, Any], metrics: list[str], **options: Any) -> pl.DataFrame:
    """One row a user: values and attributes."""
    inputs, wanted = read_inputs(**tables, **{"by": BY, "metrics": metrics, **options})
    return as_frame(inputs, wanted)


def as_frame(inputs: AuditInputs, wanted: Any) -> pl.DataFrame:
    values = measure_everyone(inputs, wanted)
    labels = {one.name: one.labels for one in inputs.attributes}
    columns = {metric.name: row for metric, row in zip(wanted, values.values, strict=True)}
    about = {"is_expected": inputs.is_expected, "is_without_list": inputs.is_without_list}
    return pl.DataFrame({"user_id": inputs.user_ids, **columns, **labels, **about})


def in_parts(
    tables: dict[str, Any], metrics: list[str], n_rows: int, **options: Any
) -> tuple[pl.DataFrame, int]:
    """The same by parts, and the number of users who are not audited."""
    options = {"by": BY, "metrics": metrics, **options}
    frames, n_others = [], 0
    with open_parts(**tables, n_rows=n_rows, **options) as parts:
        for part in pickle.loads(pickle.dumps(parts.parts)):
            inputs, wanted = read_inputs(**part.tables, **options)
            frames.append(as_frame(inputs, wanted))
            n_others += len(inputs.absent) + len(inputs.unseen)
    return pl.concat(frames), n_others


@pytest.mark.parametrize(
    ("order", "ids"),
    [("together", "numbers"), ("scattered", "text")],
)
def test_values_by_parts_are_those_of_the_whole_to_the_last_bit(
    tmp_path: Path, order: str, ids: str
):
    paths = made(tmp_path, len(order + ids), order, ids)
    shared = {"users": paths["users"], "history": paths["history"]}
    with_labels = {"predictions": paths["candidates"], "items": paths["items"], **shared}
    held_out = {"predictions": paths["recommended"], "test": paths["test"], **shared}
    for tables, metrics in ((with_labels, LABELS), (held_out, HELD_OUT)):
        inputs, wanted = read_inputs(**tables, by=BY, metrics=metrics)
        whole = as_frame(inputs, wanted)
        for n_rows in (1, 5, 1000):
            found, n_others = in_parts(tables, metrics, n_rows)
            assert found.sort("user_id").equals(whole), n_rows
            assert n_others == len(inputs.absent) + len(inputs.unseen)


def agree(tables: dict[str, Any], metrics: Any, n_rows: int, **options: Any) -> pl.DataFrame:
    whole = measured(tables, metrics, **options)
    found, _ = in_parts(tables, metrics, n_rows, **options)
    assert found.sort("user_id").equals(whole.sort("user_id"))
    return whole


def test_one_row_a_user_gives_the_same(tmp_path: Path):
    paths = made(tmp_path, 4, "together")
    lists = tmp_path / "lists.parquet"
    flat = pl.read_parquet(paths["candidates"])
    flat.group_by("user_id", maintain_order=True).all().write_parquet(lists)
    agree({"predictions": lists, "users": paths["users"]}, ["auc", "ndcg@3"], 4)


def test_values_are_cut_as_well_and_may_hold_the_attributes(tmp_path: Path):
    paths = made(tmp_path, 5, "together")
    rng = np.random.default_rng(0)
    users = pl.read_parquet(paths["users"])
    churn = pl.Series("churn", rng.normal(size=len(users)))
    users.with_columns(churn).write_parquet(tmp_path / "values.parquet")
    with_attributes = {"values": tmp_path / "values.parquet"}
    agree({**with_attributes, "users": paths["users"]}, ["churn"], 3)
    agree(with_attributes, ["churn"], 3)


def test_ids_are_compared_as_in_whole_tables(tmp_path: Path):
    """Text here and numbers there, and numbers as text among which is one that is none."""
    paths = made(tmp_path, 6, "together")
    users, candidates = (pl.read_parquet(paths[name]) for name in ("users", "candidates"))
    as_text = pl.col("user_id").cast(pl.String)
    candidates.with_columns(as_text).write_parquet(tmp_path / "text.parquet")
    agree({"predictions": tmp_path / "text.parquet", "users": paths["users"]}, ["auc"], 1)
    odd = (as_text + ".0").replace({f"{users['user_id'][0]}.0": "x1"})
    candidates.with_columns(odd).write_parquet(tmp_path / "odd.parquet")
    users.with_columns(odd).write_parquet(tmp_path / "odd-users.parquet")
    tables = {"predictions": tmp_path / "odd.parquet", "users": tmp_path / "odd-users.parquet"}
    whole = agree(tables, ["auc"], 1)
    assert whole["user_id"].dtype == pl.String


def test_scratch_files_are_gone_in_the_end_even_after_an_error(tmp_path: Path):
    paths = made(tmp_path, 11, "together")
    tables = {"predictions": paths["candidates"], "users": paths["users"], "by": ["gender"]}
    home = tmp_path / "home"
    home.mkdir()
    with open_parts(**tables, folder=home) as parts:
        assert [*home.iterdir()]
        assert sum(part.n_rows for part in parts) == parts.n_rows
    assert not [*home.iterdir()]
    with pytest.raises(ZeroDivisionError), open_parts(**tables, folder=home):
        _ = 1 / 0
    assert not [*home.iterdir()]


def test_covariates_need_bins_of_their_own(tmp_path: Path):
    paths = made(tmp_path, 18, "together")
    tables = {"predictions": paths["candidates"], "users": paths["users"], "by": ["gender"]}
    for given in ("list_length", "list_length:q5", "n_relevant", "income"):
        with (
            pytest.raises(InputError, match="need bins that do not depend on all users"),
            open_parts(**tables, adjust_for=[given]),
        ):
            pass
    options = {"by": ["gender"], "adjust_for": ["list_length:3", "age:20", "income:q3"]}
    inputs, _ = read_inputs(**{**tables, **options})
    whole = pl.DataFrame([one.labels for one in inputs.covariates]).with_columns(
        user_id=inputs.user_ids
    )
    found = []
    with open_parts(**{**tables, **options}, n_rows=5) as parts:
        for part in parts:
            mine, _ = read_inputs(**part.tables, **options)
            labels = pl.DataFrame([one.labels for one in mine.covariates])
            found.append(labels.with_columns(user_id=mine.user_ids))
    assert pl.concat(found).sort("user_id").equals(whole)


def test_only_parquet_is_read_in_parts(tmp_path: Path):
    paths = made(tmp_path, 19, "together")
    pl.read_parquet(paths["candidates"]).write_csv(tmp_path / "candidates.csv")
    with (
        pytest.raises(InputError, match=r"candidates.csv: is not in Parquet files"),
        open_parts(tmp_path / "candidates.csv", users=paths["users"], by=["gender"]),
    ):
        pass
    # users may be in any file, or in memory
    users = pl.read_parquet(paths["users"])
    users.write_csv(tmp_path / "users.csv")
    for given in (tmp_path / "users.csv", users):
        agree({"predictions": paths["candidates"], "users": given}, ["auc"], 5)


def test_a_place_that_holds_no_scratch_is_said_with_the_option(tmp_path: Path):
    users = pl.DataFrame({"user_id": [1, 2], "gender": ["F", "M"]})
    users.write_parquet(tmp_path / "users.parquet")
    given = {"users": tmp_path / "users.parquet", "values": tmp_path / "users.parquet"}
    for place in (tmp_path / "none", tmp_path / "users.parquet"):
        with (
            pytest.raises(OutputError, match=r"more room for scratch files: scratch="),
            open_parts(folder=place, by="gender", **given),
        ):
            raise AssertionError


def codes(*ids: object) -> list[int]:
    frame = pl.DataFrame({"user_id": ids})
    return frame.select(code_ids("user_id", frame["user_id"].dtype))["user_id"].to_list()


def test_ids_have_the_same_code_however_they_are_written():
    largest = 2**63 - 1
    numbers = [0, 7, -3, 10, largest, -largest - 1]
    assert codes(*numbers) == numbers
    assert codes(*map(str, numbers)) == numbers
    assert codes(7.0, -3.0) == codes("7.000", "-3,0") == [7, -3]
    wide = pl.DataFrame({"user_id": [largest + 5, 7]}, schema={"user_id": pl.UInt64})
    assert wide.select(code_ids("user_id", pl.UInt64())).to_series().to_list() == codes(
        str(largest + 5), "7"
    )
    # a code of an id does not depend on those beside it
    texts = ["ab", "c", "a", "7.0", "", "ü", "abc"]
    assert codes(*texts) == [codes(text)[0] for text in texts]
    assert len({*codes(*texts)}) == 7


ROWS = pl.DataFrame({"user_id": range(1000), "item_id": range(1000), "score": [0.5] * 1000})


def stored(folder: Path, name: str, table: pl.DataFrame = ROWS) -> Table:
    file = folder / name
    if file.suffix == ".parquet":
        table.write_parquet(file)
    else:
        table.write_csv(file)
    return Table(file, "predictions")


def test_rows_of_parquet_and_bytes_of_text_take_room_and_tables_in_memory_take_no_more(tmp_path):
    assert estimate_bytes(stored(tmp_path, "rows.parquet")) == 80_000
    text = stored(tmp_path, "rows.csv")
    assert estimate_bytes(text) == 4 * (tmp_path / "rows.csv").stat().st_size
    assert estimate_bytes(Table(ROWS, "predictions")) == 0


def test_files_that_cannot_fit_are_refused_by_their_names(tmp_path):
    most = ALWAYS + 100_000
    refuse_large({"predictions": stored(tmp_path, "rows.parquet")}, most)
    several = {name: stored(tmp_path, f"{name}.parquet") for name in ("some", "more")}
    with pytest.raises(InputError, match=r"^The rows of some.parquet, more.parquet, read at once"):
        refuse_large(several, most)
    with pytest.raises(InputError, match=r"^The rows of rows.csv, read at once, need about 0.3 GB"):
        refuse_large({"values": stored(tmp_path, "rows.csv", pl.concat([ROWS] * 3))}, most)


def test_fewer_rows_are_read_at_once_where_there_is_less_memory():
    assert most_rows(10**11) == LARGE
    assert most_rows(ALWAYS + 8_000) == 100


def test_large_is_what_is_stored_and_has_many_rows(tmp_path):
    table = pl.DataFrame({"user_id": range(500), "value": range(500)})
    file = str(tmp_path / "values.parquet")
    table.write_parquet(file)
    assert is_large(file, TableOptions(), rows=500)
    assert not is_large(file, TableOptions(), rows=501)
    assert not is_large(table, TableOptions(), rows=1)
    assert not is_large(None, TableOptions(values=None), rows=1)
    assert is_large(None, TableOptions(values=file), rows=100)
    table.write_csv(tmp_path / "values.csv")
    assert not is_large(tmp_path / "values.csv", TableOptions(), rows=1)


def test_tables_that_cannot_be_cut_are_read_whole(tmp_path):
    table = pl.DataFrame({"user_id": range(500), "item_id": range(500)})
    file, text = str(tmp_path / "rows.parquet"), str(tmp_path / "rows.csv")
    table.write_parquet(file)
    table.write_csv(text)
    assert is_large(file, TableOptions(test=file, history=file), rows=1)
    assert not is_large(file, TableOptions(test=text), rows=1)
    assert not is_large(file, TableOptions(history=text), rows=1)
    assert not is_large(file, TableOptions(test=table), rows=1)
    assert is_large(file, TableOptions(adjust_for="list_length:5|10"), rows=1)
    assert not is_large(file, TableOptions(adjust_for="list_length"), rows=1)
    assert not is_large(file, TableOptions(adjust_for=["history_length:q5"]), rows=1)
