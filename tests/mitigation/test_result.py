"""A mitigation in its files."""

from __future__ import annotations

import json

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from fairrec.core.errors import InputError, OutputError
from fairrec.mitigation.result import (
    load_mitigation,
    load_reranker,
)
from fairrec.result.folder import load_saved
from tests.mitigation.planted import mitigate, planted

FILES = (
    *("mitigation.json", "reranker.json", "predictions.parquet", "changes.parquet"),
    *("result.json", "run.json", "groups.parquet", "per_user.parquet"),
)

WORLD = planted("accuracy", n_users=96)
RESULT = mitigate(WORLD, "ndcg@5", permutations=9)


def test_everything_is_written_and_read_again(tmp_path):
    folder = RESULT.save(tmp_path / "new" / "fixed", report=False)
    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES)
    assert load_mitigation(folder, load_saved(folder)[1]) == RESULT.summary
    assert load_reranker(folder / "reranker.json") == RESULT.reranker
    assert_frame_equal(pl.read_parquet(folder / "predictions.parquet"), RESULT.predictions)
    assert_frame_equal(pl.read_parquet(folder / "changes.parquet"), RESULT.changes)
    audit = load_saved(folder)[0]
    assert audit == RESULT.audit.summary
    assert audit.inputs["predictions"].name == "predictions.parquet"


def test_lists_of_somebody_else_are_not_overwritten(tmp_path):
    (tmp_path / "predictions.parquet").write_text("a year of work")
    with pytest.raises(OutputError, match=r"predictions.parquet there is of no result"):
        RESULT.save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["predictions.parquet"]


def test_changes_have_a_row_for_each_metric_and_group():
    changes = RESULT.changes
    assert changes.columns[:3] == ["metric", "gender", "age"]
    # 2 + 3 values and 6 full intersections
    assert changes.filter(metric="ndcg@5").height == 2 + 3 + 6
    for name, effect in RESULT.summary.effects.items():
        assert changes.filter(metric=name, verdict="worse").height == effect.n_groups_worse
    worst = changes.filter(metric="ndcg@5", gender="F", age="old")
    (chosen,) = RESULT.summary.groups
    assert worst["change"][0] == pytest.approx(chosen.change.change)
    assert worst["p_adjusted"][0] >= worst["p_value"][0]


@pytest.mark.parametrize(
    "changes", [{"schema_version": "2"}, {"strength": 1.5}, {"groups": "all"}, {"surprise": 1}]
)
def test_record_of_another_kind_or_damaged_is_refused(tmp_path, changes):
    path = tmp_path / "reranker.json"
    for text in (json.dumps({**RESULT.reranker.model_dump(mode="json"), **changes}), "{"):
        path.write_text(text)
        with pytest.raises(InputError, match=r"reranker.json: is no re-ranker of this version"):
            load_reranker(path)
    with pytest.raises(InputError, match=r"cannot be read .*Give the reranker.json that"):
        load_reranker(tmp_path)
