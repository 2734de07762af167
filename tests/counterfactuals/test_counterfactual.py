"""The same people with another attribute."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import fairrec
from fairrec.core.errors import InputError
from fairrec.counterfactuals.words import counterfactual_markdown
from fairrec.scoring.model import FunctionModel
from tests.counterfactuals.flipped_world import (
    N_ITEMS,
    Counted,
    blind,
    direct,
    flipped,
    people,
)
from tests.fairrec_paper.models.runs.small_run import small_run


def test_a_model_that_uses_gender_directly_is_found():
    found = flipped(direct)
    assert found.summary.affected.share > 0.8
    # women would be served better as men, and that is what is worse about being one
    top = found.audit.metric("mrr@3_change").findings[0]
    assert top.group == {"gender": "F"} and top.difference > 0.5
    women, men = found.summary.pairs
    assert (women.of, women.to) == ("gender=F", "gender=M")
    assert women.changes["mrr@3_change"].mean == pytest.approx(
        found.summary.as_they_are["mrr@3"].means["gender=M"]
        - found.summary.as_they_are["mrr@3"].means["gender=F"],
        abs=0.1,
    )
    assert men.changes["mrr@3_change"].high < 0


def test_a_model_that_ignores_gender_shows_nothing_anywhere():
    found = flipped(blind)
    assert found.summary.affected.n_affected == 0
    assert not any(metric.findings for metric in found.audit.metrics.values())
    assert found.summary.as_they_are["mrr@3"].n_findings == 0


def test_a_budget_draws_users_at_random():
    model = Counted(direct)
    found = flipped(model, budget_users=100)
    assert found.summary.n_users == found.audit.summary.n_users == 100
    assert len(model.pairs) == 2 * 100 * N_ITEMS
    assert "100 of 600 users were drawn at random and scored" in " ".join(found.audit.warnings)
    again = flipped(direct, budget_users=100, seed=1)
    assert not again.audit.per_user["user_id"].equals(found.audit.per_user["user_id"])


def test_a_result_tells_no_folder_of_the_auditor_and_is_the_same_each_time(tmp_path: Path):
    def told(folder: Path) -> str:
        folder.mkdir()
        other = FunctionModel(lambda *_: 0 * _[1], name="other")
        found = flipped(
            direct,
            scorer_identity="direct",
            attribute=(),
            other_model=other,
            ledger=folder / "scores.ledger",
        )
        return found.to_json() + found.audit.to_json()

    first = told(tmp_path / "a")
    assert str(tmp_path) not in first
    assert "other_model=other_model, ledger='scores.ledger'" in first
    assert told(tmp_path / "b") == first


def test_the_call_that_is_told_repeats_it():
    world = people()
    found = flipped(direct, reference={"gender": "M"})
    told = {"fairrec": fairrec, "scorer": direct, "predictions": world.candidates}
    again = eval(found.summary.command, {**told, "users": world.users})
    assert again.to_json() == found.to_json()


def test_a_run_is_asked_with_attributes_changed_and_all_else_equal(tmp_path: Path):
    folder = small_run(tmp_path)
    found = fairrec.counterfactual(
        run=folder, attribute="gender", metrics="changed@5,ndcg@5", min_support=1, permutations=0
    )
    assert found.summary.model == "The run run"
    assert found.summary.command.startswith("fairrec.counterfactual(run='run', metrics=")
    assert "run" in found.audit.summary.inputs
    assert found.summary.paid.users == 2 * found.summary.n_users
    same = fairrec.counterfactual(
        run=folder, other_model=folder, metrics="changed@5", min_support=1, permutations=0
    )
    assert same.summary.affected.n_affected == 0


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (
            {"attribute": "age"},
            r"attribute=.*age.* is given only gender, town of its users, so age itself cannot",
        ),
        (
            {"attribute": "gendr"},
            r"attribute=.*the users table: No column 'gendr'. Did you mean 'gender'\? Known: ",
        ),
        ({"attribute": "sex"}, r"No column 'sex'. Known: (?!.*user_id).*gender, town"),
        ({"features": None}, "is given the ids of its users alone"),
        ({"reference": {"gender": "X"}}, "No value of gender 'X'. Known: F, M"),
        ({"reference": {"age": "20"}}, "a value of each attribute that is changed"),
        ({"reference": "gender"}, "invalid reference: expected attribute=value"),
        ({"attribute": ()}, "Name what is to be changed"),
        ({"other_model": "runs/b"}, "Name what is to be changed"),
        ({"attribute": (), "other_model": "b", "reference": {"gender": "M"}}, "Leave it out"),
        ({"metrics": "pooled_auc"}, "a value of a group and changes for no user"),
        ({"scorer": None}, "asks a model twice, so there has to be one"),
        ({"run": "runs/a"}, "A run has its own candidates and model"),
        ({"margin": 2}, "invalid margin"),
    ],
)
def test_what_cannot_be_is_said(given, says):
    with pytest.raises(InputError, match=says):
        flipped(**{"scorer": direct, **given})


@pytest.mark.parametrize("given", [{}, {"budget_users": 200}, {"reference": "gender=F"}])
def test_users_without_candidates_are_told_and_do_not_make_it_inconclusive(given):
    world = people()
    users = pl.concat([world.users, world.users.with_columns(pl.col("user_id") + 1000)])
    found = flipped(direct, users=users, **given)
    said = [note for note in found.audit.warnings if "no candidates" in note]
    assert said == ["600 users of the users table have no candidates and are not asked about"]
    assert found.audit.summary.missing == ()
    assert "table of values" not in counterfactual_markdown(found.summary, found.audit.summary)
    assert all(one.is_conclusive for one in found.audit.metrics.values())
