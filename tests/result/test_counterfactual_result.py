"""The result of a counterfactual in a folder."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.core.errors import InputError, OutputError
from fairrec.report.text.view import build_view
from tests.workflows.flipped_world import blind, direct, flipped


def test_a_saved_one_is_loaded_gated_and_replaced_by_its_own_kind(tmp_path: Path):
    found = flipped(direct, matters={"mrr@3_change": 0.05})
    folder = found.save(tmp_path / "out")
    loaded = fairrec.load(folder)
    assert loaded.summary == found.summary
    assert loaded.audit.summary == found.audit.summary.model_copy(
        update={"is_aggregates_only": False}
    )
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "what the model knows of it by other ways" in page
    policy = tmp_path / "policy.toml"
    policy.write_text('[[rule]]\nmetric = "mrr@3_change"\nmax_worse = 0.05\n')
    assert fairrec.gate(folder, policy=policy).outcome == "failed"
    found.save(folder, report=False)
    with pytest.raises(OutputError, match="holds a counterfactual, which an audit would replace"):
        found.audit.save(folder)


def test_a_counterfactual_of_another_result_is_refused(tmp_path: Path):
    flipped(direct, permutations=0).save(tmp_path / "mine", report=False)
    flipped(blind, permutations=0).save(tmp_path / "other", report=False)
    shutil.copy(tmp_path / "other" / "counterfactual.json", tmp_path / "mine")
    with pytest.raises(InputError, match=r"counterfactual\.json: is not the file that was written"):
        fairrec.load(tmp_path / "mine")


def test_who_changes_more_is_not_called_served_worse():
    rng = np.random.default_rng(0)
    users = pl.DataFrame({"user_id": range(400), "age": rng.choice([20, 40], 400)})
    users = users.with_columns(gender=pl.Series(rng.choice(["F", "M"], 400)))
    lists = pl.DataFrame({"user_id": range(400), "item_id": [[*range(10)]] * 400})

    def score(user_ids, item_ids, gender, age):
        return (user_ids * 7 + item_ids * 13) % 11 + np.where(
            (gender == "F") & (age == 20), item_ids, 0
        )

    found = fairrec.counterfactual(
        lists,
        users=users,
        by="age",
        scorer=score,
        features="users:gender,age",
        attribute="gender",
        metrics="changed@5",
        permutations=199,
    )
    overview = build_view(found.audit.summary).overview
    assert overview.headline.startswith("age=20 is changed more: share")
    assert "look at what changes in their lists" in str(overview)
    assert "fairrec mitigate" not in str(overview)
