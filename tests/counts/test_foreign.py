from __future__ import annotations

import polars as pl
import pytest

from fairrec.core.errors import FairRecError, InputError
from fairrec.counts.foreign import with_info
from fairrec.counts.levels import steps_between
from fairrec.counts.rows import counted_users
from fairrec.counts.selection import chosen
from fairrec.counts.table import Counts

SQL = {
    "family": ["watched"] * 3,
    "gender": ["F", "F", "M"],
    "age": [20, 30, 20],
    "level": ["0", "1", None],
    "users": [2, 3, 4],
    "watched": [0.0, 3.0, None],
    "watched^2": [0.0, 3.0, None],
}


def test_columns_tell_what_another_tool_did_not():
    counts = with_info(Counts(pl.DataFrame(SQL), None), {"watched": False})
    info = counts.info
    assert info.by == ("gender", "age")
    assert info.attributes["age"].kind == "whole number"
    about = info.metrics["watched"]
    assert (about.higher_is_better, about.n_expected, about.n_undefined) == (False, 9, 4)
    assert with_info(counts, {}) is counts


def test_known_metrics_keep_their_meaning():
    renamed = {name.replace("watched", "ndcg@7"): row for name, row in SQL.items()}
    renamed["family"] = ["ndcg@7"] * 3
    about = with_info(Counts(pl.DataFrame(renamed), None), {}).info.metrics["ndcg@7"]
    assert about.higher_is_better is True
    assert about.bounds == (0.0, 1.0)


def test_what_stands_in_brackets_is_told():
    renamed = {name.replace("watched", "share@5[pay=high]"): row for name, row in SQL.items()}
    renamed["family"] = ["share@5[pay=high]"] * 3
    about = with_info(Counts(pl.DataFrame(renamed), None), {}).info.metrics["share@5[pay=high]"]
    assert about.called == "places for pay=high"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"family": ["watched,liked"] * 3}, "no column 'liked'"),
        ({"family": ["watched", "watched", "watched,watched"]}, "in two families"),
    ],
)
def test_families_that_do_not_fit_their_columns_are_refused(changed, message):
    with pytest.raises(InputError, match=message):
        with_info(Counts(pl.DataFrame({**SQL, **changed}), None), {})


def test_who_has_no_value_is_told_by_group():
    counts = with_info(Counts(pl.DataFrame(SQL), None), {})
    rows = counts.rows.filter(family="undefined: watched")
    assert rows.select("gender", "users", "missing").rows() == [
        ("F", 2, 0.0),
        ("F", 3, 0.0),
        ("M", 4, 4.0),
    ]
    (outcome,) = counted_users(chosen(counts, [], [], None)).outcomes
    assert (outcome.kind, outcome.metrics) == ("undefined", ("watched",))


@pytest.mark.parametrize(
    ("more", "better", "message"),
    [
        ({"spent": [1.0] * 3, "spent^2": [1.0] * 3}, {}, "'spent' is in no family"),
        ({"spent^2": [1.0] * 3}, {}, "no column 'spent'"),
        ({"mrr@5": [1.0] * 3}, {}, "no column 'mrr@5\\^2'"),
        ({}, {"watch": True}, "No metric in these counts 'watch'"),
    ],
)
def test_nothing_is_left_aside(more, better, message):
    with pytest.raises(FairRecError, match=message):
        with_info(Counts(pl.DataFrame({**SQL, **more}), None), better)


def test_the_better_end_of_a_known_metric_cannot_be_said():
    named = {"watched": "hit@5", "watched^2": "hit@5^2"}
    rows = pl.DataFrame(SQL).rename(named).with_columns(family=pl.lit("hit@5"))
    with pytest.raises(InputError, match="which end of hit@5 is better is known"):
        with_info(Counts(rows, None), {"hit@5": False})


def test_the_better_end_of_a_known_metric_that_has_none_can_be_said():
    named = {"watched": "long_tail@5", "watched^2": "long_tail@5^2"}
    rows = pl.DataFrame(SQL).rename(named).with_columns(family=pl.lit("long_tail@5"))
    for better, end in (({}, None), ({"long_tail@5": True}, True)):
        about = with_info(Counts(rows, None), better).info.metrics["long_tail@5"]
        assert about.higher_is_better is end


def test_a_table_without_attributes_is_refused():
    with pytest.raises(InputError, match="no attribute"):
        with_info(Counts(pl.DataFrame(SQL).drop("gender", "age"), None), {})


def steps(level: list[str], total: list[float]) -> Counts:
    """Counts of one metric by another tool, ten users a row."""
    squares = [one**2 / 10 for one in total]
    rows = pl.DataFrame(
        {
            "family": "auc",
            "gender": ["F", "M"],
            "level": level,
            "users": 10,
            "auc": total,
            "auc^2": squares,
        }
    )
    return Counts(rows, None)


def test_levels_of_another_tool_that_are_ours_are_known():
    found = with_info(steps(["72", "144"], [5.0, 10.0]), {})
    assert found.info.levels["auc"] == tuple(steps_between(0.0, 1.0))
    # a rank, a value, or a step of another width
    for level in (["1", "0"], ["0.5", "1.0"], ["32", "64"], ["72", "145"]):
        assert with_info(steps(level, [5.0, 10.0]), {}).info.levels == {}


def test_sums_beyond_the_bounds_of_a_metric_are_refused():
    with pytest.raises(InputError, match=r"'auc' lies between 0 and 1, and has the mean 1.2"):
        with_info(steps(["1", "2"], [5.0, 12.0]), {})
