from __future__ import annotations

import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec.counts.table import Counts, family_name, read_counts, squares_of, write_counts
from tests.counts.small_counts import counts_of, tables

SOME = pl.DataFrame(
    {
        "family": ["hit", "hit"],
        "gender": ["F", "M"],
        "level": ["1", "0"],
        "users": [3, 4],
        "hit": [3.0, 0.0],
        "hit^2": [3.0, 0.0],
    }
)


def test_a_file_gives_back_what_was_written(tmp_path):
    counts = counts_of(tables(), part="europe")
    file = tmp_path / "counts.parquet"
    write_counts(counts, file)
    again = read_counts(file)
    assert again.rows.equals(counts.rows)
    assert again.info == counts.info
    write_counts(again, tmp_path / "again.parquet")
    assert (tmp_path / "again.parquet").read_bytes() == file.read_bytes()


def test_no_user_is_in_it():
    counts = counts_of(tables())
    assert "user_id" not in counts.rows.columns
    assert counts.rows.height < counts.rows.filter(family="auc,ndcg@5,mrr@8")["users"].sum()


def test_rows_of_users_who_are_alike_are_one_after_adding():
    twice = Counts(pl.concat([SOME, SOME]), None).summed()
    assert twice.rows["users"].to_list() == [6, 8]
    assert twice.rows["hit"].to_list() == [6.0, 0.0]
    assert (twice.keys, twice.values) == (["gender"], ["hit"])


def test_a_sum_of_nothing_is_nothing():
    unknown = SOME.with_columns(
        pl.lit(None, pl.Float64).alias("hit"), pl.lit(None, pl.Float64).alias("hit^2")
    )
    assert Counts(unknown, None).summed().rows["hit"].to_list() == [None, None]


def test_a_file_that_is_none_is_refused(tmp_path):
    with pytest.raises(InputError, match="fairrec count"):
        read_counts(tmp_path / "none.parquet")
    (tmp_path / "text.parquet").write_text("users\n3\n")
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        read_counts(tmp_path / "text.parquet")
    SOME.write_parquet(tmp_path / "later.parquet", metadata={"fairrec": '{"schema_version": "9"}'})
    with pytest.raises(InputError, match="this version of FairRec"):
        read_counts(tmp_path / "later.parquet")


def test_a_file_that_was_cut_off_is_refused(tmp_path):
    file = tmp_path / "counts.parquet"
    write_counts(counts_of(tables(), part="europe"), file)
    whole = file.read_bytes()
    for length in range(0, len(whole), 97):
        file.write_bytes(whole[:length])
        with pytest.raises(InputError, match=r"counts.parquet: cannot be read as Parquet"):
            read_counts(file)


def test_names():
    assert (squares_of("ndcg@5"), family_name(("auc", "ndcg@5"))) == ("ndcg@5^2", "auc,ndcg@5")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"hit^2": [2.0, 0.0]}, "no 3 users have the sum 3 in 'hit' and only 2 in"),
        ({"hit^2": [None, 0.0]}, "must be empty in the same rows"),
        (
            {"level": ["0", "0"], "hit": [None, 0.0], "hit^2": [None, 0.0]},
            "level '0' of 'hit' has users with and without a value",
        ),
    ],
)
def test_sums_that_no_users_have_are_refused(wrong, message, tmp_path):
    file = tmp_path / "counts.parquet"
    SOME.with_columns(pl.Series(name, row) for name, row in wrong.items()).write_parquet(file)
    with pytest.raises(InputError, match=message):
        read_counts(file)
