"""The conductor of an audit: how far it is from the call to the arithmetic."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec import Engine
from fairrec.auditing import audit as audit_module
from fairrec.auditing import count
from fairrec.auditing.call_repr import Variable, write_call
from fairrec.auditing.measurement import build_strata
from fairrec.core.audit_options import About, AuditOptions
from fairrec.core.errors import InputError
from fairrec.groups.grouping import EVERYONE
from fairrec.inputs.partition import open_parts
from fairrec.metrics import METRICS, metric
from fairrec.metrics.reading import read_inputs
from fairrec.search.searcher import SEARCHERS, Task, searcher
from fairrec.search.searchers.listed import ListedGroups
from fairrec.statistics.draws import PermutedSums
from tests.builders import make_tables
from tests.counts.small_counts import BY, counts_of, tables
from tests.grouped_options import group_options

PACKAGE = str(Path(fairrec.__file__).parent)
MOST_CALLS = 6


def calls_of(frame: FrameType | None) -> list[str]:
    """The functions of FairRec on a stack, the outermost first.

    But for the map over threads, and what stands around the audit to see which options are given.
    """
    found = []
    while frame is not None:
        file = frame.f_code.co_filename
        beside = ("core/threads.py", "core/options.py", "choices.py")
        if file.startswith(PACKAGE) and not file.endswith(beside):
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
    return fairrec.audit(everyone, **group_options(users=tables.users, by="gender", **settings))


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
        # two more, for blocks of draws
        assert len(chain) <= MOST_CALLS + 2, chain


def test_without_labels_the_metrics_are_those_the_other_tables_allow():
    tables = make_tables(60)
    lists = tables.predictions.drop("label")
    found = fairrec.audit(
        lists, users=tables.users, by="gender", items=tables.items, history=tables.history
    )
    assert [*found.metrics] == ["urd@5", "urp@5"]
    found = fairrec.audit(lists, users=tables.users, by="gender", history=tables.history)
    assert [*found.metrics] == ["urp@5"]


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


def test_users_in_the_same_covariates_are_one_stratum():
    given = {**tables(), "by": "gender"}
    inputs, _ = read_inputs(**{**given, "adjust_for": "country,age:20"})
    strata = build_strata(inputs.covariates)
    country, age = (one.codes for one in inputs.covariates)
    assert strata.n_strata == len({*zip(country.tolist(), age.tolist(), strict=True)})
    for stratum in range(strata.n_strata):
        users = np.flatnonzero(strata.of_user == stratum)
        assert len({*country[users].tolist()}) == len({*age[users].tolist()}) == 1
    assert build_strata(read_inputs(**given)[0].covariates) is None


def test_lists_are_looked_at_where_there_are_some():
    given = tables()
    # lists of men are half as long, and so their users are found by fewer candidates
    men = given["users"].filter(gender="M")["user_id"]
    rows = given["predictions"]
    shorter = rows.filter(~(rows["user_id"].is_in(men.to_list()) & (rows["item_id"] >= 4)))
    given = {**given, "predictions": shorter, "metrics": "mrr@8", "by": "gender"}
    users = fairrec.audit(**group_options(**given, permutations=200))
    counted = fairrec.audit(
        counts=counts_of(given), statistics=fairrec.Statistics(permutations=200)
    )
    assert users.summary.confounders
    assert counted.summary.confounders == ()
    assert users.per_user is not None
    assert counted.per_user is None


def test_everything_that_changes_a_number_is_in_the_call():
    options = AuditOptions(depth=2, tolerance="5%", permutations=9, engine=Engine(threads=1))
    given = {"predictions": Variable("predictions"), "search": fairrec.Search("random")}
    call = write_call(given, options, About(title="Spring"))
    assert call.startswith("fairrec.audit(predictions, tolerance='5%', depth=2, search=fairrec.")
    assert call.endswith(
        "statistics=fairrec.Statistics(permutations=9), about=fairrec.About(title='Spring'))"
    )
    assert "threads" not in call


@pytest.fixture
def tasks() -> Iterator[list[Task]]:
    """What the searchers 'plain' and 'guided' were built for; they score everyone."""
    built: list[Task] = []

    def probe(task: Task, hyper: object) -> ListedGroups:
        built.append(task)
        return ListedGroups(np.array([EVERYONE]))

    searcher("plain", "notes its task", searches_all=True)(probe)
    searcher("guided", "notes its task", searches_all=True, uses_proxy=True)(probe)
    yield built
    SEARCHERS.remove("plain")
    SEARCHERS.remove("guided")


def audit_by(search: str, **options: Any) -> fairrec.AuditResult:
    tables = make_tables()
    given = {"users": tables.users, "by": "gender,member", "metrics": "auc"}
    given |= {"permutations": 19, "min_support": 1}
    return fairrec.audit(tables.predictions, **group_options(**{**given, **options}, search=search))


@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_a_searcher_knows_the_significance_level_of_the_audit(tasks, alpha):
    audit_by("plain", alpha=alpha)
    assert [task.alpha for task in tasks] == [alpha]


def test_the_history_is_read_only_for_a_searcher_that_uses_the_popularity_proxy(tasks):
    unusable = pl.DataFrame({"user_id": [1]})
    audit_by("plain", history=unusable)
    with pytest.raises(InputError, match="item_id"):
        audit_by("guided", history=unusable)


def score(users, items):
    """Some order, other for each user."""
    return np.sin(7.0 * users + 3.0 * items)


@pytest.fixture
def candidates(tmp_path):
    given = tables()
    given["predictions"].drop("score").write_parquet(tmp_path / "candidates.parquet")
    given["users"].write_parquet(tmp_path / "users.parquet")
    return {
        "predictions": str(tmp_path / "candidates.parquet"),
        "users": str(tmp_path / "users.parquet"),
        "by": BY,
        "metrics": "auc,mrr@8",
    }


def test_parts_are_scored_as_the_whole(candidates, monkeypatch):
    whole = fairrec.audit(**group_options(**candidates, scorer=score, permutations=50))
    monkeypatch.setattr(count, "open_parts", partial(open_parts, n_rows=900))
    monkeypatch.setattr(audit_module, "is_large", lambda *_: True)
    found = fairrec.audit(**group_options(**candidates, scorer=score, permutations=50))
    for name, about in whole.metrics.items():
        assert found.metrics[name].mean == pytest.approx(about.mean, rel=1e-12)
        assert found.metrics[name].gap == pytest.approx(about.gap)
    assert found.per_user_parts.collect().height == whole.per_user.height
    # a search is not of everyone, and stays as it is
    some = fairrec.audit(
        **group_options(
            **candidates, scorer=score, search=fairrec.Search("adaptive", budget_users=300)
        )
    )
    assert some.summary.search.users_scored == 300
    assert isinstance(found.per_user_parts, pl.LazyFrame)
