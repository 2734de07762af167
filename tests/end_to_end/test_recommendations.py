"""Recommendations, held-out interactions and values per user, from files to a report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import fairrec
from tests.builders import numbers_of, without_origin
from tests.end_to_end.command_line import run_here
from tests.grouped_options import group_options
from tests.mitigation.planted import WORSE, planted
from tests.recommendations import Served, random_served

AUDIT = ("audit", "recs.parquet", "--users", "users.parquet", "--by", "group")
SETTINGS = ("--permutations", "19", "--format", "json")


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Served:
    """Files of a small world in the current folder."""
    monkeypatch.chdir(tmp_path)
    world = random_served(3)
    world.recommendations("rank").write_parquet("recs.parquet")
    world.test().write_csv("test.csv")
    users_of(world).write_parquet("users.parquet")
    return world


def users_of(world: Served) -> pl.DataFrame:
    return pl.DataFrame({"user_id": range(60), "group": ["a", "b", "b"] * 20})


def printed(*arguments: str) -> dict[str, Any]:
    ran = run_here(*arguments)
    assert ran.code == 0, ran.stderr
    return json.loads(ran.stdout)


def test_the_command_and_the_library_agree_and_every_option_reaches_the_result(served):
    options = ("--test", "test.csv", "--relevant", "rating>=2", "--missing-lists", "drop")
    result = printed(*AUDIT, *options, "--max-undefined", "0.25", *SETTINGS)
    library = fairrec.audit(
        served.recommendations("rank"),
        **group_options(
            **{"test": served.test(), "users": users_of(served), "by": "group", "permutations": 19},
            **{"relevant": "rating>=2", "missing_lists": "drop", "max_undefined": 0.25},
        ),
    )
    mine, theirs = without_origin(result), numbers_of(library)
    # notes name the tables
    assert len(mine.pop("warnings")) == len(theirs.pop("warnings"))
    assert mine == theirs
    assert result["relevant"] == "rating>=2"
    assert result["missing_lists"] == "drop"
    assert result["max_undefined"] == 0.25
    assert [*result["inputs"]] == ["predictions", "test", "users"]
    again = printed(*result["command"].replace("'", "").split()[1:])
    assert without_origin(again) == without_origin(result)


def test_the_call_in_a_result_repeats_it(served):
    tables = {"predictions": served.recommendations(), "test": served.test()}
    first = fairrec.audit(
        **group_options(
            **tables,
            **{"users": users_of(served), "by": "group", "relevant": "rating>=2"},
            **{
                "missing_lists": "drop",
                "max_undefined": 0.3,
                "permutations": 19,
                "metrics": "recall",
            },
        ),
    )
    known = {"fairrec": fairrec, **tables, "users": users_of(served)}
    again = eval(first.summary.command, known)
    assert numbers_of(again) == numbers_of(first)


def score(users: Any, items: Any) -> np.ndarray:
    """The order of the lists of `ordered`: rising items."""
    return -np.asarray(items, dtype=float)


def ordered(served: Served) -> Served:
    return Served({user: sorted(items) for user, items in served.lists.items()}, served.held_out)


@pytest.mark.parametrize("search", [None, "exact", fairrec.Search("adaptive", budget_users="60%")])
def test_a_model_that_is_asked_gives_the_numbers_of_its_scores(served, search):
    world = ordered(served)
    lists = world.recommendations()
    options = {"test": world.test(), "users": users_of(served), "by": "group", "permutations": 19}
    options["metrics"] = "recall@3,ndcg@3,mrr@3"
    expected = fairrec.audit(lists, **group_options(**options))
    asked = fairrec.audit(
        lists.drop("score"), **group_options(**options, scorer=score, search=search)
    )
    if not isinstance(search, fairrec.Search):
        assert asked.per_user.equals(expected.per_user)
        assert asked.summary.missing == expected.summary.missing
        for name, found in expected.metrics.items():
            assert asked.metrics[name].mean == pytest.approx(found.mean)
            assert asked.metrics[name].gap == pytest.approx(found.gap)
        return
    # users without a list count as 0 among those who are scored
    assert 0 < asked.summary.search.users_scored < 60
    is_scored = asked.per_user["recall@3"].is_not_null()
    assert asked.per_user.filter(is_scored).equals(expected.per_user.filter(is_scored))


def planted_files() -> None:
    """A world in which old women are served badly, as recommendations and held-out items."""
    world = planted("accuracy", n_users=240)
    held_out = world.predictions.filter(label=1).select("user_id", "item_id")
    world.predictions.drop("label").write_parquet("recs.parquet")
    held_out.write_parquet("test.parquet")
    for name in ("users", "history", "items"):
        getattr(world, name).write_parquet(f"{name}.parquet")


def test_mitigate_takes_held_out_interactions_and_agrees_with_labels(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    planted_files()
    world = planted("accuracy", n_users=240)
    options = {
        **{"users": world.users, "by": "gender,age", "history": world.history, "metric": "ndcg@5"},
        **{"metrics": "ndcg@5,recall@5", "permutations": 19, "groups": "worst:1"},
    }
    labelled = fairrec.mitigate(world.predictions, **group_options(**options))
    bare = world.predictions.drop("label")
    held_out = fairrec.mitigate(
        bare, **group_options(test=pl.read_parquet("test.parquet"), **options)
    )
    for when in ("before", "after"):
        chosen = (getattr(one.effect.chosen, when) for one in (held_out, labelled))
        assert next(chosen) == pytest.approx(next(chosen))
    # by the command too, where a condition that is rounded would be met by no row
    rated = pl.read_parquet("test.parquet").with_columns(stamp=1612345678)
    rated.write_parquet("test.parquet")
    audited = run_here(
        *("audit", "recs.parquet", "--test", "test.parquet", "--users", "users.parquet"),
        *("--relevant", "stamp>=1612345678", "--by", "gender,age", "--history", "history.parquet"),
        *("--metrics", "ndcg@5", "--permutations", "19", "--out", "audited", "--no-report"),
    )
    assert audited.code == 0, audited.stderr
    ran = run_here("mitigate", "audited", "--metric", "ndcg@5", "--groups", "worst:1")
    assert ran.code == 0, ran.stderr
    assert ", ".join(f"{name}={value}" for name, value in WORSE.items()) in ran.stdout
