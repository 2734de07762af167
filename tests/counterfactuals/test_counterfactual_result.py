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
from tests.counterfactuals.flipped_world import blind, direct, flipped
from tests.end_to_end.command_line import run_here


def test_a_saved_one_is_loaded_gated_and_replaced_by_its_own_kind(tmp_path: Path):
    found = flipped(direct, tolerance={"mrr@3_change": 0.05})
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


def test_the_page_tells_what_changes_before_for_whom(tmp_path: Path):
    found = flipped(direct, permutations=0)
    folder = found.save(tmp_path / "out")
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "<title>FairRec counterfactual" in page
    # the answer for everyone first, and once
    assert page.count("<h1>") == 1
    first = page[page.index("<h1>") : page.index("</h1>")]
    assert "Gender alone changes the first 3 places of" in first
    assert page.index("</h1>") < page.index("<h2>")
    section = page[page.index('<section id="changes"') : page.index('<section id="findings"')]
    for text in ("Metrics of the lists", "once changed", "mrr@3", "gender=F → gender=M"):
        assert text in section
    as_is, change = found.summary.as_they_are["mrr@3"].mean, found.summary.changes["mrr@3_change"]
    assert f"{as_is:.3f}" in section
    assert f"{as_is + change.mean:.3f}" in section
    assert run_here("report", str(folder), "--out", str(tmp_path / "again.html")).code == 0
    again = (tmp_path / "again.html").read_text(encoding="utf-8")
    assert section in again
    audit = fairrec.load(folder).audit.save(tmp_path / "audit")
    assert 'id="changes"' not in (audit / "report.html").read_text(encoding="utf-8")


def test_it_reads_as_a_few_short_lines():
    found = flipped(direct, permutations=0, reference="gender=F")
    lines = repr(found).splitlines()
    assert lines[0].startswith("counterfactual of gender, set to gender=F: affected@3 0.")
    assert lines[0].endswith(f" of {found.summary.n_users:,} users")
    assert lines[1].startswith(f"audit of {found.summary.n_users:,} users by gender, age")
    assert len(lines) == 5
    other = flipped(direct, attribute="", other_model=blind_of_all, permutations=0)
    assert repr(other).startswith("counterfactual of the model: ")


def blind_of_all(user_ids, item_ids):
    return -item_ids


def test_a_counterfactual_of_another_result_is_refused(tmp_path: Path):
    flipped(direct, permutations=0).save(tmp_path / "mine", report=False)
    flipped(blind, permutations=0).save(tmp_path / "other", report=False)
    shutil.copy(tmp_path / "other" / "counterfactual.json", tmp_path / "mine")
    with pytest.raises(InputError, match=r"counterfactual\.json: is of another result"):
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
