"""A mitigation in a folder."""

from __future__ import annotations

import json

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from fairrec.core.errors import InputError, OutputError
from fairrec.mitigation.mitigation_result import load_mitigation
from fairrec.mitigation.remedy import load_reranker
from fairrec.mitigation.schema import MitigationSummary
from fairrec.result.folder import AUDIT
from fairrec.result.saved import load_saved, load_summary
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
    audit = load_summary(folder)
    assert audit == RESULT.audit.summary
    assert audit.inputs["predictions"].name == "predictions.parquet"


def test_json_holds_to_its_schema_and_has_no_nan(tmp_path):
    folder = RESULT.save(tmp_path, report=False)

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    text = (folder / "mitigation.json").read_text(encoding="utf-8")
    written = json.loads(text, parse_constant=refuse)
    assert MitigationSummary.model_validate({**written, "id": ""}) == RESULT.summary
    assert set(written) == set(MitigationSummary.model_json_schema()["properties"])


@pytest.mark.parametrize(
    "options",
    [
        {
            "metric": "urd@5",
            "strength": 0.5,
            "predictions": WORLD.predictions.drop("label"),
            "validation": None,
        },
        {"metric": "urp@5", "groups": "worst:5"},
        {"metric": "ndcg@5", "groups": "worst:100%"},
        {"metric": "ndcg@5", "predictions": WORLD.predictions.filter(pl.col("user_id") % 2 == 1)},
        {"metric": "auc", "reranker": "oracle"},
    ],
    ids=["no labels", "no direction", "everyone", "some reported", "upper bound"],
)
def test_odd_mitigations_are_read_again_too(tmp_path, options):
    result = mitigate(WORLD, **options)
    folder = result.save(tmp_path, report=False)
    assert load_mitigation(folder, load_saved(folder)[1]) == result.summary
    assert load_reranker(folder / "reranker.json") == result.reranker


def test_a_later_mitigation_replaces_an_earlier_one(tmp_path):
    RESULT.save(tmp_path, report=False)
    other = mitigate(WORLD, "urd@5", strength=0.4)
    other.save(tmp_path, report=False)
    assert load_mitigation(tmp_path, load_saved(tmp_path)[1]) == other.summary
    assert load_reranker(tmp_path / "reranker.json") == other.reranker
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(FILES)


def test_an_audit_replaces_a_mitigation_only_as_a_whole_and_if_insisted_on(tmp_path):
    RESULT.save(tmp_path, report=False)
    (tmp_path / "notes.txt").write_text("mine")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(OutputError, match=r"holds a mitigation.*Choose.*insist: force=True"):
        RESULT.audit.save(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    RESULT.audit.save(tmp_path, force=True)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == sorted((*AUDIT.files, "notes.txt"))
    assert load_mitigation(tmp_path, "") is None


def test_a_mitigation_replaces_an_audit_only_if_insisted_on(tmp_path):
    RESULT.audit.save(tmp_path)
    with pytest.raises(OutputError, match=r"holds an audit.*Choose.*insist: force=True"):
        RESULT.save(tmp_path)
    assert load_mitigation(tmp_path, "") is None
    RESULT.save(tmp_path, report=False, force=True)
    # the page of the audit is gone with it
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(FILES)


def test_lists_of_somebody_else_are_not_overwritten(tmp_path):
    (tmp_path / "predictions.parquet").write_text("a year of work")
    with pytest.raises(OutputError, match=r"predictions.parquet there is of no result"):
        RESULT.save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["predictions.parquet"]


def test_folder_without_a_mitigation_has_none(tmp_path):
    assert load_mitigation(tmp_path, "") is None


@pytest.mark.parametrize("text", ["", "{", '{"schema_version": "9"}'])
def test_damaged_mitigation_is_refused(tmp_path, text):
    (tmp_path / "mitigation.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"mitigation.json: is no mitigation of this version"):
        load_mitigation(tmp_path, "")


def test_folder_that_cannot_be_written_is_refused(tmp_path):
    taken = tmp_path / "file"
    taken.write_text("", encoding="utf-8")
    for folder in (taken, tmp_path / ("a" * 5000)):
        for result in (RESULT, RESULT.audit):
            with pytest.raises(OutputError):
                result.save(folder, report=False)


def test_changes_have_a_row_for_each_metric_and_group():
    changes = RESULT.changes
    assert changes.columns[:3] == ["metric", "gender", "age"]
    # 2 + 3 values and 6 full combinations
    assert changes.filter(metric="ndcg@5").height == 2 + 3 + 6
    for name, effect in RESULT.summary.effects.items():
        mine = changes.filter(metric=name)
        counts = dict(mine["verdict"].value_counts().iter_rows())
        expected = {
            verdict.replace("_", " "): n for verdict, n in effect.groups.model_dump().items() if n
        }
        assert counts == expected
    worst = changes.filter(metric="ndcg@5", gender="F", age="old")
    (chosen,) = RESULT.summary.groups
    assert worst["change"][0] == pytest.approx(chosen.change.change)
    assert worst["p_adjusted"][0] >= worst["p_value"][0]


def test_numbers_of_a_group_are_its_users():
    per_user = [
        mitigate(WORLD, "ndcg@5", strength=s).audit.per_user["ndcg@5"].to_numpy()
        for s in (0, RESULT.summary.strength)
    ]
    is_mine = (WORLD.users["gender"] == "F").to_numpy()
    row = RESULT.changes.filter(metric="ndcg@5", gender="F").filter(pl.col("age").is_null())
    assert row["before"][0] == pytest.approx(per_user[0][is_mine].mean())
    assert row["after"][0] == pytest.approx(per_user[1][is_mine].mean())
    assert row["support"][0] == is_mine.sum()
