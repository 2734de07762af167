"""The result of a counterfactual in a folder."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import fairrec
from fairrec.core.errors import InputError, OutputError
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
