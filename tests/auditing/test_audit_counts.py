"""The audit of counts beside the audit of the same users."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import fairrec
from fairrec.core.errors import InputError
from fairrec.counts.table import write_counts
from tests.counts.small_counts import counts_of, halves, tables, values
from tests.grouped_options import group_options

DRAWN = {
    *("chance", "detectable", "p_value", "p_adjusted"),
    *("simultaneous", "certificate", "share_by_chance", "by_chance", "n_folded", "because_of"),
    *(
        "n_significant",
        "outcome",
        "ruled_out_from",
        "n_inconclusive",
        "n_within_tolerance",
        "n_worse",
    ),
    *("n_worse_beyond_tolerance", "n_better", "is_conclusive"),
    *("undecided", "at_worst", "n_exceeding_at_worst"),
}
"""Numbers that rest on permutations, which are others."""
MADE = {"command", "inputs", "versions", "n_candidates"}


def differences(mine: Any, other: Any, place: str = "") -> list[str]:
    """Where two results differ that ought to be the same."""
    if isinstance(mine, dict):
        return [
            found
            for name, value in mine.items()
            if name not in DRAWN | MADE
            for found in differences(value, other[name], f"{place}.{name}")
        ]
    if isinstance(mine, list):
        if len(mine) != len(other):
            return [f"{place}: {len(mine)} and {len(other)}"]
        pairs = zip(mine, other, strict=True)
        return [
            found
            for at, (one, its) in enumerate(pairs)
            for found in differences(one, its, f"{place}[{at}]")
        ]
    if isinstance(mine, float) and isinstance(other, float | int):
        return (
            []
            if mine == pytest.approx(other, rel=1e-9, abs=1e-11)
            else [f"{place}: {mine} {other}"]
        )
    return [] if mine == other else [f"{place}: {mine} {other}"]


def as_data(result: fairrec.AuditResult) -> Any:
    """The result, without the note that counts alone have."""
    data = json.loads(result.to_json())
    told = "were not looked at unasked"
    data["warnings"] = [note for note in data["warnings"] if told not in note]
    return data


@pytest.mark.parametrize("given", [tables(), tables(5, n_users=400)], ids=["600", "400"])
def test_the_audit_of_counts_is_that_of_the_users(given):
    # both ends of the search for findings rest on the same cut-off where it is far from any group
    users = fairrec.audit(**group_options(**given, permutations=200))
    counted = fairrec.audit(
        counts=counts_of(given), statistics=fairrec.Statistics(permutations=200)
    )
    assert differences(as_data(users), as_data(counted)) == []
    names = ["metric", "gender", "age", "country", "support", "value", "difference"]
    names += ["value_low", "value_high", "difference_low", "difference_high"]
    mine, its = (one.group_table.select(names).sort(names[:4]) for one in (users, counted))
    assert_frame_equal(mine, its, rel_tol=1e-9)
    assert counted.per_user is None


def test_permutations_of_counts_and_of_users_find_the_same_chance():
    given = tables(2, n_users=1500)
    users = fairrec.audit(**group_options(**given, permutations=600))
    counted = fairrec.audit(
        counts=counts_of(given), statistics=fairrec.Statistics(permutations=600)
    )
    for name, about in users.metrics.items():
        other = counted.metrics[name]
        assert other.chance.mean == pytest.approx(about.chance.mean, rel=0.05)
        assert [one.group for one in other.findings] == [one.group for one in about.findings]
        assert other.verdict.outcome == about.verdict.outcome


def test_several_positives_are_cut_on_levels_with_exact_means():
    given = tables(4, n_users=1200, n_positive=3)
    users = fairrec.audit(**group_options(**given, permutations=200))
    counts = counts_of(given)
    counted = fairrec.audit(counts=counts, statistics=fairrec.Statistics(permutations=200))
    key = ["metric", "gender", "age", "country"]
    both = users.group_table.join(counted.group_table, on=key, suffix="_counted", nulls_equal=True)
    assert both.height == users.group_table.height
    for name in ("value", "difference", "difference_low", "difference_high"):
        assert both[f"{name}_counted"].to_numpy() == pytest.approx(
            both[name].to_numpy(), abs=1e-9, nan_ok=True
        )
    assert users.gap("ndcg@5").size == pytest.approx(counted.gap("ndcg@5").size)
    assert counted.metrics["ndcg@5"].sd == pytest.approx(users.metrics["ndcg@5"].sd)


def test_values_without_bounds_need_levels_and_keep_their_means(tmp_path):
    given = values()
    with pytest.raises(InputError, match=r"revenue has more than 256 different values.*levels"):
        counts_of(given)
    file = tmp_path / "levels.toml"
    counts = counts_of(given, make_levels=file)
    assert_frame_equal(counts.rows, counts_of(given, levels=file).rows)
    users = fairrec.audit(**group_options(**given, permutations=200))
    counted = fairrec.audit(counts=counts, statistics=fairrec.Statistics(permutations=200))
    for name, about in users.metrics.items():
        assert counted.metrics[name].mean == pytest.approx(about.mean)
        assert counted.metrics[name].sd == pytest.approx(about.sd)
        assert counted.metrics[name].gap == pytest.approx(about.gap)
        assert counted.metrics[name].higher_is_better is True


def test_levels_keep_nearly_all_of_the_statistic():
    given = tables(7, n_users=2000, n_positive=3)
    from fairrec.counts.rows import counted_users

    measured = counted_users(counts_of(given)).measured
    cut = measured.on_levels
    for i in range(len(measured.metrics)):
        column, coarse = measured.column(i), cut.column(i)
        squares = ((column.filled - column.mean) ** 2 * column.n + column.inner).sum()
        kept = ((coarse.filled - coarse.mean) ** 2 * coarse.n).sum()
        assert coarse.mean == pytest.approx(column.mean)
        assert 0.995 < kept / squares <= 1 + 1e-12


def test_parts_of_different_users_add_up_to_all_of_them():
    given = tables(3)
    first, second = halves(given)
    parts = [counts_of(first, part="1/2"), counts_of(second, part="2/2")]
    whole = fairrec.audit(counts=counts_of(given), statistics=fairrec.Statistics(permutations=100))
    together = fairrec.audit(counts=parts, statistics=fairrec.Statistics(permutations=100))
    assert differences(as_data(whole), as_data(together)) == []
    assert together.summary.n_users == whole.summary.n_users


def test_covariates_are_a_part_of_the_counts():
    given = {**tables(6, n_users=900), "by": "gender,country", "adjust_for": "age:20"}
    users = fairrec.audit(**group_options(**given, permutations=200))
    counted = fairrec.audit(
        counts=counts_of(given), statistics=fairrec.Statistics(permutations=200)
    )
    assert differences(as_data(users), as_data(counted)) == []
    assert counted.summary.adjustment is not None
    assert counted.summary.adjustment.n_strata == users.summary.adjustment.n_strata


def test_attributes_and_metrics_may_be_some_of_those_counted():
    given = tables(1)
    counts = counts_of(given)
    users = fairrec.audit(
        **group_options(**{**given, "by": "gender", "metrics": "auc"}, permutations=100)
    )
    counted = fairrec.audit(
        counts=counts, by="gender", metrics="auc", statistics=fairrec.Statistics(permutations=100)
    )
    assert differences(as_data(users), as_data(counted)) == []
    with pytest.raises(InputError, match="Did you mean 'age:20'"):
        fairrec.audit(counts=counts, by="age:5")
    with pytest.raises(InputError, match="income"):
        fairrec.audit(counts=counts, by="income")
    with pytest.raises(fairrec.FairRecError, match="map"):
        fairrec.audit(counts=counts, metrics="map@5")


def test_counts_stand_for_themselves():
    given = tables(1)
    counts = counts_of(given)
    for name in ("predictions", "users"):
        with pytest.raises(InputError, match="stand for themselves"):
            fairrec.audit(**group_options(counts=counts, **{name: given[name]}))
    with pytest.raises(InputError, match="Leave out search"):
        fairrec.audit(counts=counts, search="adaptive")
    with pytest.raises(InputError, match="say which end"):
        fairrec.audit(counts=counts, tables=fairrec.Tables(better="auc=lower"))


def test_a_world_with_nothing_to_find_is_found_empty():
    rng = np.random.default_rng(0)
    n = 4000
    table = pl.DataFrame(
        {
            "user_id": np.arange(n),
            "a": rng.choice(["x", "y", "z"], n),
            "b": rng.choice(["u", "v"], n),
            "hit": (rng.random(n) < 0.3).astype(float),
        }
    )
    counts = fairrec.count(values=table, by="a,b", tables=fairrec.Tables(better="hit=higher"))
    result = fairrec.audit(counts=counts, statistics=fairrec.Statistics(permutations=300))
    assert result.metrics["hit"].findings == ()
    assert counts.rows.height < 40


def test_a_saved_audit_of_counts_is_loaded_and_gated(tmp_path):
    given = tables(1)
    file = tmp_path / "counts.parquet"
    from fairrec.counts.table import write_counts

    write_counts(counts_of(given), file)
    result = fairrec.audit(counts=file, statistics=fairrec.Statistics(permutations=200))
    result.save(tmp_path / "audit")
    loaded = fairrec.load(tmp_path / "audit")
    assert loaded.summary.is_aggregates_only
    assert loaded.summary.inputs["counts"].sha256
    assert loaded.to_json() == result.to_json().replace(
        '"is_aggregates_only": false', '"is_aggregates_only": true'
    )


def test_counts_are_not_added_to_themselves_whatever_is_said_of_them(tmp_path):
    counts = counts_of(tables())
    with pytest.raises(InputError, match="named twice"):
        fairrec.audit(counts=[counts, counts], tables=fairrec.Tables(disjoint=True))
    file = tmp_path / "counts.parquet"
    write_counts(counts, file)
    with pytest.raises(InputError, match=r"counts.parquet: is named twice"):
        fairrec.audit(
            counts=[file, tmp_path / "." / "counts.parquet"], tables=fairrec.Tables(disjoint=True)
        )


def test_a_metric_that_nobody_has_is_refused_as_for_users():
    given = tables()
    given["predictions"] = given["predictions"].with_columns(label=pl.lit(0.0))
    counts = counts_of(given)
    for source in ({"counts": counts}, given):
        with pytest.raises(InputError, match="Metric 'auc' is undefined for every user"):
            fairrec.audit(**group_options(**source, permutations=0))


def test_the_call_that_repeats_it_names_what_was_chosen():
    counts = fairrec.count(**group_options(**{**tables(), "metrics": "auc,mrr@8"}))
    chosen = {"by": "gender", "metrics": "mrr@8", "permutations": 20}
    said = fairrec.audit(**group_options(counts=counts, disjoint=True, **chosen)).summary.command
    assert said.startswith("fairrec.audit(counts=counts, by=['gender'], metrics=['mrr@8'], ")
    assert said.endswith("tables=fairrec.Tables(disjoint=True))")
    again = eval(said, {"fairrec": fairrec, "counts": counts})
    assert again.summary.command == said
    assert [*again.metrics] == ["mrr@8"]


@pytest.mark.parametrize(("name", "option"), [("value", "by"), ("level", "adjust_for")])
def test_an_attribute_with_the_name_of_a_column_of_counts_or_of_the_result_is_refused(name, option):
    users = pl.DataFrame({"user_id": range(40), "plan": ["a", "b"] * 20, name: [1, 2] * 20})
    values = pl.DataFrame({"user_id": range(40), "clicks": [1, 0, 0, 1] * 10})
    how = {"by": "plan", option: name}
    with pytest.raises(InputError, match=f"Attribute '{name}' has the name of a column"):
        fairrec.audit(counts=fairrec.count(values=values, users=users, **how))
