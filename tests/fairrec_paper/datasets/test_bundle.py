"""A bundle on disk is what was written, or it is refused; what readers make of tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from fairrec.core.errors import InputError, OutputError, UnknownNameError
from fairrec_paper.datasets import readers
from fairrec_paper.datasets.bundle import (
    DATASETS,
    first_of_each_pair,
    most_frequent,
    prepare,
    read_bundle,
    write_bundle,
)
from fairrec_paper.datasets.readers.amazon import behaviour_deciles, decile
from tests.fairrec_paper.datasets.movielens_tables import write_movielens
from tests.fairrec_paper.datasets.raw_files import prepared, refusal


@pytest.fixture
def raw(tmp_path):
    return write_movielens(tmp_path / "raw")


def test_a_bundle_written_again_is_the_same(raw, tmp_path):
    bundle = prepared("movielens-1m", raw, tmp_path / "bundle")
    manifest = write_bundle(bundle, tmp_path / "again")
    again = read_bundle(tmp_path / "again")
    assert again.manifest == manifest == bundle.manifest
    assert again.interactions.equals(bundle.interactions)
    assert again.users.equals(bundle.users)
    assert again.items.equals(bundle.items)


@pytest.mark.parametrize("table", ["interactions", "users", "items"])
def test_a_changed_table_is_refused(raw, tmp_path, table):
    prepare("movielens-1m", raw, tmp_path / "bundle")
    file = tmp_path / "bundle" / f"{table}.parquet"
    pl.read_parquet(file).head(1).write_parquet(file)
    with pytest.raises(InputError, match=rf"{table}\.parquet: is missing or not what was prepared"):
        read_bundle(tmp_path / "bundle")


def test_tables_of_others_are_not_replaced_by_a_bundle(raw, tmp_path):
    bundle = prepared("movielens-1m", raw, tmp_path / "bundle")
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "users.parquet").write_text("mine")
    for write in (
        lambda: write_bundle(bundle, theirs),
        lambda: prepare("movielens-1m", raw, theirs),
    ):
        with pytest.raises(OutputError, match=r"theirs: users.parquet there is of no bundle of"):
            write()
    assert (theirs / "users.parquet").read_text() == "mine"
    # an older one is, whatever it holds
    write_bundle(bundle, tmp_path / "bundle")


@pytest.mark.parametrize(
    ("table", "change", "says"),
    [
        ("interactions", {"time": pl.lit("noon")}, "'time' is String there"),
        ("interactions", {"is_positive": pl.lit(1)}, "'is_positive' is Int32 there"),
        ("users", {"gender": pl.lit([1])}, "'gender' is List"),
        ("users", {"user_id": pl.lit(1)}, "user_id is empty or there twice"),
        ("items", {"categories": pl.lit("drama")}, "'categories' is String there"),
    ],
)
def test_tables_of_other_columns_are_refused_though_their_checksums_fit(
    raw, tmp_path, table, change, says
):
    bundle = prepared("movielens-1m", raw, tmp_path / "bundle")
    other = replace(bundle, **{table: getattr(bundle, table).with_columns(**change)})
    write_bundle(other, tmp_path / "other")
    with pytest.raises(InputError, match=says):
        read_bundle(tmp_path / "other")


def test_what_cannot_be_prepared_is_refused_before_anything_is_written(raw, tmp_path):
    before = (raw / "users.parquet").read_bytes()
    with pytest.raises(InputError, match="is the folder that is read"):
        prepare("movielens-1m", raw, raw)
    assert (raw / "users.parquet").read_bytes() == before
    assert "is no folder" in refusal("movielens-1m", tmp_path / "nowhere")
    with pytest.raises(UnknownNameError, match="Did you mean 'movielens-1m'"):
        prepare("movielens1m", tmp_path, tmp_path / "bundle")
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="is a file, not a folder"):
        prepare("movielens-1m", raw, tmp_path / "file")


def test_all_data_sets_are_registered_with_what_a_user_must_know():
    groups = {name: DATASETS[name].n_groups.split()[0] for name in DATASETS}
    assert groups == {
        "amazon-electronics": "1,000",
        "blackfriday": "8,820",
        "lfm360k": "53,058",
        "movielens-1m": "294",
    }
    for name in DATASETS:
        dataset = DATASETS[name]
        known = (dataset.title, dataset.licence, dataset.files, dataset.attributes)
        assert "http" in dataset.where and all(known), name
    files = Path(readers.__file__).parent.glob("[a-z]*.py")
    assert {file.stem for file in files} == {*readers.__all__}


def test_the_first_of_each_pair_stays_and_the_others_are_counted():
    rows = pl.DataFrame(
        {"user_id": [1, 1, 1, 2], "item_id": [10, 20, 10, 10], "rating": [5, 4, 1, 3]}
    )
    firsts, notes = first_of_each_pair(rows)
    assert firsts["rating"].to_list() == [5, 4, 3]
    assert notes == ("further rows of the same user and item, dropped: 1",)


def test_the_most_frequent_name_is_taken_and_the_first_in_order_among_equals():
    rows = pl.LazyFrame({"artist": [1, 1, 1, 2, 2], "name": ["B", "A", "B", "D", "C"]})
    assert most_frequent("name", "artist", rows).rows() == [(1, "B"), (2, "C")]


def test_equal_values_share_a_decile_and_ten_values_fill_ten():
    values = pl.DataFrame({"value": [1, 9, 1, 5]})
    # smaller values: 0, 3, 0 and 2 of 4
    expected = [10 * 0 // 4, 10 * 3 // 4, 10 * 0 // 4, 10 * 2 // 4]
    assert values.select(decile("value"))["value"].to_list() == expected
    values = pl.DataFrame({"value": [3.5 * number for number in range(10)]})
    assert values.select(decile("value"))["value"].to_list() == list(range(10))


def test_behaviour_is_measured_on_training_interactions_only():
    rows = [
        # the last two of u1, the dearest, are targets
        *[("u1", 1, 5.0), ("u1", 2, 4.0), ("u1", 3, 99.0), ("u1", 4, 99.0)],
        # two interactions: the last is a target
        *[("u2", 1, 7.0), ("u2", 2, 99.0)],
        ("u3", 1, 2.0),
    ]
    interactions = pl.DataFrame(rows, ["user_id", "time", "price"], orient="row")
    # activity 2, 1, 1; spend 9, 7, 2; top price 5, 7, 2
    assert behaviour_deciles(interactions).rows() == [
        ("u1", 10 * 2 // 3, 10 * 2 // 3, 10 * 1 // 3),
        ("u2", 0, 10 * 1 // 3, 10 * 2 // 3),
        ("u3", 0, 0, 0),
    ]


def test_sums_of_decimals_that_are_equal_share_a_decile():
    interactions = pl.DataFrame(
        {
            "user_id": ["u1"] * 4 + ["u2"] * 3,
            "time": [1, 2, 3, 4, 1, 2, 3],
            "price": [0.1, 0.2, 1.0, 1.0, 0.3, 1.0, 1.0],
        }
    )
    assert 0.1 + 0.2 != 0.3
    assert behaviour_deciles(interactions)["spend"].to_list() == [0, 0]
