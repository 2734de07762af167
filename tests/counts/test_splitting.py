from __future__ import annotations

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from fairrec.core.errors import InputError
from fairrec.counts.foreign import with_info
from fairrec.counts.merging import split_families
from fairrec.counts.rows import counted_users
from fairrec.counts.table import Counts
from tests.counts.small_counts import counts_of, tables, values


def test_each_metric_keeps_its_users_and_sums():
    counts = counts_of(tables())
    apart = split_families(counts)
    assert apart.info.families == (("auc",), ("ndcg@5",), ("mrr@8",))
    for name in ("auc", "ndcg@5", "mrr@8"):
        mine = counts.rows.filter(family="auc,ndcg@5,mrr@8")
        its = apart.rows.filter(family=name)
        for column in ("users", name, f"{name}^2"):
            assert its[column].sum() == pytest.approx(mine[column].sum())
        others = [one for one in ("auc", "ndcg@5", "mrr@8") if one != name]
        assert its.select(others).null_count().row(0) == (its.height, its.height)


def test_it_is_on_the_levels_of_a_metric_that_is_counted_alone():
    given = tables()
    alone = counts_of({**given, "metrics": "ndcg@5"})
    # a single metric is cut between its bounds
    assert alone.info.levels.keys() == {"ndcg@5"}
    apart = split_families(counts_of(given))
    columns = ["gender", "age", "country", "level", "users", "ndcg@5", "ndcg@5^2"]
    mine, its = (
        one.rows.filter(family="ndcg@5").select(columns).sort(columns[:4]) for one in (alone, apart)
    )
    assert_frame_equal(mine, its, rel_tol=1e-12)


def test_what_is_told_of_users_stays_the_same():
    counts = counts_of(tables())
    whole, apart = counted_users(counts).measured, counted_users(split_families(counts)).measured
    for i in range(3):
        assert apart.column(i).mean == pytest.approx(whole.column(i).mean)
        assert apart.column(i).n_users == whole.column(i).n_users


def test_values_that_are_counted_as_they_are_stay_so_without_edges():
    given = values()
    given["values"] = given["values"].drop("revenue")
    given["better"] = "bought=higher"
    counts = counts_of(given)
    assert_frame_equal(split_families(counts).rows, counts.rows)
    cut = split_families(counts, {"bought": [0.5]})
    assert cut.rows.filter(family="bought")["level"].unique().sort().to_list() == ["0", "1"]
    assert cut.info.levels == {"bought": (0.5,)}
    assert isinstance(cut.rows, pl.DataFrame)


def by_another_tool(levels: list[str], squares: float = 0.0) -> Counts:
    """Two metrics of users at two places, the sums of squares as they are or a little more."""
    rows = pl.DataFrame(
        {
            "family": "auc,mrr",
            "gender": ["F", "F", "M", "M"],
            "level": levels * 2,
            "users": [30, 10, 10, 30],
            "auc": [30.0, 5.0, 10.0, 15.0],
            "auc^2": [30.0, 2.5 + squares, 10.0, 7.5 + squares],
            "mrr": [30.0, 2.5, 10.0, 7.5],
            "mrr^2": [30.0, 0.625, 10.0, 1.875],
        }
    )
    return with_info(Counts(rows, None), {})


@pytest.mark.parametrize("levels", [["first", "second"], ["1/3", "2/3"], ["9|9", "8|8"]])
def test_levels_that_another_tool_calls_anything_are_told_apart_by_their_sums(levels):
    apart = split_families(by_another_tool(levels)).rows
    assert apart.filter(family="auc")["level"].to_list() == ["144", "72", "144", "72"]
    assert apart.filter(family="mrr")["level"].to_list() == ["144", "56", "144", "56"]


def test_users_who_differ_on_a_level_cannot_be_put_on_others():
    with pytest.raises(InputError, match="users of one level differ in 'auc'"):
        split_families(by_another_tool(["first", "second"], squares=0.1))
