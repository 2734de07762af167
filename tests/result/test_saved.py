"""The files of a saved audit."""

from __future__ import annotations

import polars as pl
import pytest

import fairrec
from fairrec.core.errors import InputError
from fairrec.result.saved import load_per_user, load_summary, refuse_other_groups
from tests.builders import audit, two_groups
from tests.workflows.two_sides import audit_items

METRIC = "mrr@5"


def test_groups_may_be_hidden_and_none_added():
    result = audit(*two_groups(), by="group")
    table = result.group_table
    refuse_other_groups(table, result.summary)
    shown = result.shown(10_000)
    refuse_other_groups(shown.group_table, shown.summary)
    for other in (
        *(table.vstack(table), table.head(1), table.head(0)),
        *(table.drop(name) for name in ("group", "metric", "depth", "support", "difference")),
        table.with_columns(pl.col("support").cast(pl.String)),
        *(table.with_columns(pl.lit(float("nan")).alias(name)) for name in ("value", "p_adjusted")),
    ):
        with pytest.raises(InputError, match="does not belong to this result"):
            refuse_other_groups(other, result.summary)


def test_groups_of_another_audit_with_as_many_are_refused():
    predictions, users = two_groups()
    result = audit(predictions, users, by="group")
    other = result.group_table.with_columns(value=pl.col("value") / 2)
    with pytest.raises(InputError, match="does not belong to this result"):
        refuse_other_groups(other, result.summary)


def test_a_group_of_everyone_has_a_row_though_it_is_compared_with_nobody():
    predictions, users = two_groups()
    result = audit(predictions, users.with_columns(land=pl.lit("x")), by="group,land")
    assert result.group_table["difference"].null_count() > 0
    refuse_other_groups(result.group_table, result.summary)


def test_users_that_were_not_saved_are_none(tmp_path):
    result = audit(*two_groups(), by="group")
    assert load_per_user(tmp_path, result.summary) is None


def test_means_over_items_are_compared_and_ratios_of_sums_are_not(tmp_path):
    result = audit_items(permutations=0)
    result.per_user.write_parquet(tmp_path / "per_user.parquet")
    assert load_per_user(tmp_path, result.summary).equals(result.per_user)
    ratio = "exposure_to_relevance@5"
    mean = result.per_user[ratio].mean()
    assert mean != pytest.approx(result.metrics[ratio].mean, rel=0.05)
    halved = result.per_user.with_columns(pl.col("exposure@5") / 2)
    halved.write_parquet(tmp_path / "per_user.parquet")
    with pytest.raises(InputError, match="has a mean exposure@5 of"):
        load_per_user(tmp_path, result.summary)


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda users: users.head(3), "has 3 users and result.json"),
        (lambda users: users.drop("group"), "has no column group"),
        (lambda users: users.drop("user_id"), "has no column user_id"),
        (lambda users: users.drop(METRIC), f"has no column {METRIC}"),
        (lambda users: users.with_columns(user_id=pl.lit(None)), "without an id"),
        (lambda users: users.with_columns(user_id=pl.lit(1)), "more than once"),
        (lambda users: users.with_columns(pl.col(METRIC).cast(pl.String)), "has no numbers"),
        (lambda users: users.with_columns(pl.col(METRIC) / 2), f"has a mean {METRIC} of"),
        (lambda users: users.with_columns(pl.lit(float("nan")).alias(METRIC)), "has no numbers"),
        (lambda users: users.with_columns(group=pl.lit(None, pl.String)), "without a text in"),
        (lambda users: users.with_columns(group=pl.lit(1)), "without a text in column group"),
        (
            lambda users: users.with_columns(pl.lit(None, pl.Float64).alias(METRIC)),
            f"has 0 values of {METRIC} and result.json",
        ),
    ],
)
def test_users_of_another_audit_are_refused(tmp_path, spoil, says):
    result = audit(*two_groups(), by="group")
    file = tmp_path / "per_user.parquet"
    result.per_user.write_parquet(file)
    assert load_per_user(tmp_path, result.summary).equals(result.per_user)
    spoil(result.per_user).write_parquet(file)
    with pytest.raises(InputError, match=says):
        load_per_user(tmp_path, result.summary)


def test_a_group_alone_in_its_circumstances_is_counted_and_not_compared():
    users = pl.DataFrame({"user_id": range(90), "seg": ["a", "b", "c"] * 30})
    users = users.with_columns(land=pl.col("seg") == "a").cast({"land": pl.String})
    values = pl.DataFrame({"user_id": range(90), "clicks": [0, 1, 2, 3, 4] * 18})
    result = fairrec.audit(values=values, users=users, by="seg", given="land")
    assert result.group_table["difference"].null_count() > 0
    refuse_other_groups(result.group_table, result.summary)


@pytest.mark.parametrize(
    "part", [{"matters": "xyz"}, {"matters": "-1"}, {"attributes": {}}, {"metrics": {}}]
)
def test_a_summary_that_nothing_can_be_made_of_is_refused(tmp_path, part):
    summary = audit(*two_groups(), by="group", matters="mrr@5=0.1").summary
    file = tmp_path / "result.json"
    file.write_text(summary.model_dump_json())
    assert load_summary(tmp_path) == summary
    file.write_text(summary.model_copy(update=part).model_dump_json())
    with pytest.raises(InputError, match="is no result of FairRec"):
        load_summary(tmp_path)
    said = summary.metrics["mrr@5"].verdict.model_dump_json()
    below = said.replace('"matters":0.1', '"matters":-0.1')
    assert below != said
    file.write_text(summary.model_dump_json().replace(said, below))
    with pytest.raises(InputError, match="is no result of FairRec"):
        load_summary(tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        {"support": pl.lit(None, pl.Int64)},
        {"depth": pl.lit(None, pl.Int64)},
        {"outcome": pl.lit(1.5)},
        {"is_fully_scored": pl.lit("yes")},
        {"value": pl.lit("0.5")},
        {"shrunken": pl.lit(float("nan"))},
        {"p_adjusted": pl.lit(float("inf"))},
        {"difference": pl.lit(1e308)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_groups_of_other_types_or_without_users_are_refused(change):
    result = audit(*two_groups(), by="group")
    other = result.group_table.with_columns(**change)
    with pytest.raises(InputError, match="does not belong to this result"):
        refuse_other_groups(other, result.summary)
