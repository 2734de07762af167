"""A mitigation in named parts."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import polars as pl
from pytest import approx

from fairrec.core.audit_options import AuditOptions
from fairrec.groups.grouping import Grouping
from fairrec.inputs.table_options import TableOptions
from fairrec.mitigation.options import MitigationOptions
from fairrec.mitigation.record import record_of
from fairrec.mitigation.split import read_split
from fairrec.mitigation.summary import summary_of
from fairrec.result.mitigation_schema import MitigationSummary
from fairrec.statistics.paired import group_changes
from tests.mitigation.small_change import before_after

OPTIONS = AuditOptions(depth=1, min_support=1, threads=1, seed=7)


def lists_of(n_users: int) -> pl.DataFrame:
    """Two candidates each, the first of which is the target."""
    rows = [(user, item, -item, int(item == 0)) for user in range(n_users) for item in (0, 1)]
    return pl.DataFrame(rows, schema=["user_id", "item_id", "score", "label"], orient="row")


def summary(
    strength="auto", taken=0.5, validation=4, command=None, was_level=False, **changes
) -> MitigationSummary:
    """Of six users, with the targets of some of them to choose by."""
    plan = MitigationOptions("urd@5", strength=strength, reranker="mmr")
    seen = before_after(**changes)
    users = pl.DataFrame({"user_id": range(6), "gender": [*"FFMMXX"]})
    items = pl.DataFrame({"item_id": [0, 1], "categories": [["a"], ["b"]]})
    tables = TableOptions(users=users, by="gender", items=items, metrics=["urd@5", "ndcg@5"])
    split = read_split(lists_of(6), lists_of(validation), tables, seed=0)
    record = record_of(plan, ("gender",), seen.choice, seen.aim)
    metrics = seen.measures.metrics
    grouping = Grouping.of(seen.users, OPTIONS)
    groups = group_changes(
        seen.measures.directions, seen.before, seen.after, seen.pool, grouping, 0.05
    )
    audits = [
        {metric.name: SimpleNamespace(gap=gap, chance=None) for metric in metrics}
        for gap in (0.4, 0.1)
    ]
    record = record.model_copy(update={"strength": taken})
    return summary_of(
        plan, OPTIONS, split, record, seen, groups, audits, was_level, (), (), command
    )


def test_effects_are_told_for_the_chosen_the_lowered_the_others_and_everyone():
    effect = summary().effects["urd@5"]
    assert [
        (part.n_users, part.before, part.after)
        for part in (effect.chosen, effect.lowered, effect.others, effect.everyone)
    ] == [
        (2, approx(0.3), approx(0.5)),
        (2, approx(0.7), approx(0.6)),
        (2, approx(0.6), approx(0.6)),
        # of six users two gain 0.2 and two lose 0.1
        (6, approx(3.2 / 6), approx((3.2 + 2 * 0.2 - 2 * 0.1) / 6)),
    ]
    assert (effect.gap.before, effect.gap.after) == (0.4, 0.1)


def test_where_nobody_is_lowered_nothing_is_told_of_them():
    choice = before_after().choice
    raised = type(choice)(choice.groups, (), choice.groups, choice.is_tuned)
    told = summary(choice=raised, position=np.array([0, 0, -1, -1, -1, -1]))
    assert told.effects["urd@5"].lowered is None
    assert told.effects["urd@5"].others.n_users == 4


def test_the_plan_the_users_and_the_call_are_named():
    told = summary()
    assert (told.metric, told.cost_metric, told.reranker) == ("urd@5", "ndcg@5", "mmr")
    assert (told.seed, told.k, told.strength, told.is_tuned) == (7, 5, 0.5, True)
    assert (told.n_users_choosing, told.n_users_tuning, told.n_users_reported) == (4, 1, 6)
    # the four have one target each, and it is the same in both tables
    assert told.n_shared_targets == 4
    assert "metric='urd@5'" in told.command
    assert summary(command="fairrec mitigate a").command == "fairrec mitigate a"
    assert not summary(strength=0.5).is_tuned


def test_the_reader_is_told_what_is_out_of_the_ordinary():
    assert summary(validation=6).notes == ()
    (others,) = summary(validation=4).notes
    assert re.findall(r"\d+", others) == ["4", "6"]
    (nothing,) = summary(validation=6, taken=0.0).notes
    assert "No strength" in nothing and "nothing is changed" in nothing
    (level,) = summary(validation=6, taken=0.0, was_level=True).notes
    assert "one standard error" in level and "nothing is changed" in level
    # a strength of 0 that was asked for is no surprise
    assert summary(validation=6, taken=0.0, strength=0.0).notes == ()
    choice = before_after().choice
    nobody = type(choice)(choice.groups, choice.lowered, (), np.zeros(4, dtype=bool))
    assert len(summary(validation=6, choice=nobody).notes) == 1
