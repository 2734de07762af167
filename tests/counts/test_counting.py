"""test_counting"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec.counts.levels import MOST_TOGETHER, exact_label, find_families, levels_of, values_of
from fairrec.counts.rows import counted_users
from fairrec.counts.selection import select_counts, without_small_cells
from fairrec.counts.table import (
    Counts,
    read_counts,
    with_info,
    write_counts,
)
from fairrec.inputs.users import OTHER
from fairrec.metrics.measured import Measured
from fairrec.metrics.parsing import parse_metric
from fairrec.metrics.value_columns import metric_of_column
from tests.counts.small_counts import counts_of, tables
from tests.grouped_options import group_options


def slow_counts(given, metric):
    """Every user by itself, in plain Python."""
    import fairrec

    users = fairrec.audit(**group_options(**given, permutations=0)).per_user
    found: dict[tuple, list[float]] = {}
    for row in users.iter_rows(named=True):
        key = (row["gender"], row["age"], row["country"], row[metric])
        n, total, squares = found.get(key, [0, 0.0, 0.0])
        value = row[metric] or 0.0
        found[key] = [n + 1, total + value, squares + value * value]
    return found


@pytest.mark.parametrize("metric", ["auc", "mrr@8"])
def test_users_are_counted_by_attributes_and_value(metric):
    given = tables()
    counts = counts_of(given)
    rows = counts.rows.filter(family="auc,ndcg@5,mrr@8")
    expected = slow_counts(given, metric)
    found: dict[tuple, list[float]] = {}
    for row in rows.iter_rows(named=True):
        total = row[metric]
        value = None if total is None else round(total / row["users"], 12)
        n, sums, squares = found.get(
            (key := (row["gender"], row["age"], row["country"], value)), [0, 0, 0]
        )
        found[key] = [n + row["users"], sums + (total or 0), squares + (row[f"{metric}^2"] or 0)]
    rounded = {
        (*key[:3], None if key[3] is None else round(key[3], 12)): numbers
        for key, numbers in expected.items()
    }
    assert found.keys() == rounded.keys()
    for key, numbers in rounded.items():
        assert found[key] == pytest.approx(numbers)


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


def test_a_file_that_is_none_is_refused(tmp_path):
    with pytest.raises(InputError, match="fairrec count"):
        read_counts(tmp_path / "none.parquet")
    (tmp_path / "text.parquet").write_text("users\n3\n")
    with pytest.raises(InputError, match="cannot be read"):
        read_counts(tmp_path / "text.parquet")
    SOME.write_parquet(tmp_path / "later.parquet", metadata={"fairrec": '{"schema_version": "9"}'})
    with pytest.raises(InputError, match="this version of FairRec"):
        read_counts(tmp_path / "later.parquet")


def made(rows):
    return with_info(Counts(pl.DataFrame(rows), None), {})


def test_families_share_rows_and_keep_their_own_users():
    counts = made(
        {
            "family": ["hit@5"] * 3 + ["mrr@5"] * 2,
            "gender": ["F", "F", "M", "F", "M"],
            "level": ["0", "1", "1", "a", "b"],
            "users": [2, 3, 4, 5, 4],
            "hit@5": [0.0, 3.0, 4.0, None, None],
            "hit@5^2": [0.0, 3.0, 4.0, None, None],
            "mrr@5": [None, None, None, 2.5, 1.0],
            "mrr@5^2": [None, None, None, 1.5, 0.25],
        }
    )
    found = counted_users(counts)
    measured = found.measured
    # two levels of hits of women and one of men
    assert measured.values.shape == (2, 3)
    assert found.n_users.sum() == 9
    assert measured.alike.n.sum(axis=1).tolist() == [9, 9]
    assert measured.column(0).mean == pytest.approx(7 / 9)
    assert measured.column(1).mean == pytest.approx(3.5 / 9)
    assert found.attributes[0].values == ("F", "M")
    # users of a level with different values keep the squares around their mean
    assert measured.alike.inner[1].sum() == pytest.approx(1.5 - 2.5**2 / 5)
    assert measured.alike.inner[0].sum() == 0


def test_families_of_other_users_are_refused():
    counts = made(
        {
            "family": ["hit@5", "mrr@5"],
            "gender": ["F", "F"],
            "level": ["1", "1"],
            "users": [2, 3],
            "hit@5": [2.0, None],
            "hit@5^2": [2.0, None],
            "mrr@5": [None, 3.0],
            "mrr@5^2": [None, 3.0],
        }
    )
    with pytest.raises(InputError, match="2 users of gender=F for 'hit@5' and 3 for 'mrr@5'"):
        counted_users(counts)


def test_users_of_one_value_have_it_to_the_last_digit():
    n = 1001
    sums = np.array([np.add.reduce([0.1] * n), np.add.reduce([0.1] * 7)])
    counts = made(
        {
            "family": ["mrr@20"] * 2,
            "gender": ["F", "M"],
            "level": ["x", "x"],
            "users": [n, 7],
            "mrr@20": sums,
            "mrr@20^2": [np.add.reduce([0.1 * 0.1] * n), np.add.reduce([0.1 * 0.1] * 7)],
        }
    )
    values = counted_users(counts).measured.values[0]
    assert values[0] == values[1] == pytest.approx(0.1)


def measured(values, names=("auc", "ndcg@5")):
    metrics = tuple(
        parse_metric(name) if name != "revenue" else metric_of_column(name, {}, "values")
        for name in names
    )
    values = np.array(values, dtype=np.float64)
    everyone = np.ones(values.shape[1], dtype=bool)
    return Measured(metrics, values, everyone, everyone)


def families(given):
    return find_families(given, levels_of(given.metrics, {}))


def test_metrics_of_labels_with_few_values_in_all_are_counted_together():
    (family,) = families(measured([[0.5, 1, 0.5, np.nan], [0.25, 1, 0.25, np.nan]]))
    assert family.metrics == (0, 1)
    assert not family.is_cut
    labels = family.labels.gather(family.level).to_list()
    assert labels == ["0.5|0.25", "1.0|1.0", "0.5|0.25", None]


def test_too_many_values_are_cut_each_metric_by_itself():
    many = np.linspace(0, 1, MOST_TOGETHER + 1)
    first, second = families(measured([many, many]))
    assert (first.metrics, second.metrics) == ((0,), (1,))
    assert first.is_cut
    assert first.labels.gather(first.level)[-1] == "144"
    # few values each, and too many together
    pairs = np.array([[i, j] for i in range(20) for j in range(20)]).T / 20
    assert [family.metrics for family in families(measured(pairs))] == [(0,), (1,)]


def test_without_bounds_few_values_are_taken_as_they_are_and_many_refused():
    (family,) = families(measured([[3.5, -1.0, 3.5]], ["revenue"]))
    assert family.labels.gather(family.level).to_list() == ["3.5", "-1.0", "3.5"]
    with pytest.raises(InputError, match="levels"):
        families(measured([np.arange(MOST_TOGETHER + 1)], ["revenue"]))


def test_labels_tell_the_values_to_the_last_digit():
    rng = np.random.default_rng(0)
    rows = rng.random((50, 2))
    rows[3] = np.nan, 0.1
    labels = pl.Series([exact_label(row) for row in rows])
    for at in (0, 1):
        assert np.array_equal(values_of(labels, at), rows[:, at], equal_nan=True)
    assert exact_label(np.array([np.nan, np.nan])) is None


KEYS = ["gender", "age", "country"]


def cells(counts):
    family = ",".join(counts.info.families[0])
    return counts.rows.filter(family=family).group_by(KEYS).agg(pl.col("users").sum())


@pytest.mark.parametrize("least", [5, 20, 60, 400])
def test_no_cell_is_smaller_and_nobody_is_dropped(least):
    counts = counts_of(tables())
    shown = without_small_cells(counts, least)
    assert cells(shown)["users"].min() >= least
    for column in ("users", "auc", "ndcg@5^2"):
        assert shown.rows[column].sum() == pytest.approx(counts.rows[column].sum())
    n_small = cells(counts).filter(pl.col("users") < least)["users"].sum()
    assert shown.info.n_merged == n_small
    assert shown.info.min_shown == least
    for name in counts.info.missing:
        mine, its = (one.rows.filter(family=name) for one in (counts, shown))
        assert mine["missing"].sum() == its["missing"].sum()


def test_the_attribute_with_most_values_is_given_up_first():
    shown = without_small_cells(counts_of(tables()), 20)
    merged = cells(shown).filter(pl.any_horizontal(pl.col(KEYS) == OTHER))
    # countries are four with the unknown, ages four, genders two: these are kept
    assert (merged["gender"] != OTHER).any()


def test_an_attribute_may_become_a_covariate():
    some = select_counts(counts_of(tables()), ["gender"], ["age"], None)
    assert [*some.info.covariates] == ["age"]
    assert some.info.adjust_for == ("age:20",)
    with pytest.raises(InputError, match="alike in it"):
        select_counts(counts_of(tables()), ["gender"], ["gender"], None)


def test_who_is_missing_cannot_be_told_by_a_covariate():
    given = tables()
    counts = counts_of({**given, "by": "gender", "adjust_for": "country"})
    with pytest.raises(InputError, match=r"'country' was counted as a covariate"):
        select_counts(counts, ["gender", "country"], (), None)
    nobody = replace(counts, rows=counts.rows.filter(pl.col("missing").fill_null(0) == 0))
    assert select_counts(nobody, ["gender", "country"], (), None).keys == ["gender", "country"]
