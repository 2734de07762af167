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
from fairrec.mitigation.effect import summary_of
from fairrec.mitigation.options import MitigationOptions
from fairrec.mitigation.remedy import record_of
from fairrec.mitigation.schema import MitigationSummary
from fairrec.mitigation.split import read_split
from fairrec.statistics.paired import group_changes
from tests.mitigation.small_change import before_after

OPTIONS = AuditOptions(depth=1, min_support=1, threads=1, seed=7)


def lists_of(n_users: int) -> pl.DataFrame:
    """Two candidates each, the first of which is the target."""
    rows = [(user, item, -item, int(item == 0)) for user in range(n_users) for item in (0, 1)]
    return pl.DataFrame(rows, schema=["user_id", "item_id", "score", "label"], orient="row")


def summary(
    strength="auto", taken=0.5, validation=2, command=None, was_level=False, **changes
) -> MitigationSummary:
    """Of four users, with the targets of some of them to choose by."""
    plan = MitigationOptions("urd@5", strength=strength, reranker="mmr")
    seen = before_after(**changes)
    users = pl.DataFrame({"user_id": range(4), "gender": [*"FFXX"]})
    items = pl.DataFrame({"item_id": [0, 1], "categories": [["a"], ["b"]]})
    tables = TableOptions(users=users, by="gender", items=items, metrics=["urd@5", "ndcg@5"])
    split = read_split(lists_of(4), lists_of(validation), tables, seed=0)
    record = record_of(plan, ("gender",), seen.choice, seen.aim)
    metrics = seen.measures.metrics
    grouping = Grouping.of(seen.users, OPTIONS)
    groups = group_changes(seen.measures.directions, seen.before, seen.after, grouping, 0.05)
    audits = [
        {metric.name: SimpleNamespace(gap=gap, chance=None) for metric in metrics}
        for gap in (0.4, 0.1)
    ]
    record = record.model_copy(update={"strength": taken})
    return summary_of(
        plan, OPTIONS, split, record, seen, groups, audits, was_level, (), (), command
    )


def test_effects_are_told_for_the_chosen_the_others_and_everyone():
    effect = summary().effects["urd@5"]
    assert [
        (part.n_users, part.before, part.after)
        for part in (effect.chosen, effect.others, effect.everyone)
    ] == [
        (2, approx(0.3), approx(0.5)),
        (2, approx(0.6), approx(0.6)),
        # two of four users gain 0.2
        (4, approx(1.8 / 4), approx((1.8 + 2 * 0.2) / 4)),
    ]
    assert (effect.gap.before, effect.gap.after) == (0.4, 0.1)


def test_the_plan_the_users_and_the_call_are_named():
    told = summary()
    assert (told.metric, told.cost_metric, told.reranker) == ("urd@5", "ndcg@5", "mmr")
    assert (told.seed, told.k, told.strength, told.is_tuned) == (7, 5, 0.5, True)
    assert (told.n_users_choosing, told.n_users_tuning, told.n_users_reported) == (2, 1, 4)
    # the two have one target each, and it is the same in both tables
    assert told.n_shared_targets == 2
    assert "metric='urd@5'" in told.command
    assert summary(command="fairrec mitigate a").command == "fairrec mitigate a"
    assert not summary(strength=0.5).is_tuned


def test_the_reader_is_told_what_is_out_of_the_ordinary():
    assert summary(validation=4).notes == ()
    (others,) = summary(validation=2).notes
    assert re.findall(r"\d+", others) == ["2", "4"]
    (nothing,) = summary(validation=4, taken=0.0).notes
    assert "No strength" in nothing and "nothing is changed" in nothing
    (level,) = summary(validation=4, taken=0.0, was_level=True).notes
    assert "one standard error" in level and "nothing is changed" in level
    # a strength of 0 that was asked for is no surprise
    assert summary(validation=4, taken=0.0, strength=0.0).notes == ()
    choice = before_after().choice
    nobody = type(choice)(choice.groups, (), np.zeros(4, dtype=bool))
    assert len(summary(validation=4, choice=nobody).notes) == 1
