"""Audits that score only the users a searcher asks for, from Python and the command line."""

from __future__ import annotations

import json
import math
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from pytest import approx

import fairrec
from fairrec.core.errors import InputError, ScoringError
from fairrec.report.audit_result import AuditResult
from fairrec.report.view import build_view
from fairrec.search.options import Search
from fairrec.search.searcher import SEARCHERS
from tests.builders import numbers_of, without_origin
from tests.end_to_end.command_line import run_here
from tests.grouped_options import group_options
from tests.worlds import random_world

N_USERS, N_ITEMS, MIN_USERS = 400, 100, 5
BY = ["gender", "age"]
COSTS = (
    *("users_paid", "users_before", "rows_paid", "calls", "seconds_scoring"),
    "spent_in_all",
)
ALL = list(SEARCHERS)

every_searcher = pytest.mark.parametrize("name", ALL)


def world(seed: int = 3, n_users: int = N_USERS) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Users, and predictions in another order; women of 25 to 34 are served worse."""
    worse_served = {"gender": "F", "age": "25-34"}
    users, predictions = random_world(n_users, worse_served, effect=2.0, seed=seed)
    return users, predictions.sample(fraction=1.0, shuffle=True, seed=seed)


USERS, PREDICTIONS = world()


class Model:
    """A scorer that knows the scores of a table, notes who is asked for, and may fail."""

    def __init__(self, predictions: pl.DataFrame = PREDICTIONS, fails_at_call: int = -1) -> None:
        n_users = predictions.height
        self._scores = np.full((n_users, N_ITEMS), np.nan)
        items = np.stack(predictions["item_id"].to_list())
        rows = predictions["user_id"].to_numpy()[:, None]
        self._scores[rows, items] = predictions["score"].to_list()
        self.calls: list[list[int]] = []
        self.fails_at_call = fails_at_call

    def __call__(self, users: np.ndarray, items: np.ndarray) -> np.ndarray:
        asked = list(dict.fromkeys(users.tolist()))
        if len(self.calls) == self.fails_at_call:
            self.calls.append([])
            raise ConnectionError("the service went away")
        self.calls.append(asked)
        return self._scores[users, items]

    @property
    def asked(self) -> list[int]:
        return [user for call in self.calls for user in call]


def audit(search: Search | str | None = None, **more: Any) -> AuditResult:
    settings = {
        "predictions": PREDICTIONS,
        "users": USERS,
        "by": BY,
        "metrics": "auc,mrr@5",
        "permutations": 39,
        "min_support": MIN_USERS,
        "threads": 1,
        "search": search,
        # two models of one name, so that one can go on where the other failed
        **({"scorer_identity": "model"} if "scorer" in more else {}),
        **more,
    }
    return fairrec.audit(settings.pop("predictions"), **group_options(**settings))


def answer_of(result: AuditResult | Path, *also_left_out: str) -> dict[str, Any]:
    """All of `result.json` but the origin, more parts of the search, and ties, of tables alone."""
    numbers = {name: value for name, value in numbers_of(result).items() if name != "ties"}
    left_out = ("model_identity", "has_table", *also_left_out)
    numbers["search"] = {k: v for k, v in numbers["search"].items() if k not in left_out}
    return numbers


def full_groups(result: AuditResult, metric: str) -> dict[tuple[str, ...], tuple[int, list[float]]]:
    """Full combinations with their number of users and the values that are known."""
    found: dict[tuple[str, ...], tuple[int, list[float]]] = {}
    for *labels, value in result.per_user.select(*BY, metric).iter_rows():
        n, values = found.get(tuple(labels), (0, []))
        found[tuple(labels)] = (n + 1, values + ([] if value is None else [value]))
    return found


def fully_scored(result: AuditResult, metric: str) -> dict[tuple[str, ...], float]:
    """The values of full intersections of enough users, all of whom are scored."""
    return {
        labels: sum(values) / n
        for labels, (n, values) in full_groups(result, metric).items()
        if n >= MIN_USERS and n == len(values)
    }


@cache
def searched_table(name: str) -> AuditResult:
    """A search of less than half of the users."""
    return audit(Search(name, budget_users="45%", reference=0.2))


@every_searcher
def test_a_table_with_scores_and_a_scorer_give_the_same_result_on_any_number_of_threads(name):
    model, by_table = Model(), searched_table(name)
    by_model = audit(
        Search(name, budget_users="45%", reference=0.2),
        predictions=PREDICTIONS.drop("score"),
        scorer=model,
        threads=2,
    )
    assert answer_of(by_model) == answer_of(by_table)
    assert by_model.group_table.equals(by_table.group_table)
    assert by_model.per_user.equals(by_table.per_user)
    scored = by_model.per_user.filter(pl.col("auc").is_not_null())["user_id"].to_list()
    assert (by_table.summary.search.has_table, by_model.summary.search.has_table) == (True, False)
    assert sorted(model.asked) == scored
    assert len(model.calls) == by_model.summary.search.calls


@every_searcher
def test_with_everyone_scored_the_result_is_that_of_the_plain_audit(name):
    plain = audit(top=3)
    result = audit(Search(name, reference=1), top=3)
    assert result.summary.search.users_scored == N_USERS
    assert result.metrics == plain.metrics
    assert result.summary.coverage == plain.summary.coverage
    assert result.warnings == plain.warnings
    assert result.group_table.equals(plain.group_table)
    assert result.per_user.equals(plain.per_user)
    summary = result.summary.search
    assert (summary.n_fully_scored, summary.n_not_fully_scored) == (
        plain.summary.coverage.n_full,
        0,
    )
    assert [metric.may_be_larger_by for metric in summary.metrics.values()] == [0, 0]


@every_searcher
def test_the_summary_says_what_was_scored_and_found(name):
    result = searched_table(name)
    search, n_allowed = result.summary.search, 180
    n_scored = result.per_user["auc"].count()
    assert search.name == name
    assert search.budget_users == n_allowed
    assert search.users_scored == n_scored <= n_allowed
    assert search.users_total == N_USERS
    assert search.ending == ("users spent" if n_scored == n_allowed else "finished")
    assert search.users_reference == (n_scored if name == "exact" else math.ceil(n_allowed / 5))
    assert (search.users_paid, search.users_before) == (n_scored, 0)
    assert search.rows_paid == 20 * n_scored
    assert 1 <= search.calls <= n_scored
    n_full = result.summary.coverage.n_full
    assert search.n_fully_scored + search.n_not_fully_scored == n_full
    for metric, found in result.metrics.items():
        assert found.n_defined == n_scored
        means = fully_scored(result, metric)
        assert search.n_fully_scored == len(means)
        history = search.metrics[metric].history
        users, gaps = [p.users for p in history], [p.gap for p in history]
        assert users == sorted(set(users))
        assert gaps == sorted(gaps)
        if not means:
            assert (found.gap, history) == (None, ())
            continue
        gap = max(means.values()) - min(means.values())
        assert gaps[-1] == approx(gap, abs=1e-12)
        if len(means) == 1:
            assert found.gap is None
            with pytest.raises(InputError, match="no gap, as fewer than two intersections"):
                result.gap(metric)
            # one group is no end of anything
            assert found.advantaged is found.disadvantaged is None
            continue
        assert found.gap == approx(gap, abs=1e-12)
        assert users[-1] <= n_scored
        for end, value in (
            (found.advantaged, max(means.values())),
            (found.disadvantaged, min(means.values())),
        ):
            assert end.value == approx(value, abs=1e-12)
            assert means[tuple(end.group.values())] == approx(value, abs=1e-12)
        bound = search.metrics[metric].may_be_larger_by
        assert (bound is not None) == (name == "adaptive")
    assert search.confidence == (0.95 if name == "adaptive" else None)


@pytest.mark.parametrize("name", ["adaptive", "fairas"])
def test_a_scorer_that_fails_names_its_users_and_its_ledger_serves_the_next_run(name, tmp_path):
    untested = {"predictions": PREDICTIONS.drop("score"), "permutations": 0}
    options = Search(name, budget_users="80%", ledger=tmp_path / "ledger.db")
    sound = Model()
    unbroken = audit(Search(name, budget_users="80%"), **untested, scorer=sound)
    broken = Model(fails_at_call=1)
    assert len(sound.calls) > 1
    with pytest.raises(ScoringError, match="the service went away") as caught:
        audit(options, **untested, scorer=broken)
    n_asked = len(sound.calls[1])
    assert f"on a batch of {n_asked} user{'s' if n_asked > 1 else ''} (" in str(caught.value)
    for user in sound.calls[1][:3]:
        assert re.search(rf"\b{user}\b", str(caught.value))
    fixed = Model()
    result = audit(options, **untested, scorer=fixed)
    assert broken.asked == sound.calls[0]
    # asked for no user twice
    assert sorted(broken.asked + fixed.asked) == sorted(sound.asked)
    assert answer_of(result, *COSTS) == answer_of(unbroken, *COSTS)
    assert result.per_user.equals(unbroken.per_user)
    search = result.summary.search
    assert search.users_before == len(broken.asked) > 0
    assert search.users_paid == len(fixed.asked)
    assert search.users_scored == search.users_before + search.users_paid
    # and a third run asks for nobody
    third = Model()
    again = audit(options, **untested, scorer=third)
    assert third.calls == []
    assert answer_of(again, *COSTS) == answer_of(unbroken, *COSTS)


def with_scores(scores: np.ndarray) -> pl.DataFrame:
    return PREDICTIONS.with_columns(pl.Series("score", scores))


def test_a_finding_that_rests_on_part_of_a_group_says_so():
    gender = PREDICTIONS.join(USERS, on="user_id", how="left", maintain_order="left")["gender"]
    is_worse = (gender == "F").to_numpy()[:, None]
    scores = PREDICTIONS["score"].to_numpy() - 5 * is_worse * PREDICTIONS["label"].to_numpy()
    result = audit(Search("random", budget_users="60%"), predictions=with_scores(scores))
    part = [
        f for name in result.metrics for f in result.metric(name).findings if not f.is_fully_scored
    ]
    assert part
    for finding in part:
        assert finding.support < finding.n_users
    shown = [row for row in build_view(result.summary).findings.rows if " of " in row[2]]
    assert shown[0][2] == f"{part[0].support:,} of {part[0].n_users:,}"


def test_a_metric_that_is_undefined_for_all_is_refused():
    nobody = PREDICTIONS.with_columns(label=np.zeros((N_USERS, 20), dtype=np.int8))
    with pytest.raises(InputError, match=r"'auc' is undefined for all of 40 users.*Leave it out"):
        audit(Search("dpso", budget_users=40, reference=1), predictions=nobody)


def test_adaptive_without_a_budget_finds_the_gap_and_says_how_sure_it_is():
    result = audit(Search("adaptive", hyper={"findings": 0}))
    exact = audit()
    search = result.summary.search
    assert search.ending == "finished"
    assert search.users_scored < N_USERS
    for metric in exact.metrics:
        found, true = result.metric(metric), exact.metric(metric)
        assert found.gap == approx(true.gap, rel=0.02)
        assert 0 <= search.metrics[metric].may_be_larger_by <= 0.01 * found.gap


# the command line


SEARCH = ("audit", "predictions.parquet", "--users", "users.parquet", "--by", "gender,age")
FEW = ("--metrics", "auc,mrr@5", "--permutations", "39", "--min-support", "5")


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    USERS.write_parquet(tmp_path / "users.parquet")
    PREDICTIONS.write_parquet(tmp_path / "predictions.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def searched(*options: str) -> dict[str, Any]:
    """The printed result of an audit by the command line."""
    ran = run_here(*SEARCH, *FEW, *options, "--format", "json")
    assert (ran.code, ran.stderr) == (0, "")
    return json.loads(ran.stdout)


def test_the_command_gives_the_result_of_the_library(tables: Path):
    printed = searched(
        *("--search", "adaptive", "--budget-users", "60%", "--reference", "0.3", "--top", "3"),
        *("--hyper", "steps=8", "--hyper", "findings=0.25", "--seed", "4", "--threads", "1"),
    )
    hyper = {"steps": 8, "findings": 0.25}
    options = Search("adaptive", budget_users="60%", reference=0.3, hyper=hyper)
    result = audit(options, top=3, seed=4)
    printed = without_origin(printed)
    del printed["search"]["model_identity"]
    assert printed["search"].pop("has_table")
    assert printed.pop("ties")["n_tied"] == 0
    assert printed == answer_of(result)
    assert printed["search"]["users_scored"] == 240
    assert printed["search"]["users_reference"] == 72
    assert printed["search"]["hyper_parameters"]["steps"] == 8
    # of the four groups that are scored in full
    assert len(printed["metrics"]["auc"]["most_advantaged"]) == 2
