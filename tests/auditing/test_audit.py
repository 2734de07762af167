"""The conductor of an audit: how far it is from the call to the arithmetic."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType

import polars as pl
import pytest

import fairrec
from fairrec.core.errors import InputError
from fairrec.metrics import METRICS, metric
from fairrec.statistics.draws import PermutedSums
from tests.builders import make_tables

PACKAGE = str(Path(fairrec.__file__).parent)
MOST_CALLS = 4


def calls_of(frame: FrameType | None) -> list[str]:
    """The functions of FairRec on a stack, the outermost first.

    But for the map over threads, and what stands around the audit to see which options are given.
    """
    found = []
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(PACKAGE) and not file.endswith(("core/threads.py", "audit_call.py")):
            found.append(frame.f_code.co_qualname)
        frame = frame.f_back
    return found[::-1]


def audit_tables(**options):
    tables = make_tables(40)
    # everyone has something relevant: the share of users without is permuted too
    everyone = tables.predictions.with_columns(
        label=pl.when(pl.col("score") == pl.col("score").max().over("user_id"))
        .then(1)
        .otherwise("label")
    )
    settings = {"metrics": "ndcg", "permutations": 3, "threads": 1, "min_support": 1, **options}
    return fairrec.audit(everyone, users=tables.users, by="gender", **settings)


def test_from_the_audit_to_a_metric_it_is_not_far():
    chains = []

    @metric("noted")
    def noted(lists):
        """Notes how it was called."""
        chains.append(calls_of(sys._getframe(1)))
        return lists.labels(1)[:, 0]

    try:
        audit_tables(metrics="noted")
    finally:
        METRICS.remove("noted")
    assert [chain[0] for chain in chains] == ["audit"]
    # the call of the metric itself is one too
    assert all(len(chain) <= MOST_CALLS for chain in chains), chains


def test_from_the_audit_to_a_permutation_it_is_not_far(monkeypatch: pytest.MonkeyPatch):
    chains, cell_sums = [], PermutedSums.cell_sums

    def noted(self, seed, number):
        chains.append(calls_of(sys._getframe(1)))
        return cell_sums(self, seed, number)

    monkeypatch.setattr(PermutedSums, "cell_sums", noted)
    audit_tables(permutations=3)
    assert len(chains) == 3
    for chain in chains:
        assert chain[0] == "audit"
        assert len(chain) <= MOST_CALLS, chain


def test_without_labels_the_metrics_are_those_the_other_tables_allow():
    tables = make_tables(60)
    lists = tables.predictions.drop("label")
    found = fairrec.audit(
        lists, users=tables.users, by="gender", items=tables.items, history=tables.history
    )
    assert [*found.metrics] == ["urd@5", "urp@5"]
    found = fairrec.audit(lists, users=tables.users, by="gender", history=tables.history)
    assert [*found.metrics] == ["urp@5"]


def test_without_labels_and_other_tables_nothing_can_be_measured():
    tables = make_tables(20)
    with pytest.raises(
        InputError,
        match=r"without a label column.*columns={'label': \.\.\.}\. Or name .* with items=\.\.\.",
    ):
        fairrec.audit(tables.predictions.drop("label"), users=tables.users, by="gender")


def test_no_group_is_large_enough():
    users = pl.DataFrame({"user_id": range(4), "gender": ["a", "b", "c", "d"]})
    lists = pl.DataFrame(
        {"user_id": range(4), "item_id": [1] * 4, "score": [1.0] * 4, "label": [1] * 4}
    )
    with pytest.raises(InputError, match="No group has 2 users"):
        fairrec.audit(lists, users=users, by="gender", metrics="ndcg", min_support=2)
    with pytest.raises(InputError) as raised:
        fairrec.audit(lists, users=users, by="gender", metrics="ndcg")
    assert str(raised.value) == (
        "No group has 10 users (smallest group: 0.1% of users, at least 10; 4 users in all). Lower "
        "min_support (min_support=1: groups of any size), or name fewer attributes in by."
    )


def test_very_many_values_are_no_matter_of_the_smallest_group():
    tables = make_tables(100)
    numbers = tables.users.with_columns(x=pl.int_range(pl.len()) * 3)
    with pytest.raises(InputError) as raised:
        fairrec.audit(tables.predictions, users=numbers, by="x")
    assert str(raised.value) == (
        "No group has 10 users (smallest group: 0.1% of users, at least 10; 100 users in all). The "
        "attribute 'x' has 100 different numbers; to group near ones, bin it: x:q5."
    )
    texts = numbers.with_columns(pl.col("x").cast(pl.String) + " street")
    with pytest.raises(InputError, match=r"looks like an id or free text; leave it out") as raised:
        fairrec.audit(tables.predictions, users=texts, by="x")
    assert "min_support" not in str(raised.value)


def test_the_smallest_group_is_told_as_it_was_asked_for():
    usual, papers = (audit_tables(min_support=support) for support in (None, 0.001))
    assert usual.summary.coverage.min_users == 10
    assert usual.summary.coverage.min_support is None
    assert "min_support=None" in usual.summary.command
    assert papers.summary.coverage.min_users == 1
    assert papers.summary.coverage.min_support == 0.001
    assert "min_support=0.001" in papers.summary.command
