"""The same people with another attribute."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import binomtest

import fairrec
from fairrec.core.errors import InputError, OutputError
from fairrec.counterfactuals.options import CounterfactualOptions
from fairrec.counterfactuals.words import counterfactual_markdown
from tests.counterfactuals.flipped_world import (
    N_ITEMS,
    N_USERS,
    Counted,
    blind,
    by_proxy,
    direct,
    flipped,
    people,
)
from tests.end_to_end.command_line import run_here


def test_a_model_that_uses_gender_directly_is_found():
    found = flipped(direct)
    assert found.summary.affected.share > 0.8
    assert found.audit.summary.title.startswith("Gender alone changes the first 3 places of")
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
    # users who are all alike have no interval
    change = found.summary.changes["changed@3"]
    assert (change.mean, change.low, change.high) == (0, None, None)
    # nobody of 600 was seen to be affected, and some may be
    share = found.summary.changes["affected@3"]
    assert share.low == 0 < share.high < 0.01


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
        found = flipped(direct, scorer_identity="direct", ledger=folder / "scores.ledger")
        return found.to_json() + found.audit.to_json()

    first = told(tmp_path / "a")
    assert str(tmp_path) not in first
    assert "sample=fairrec.Sample(ledger='scores.ledger'" in first
    assert told(tmp_path / "b") == first


def test_the_call_that_is_told_repeats_it():
    world = people()
    found = flipped(direct, reference={"gender": "M"})
    told = {"fairrec": fairrec, "scorer": direct, "predictions": world.candidates}
    again = eval(found.summary.command, {**told, "users": world.users})
    assert again.to_json() == found.to_json()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (
            {"attribute": "age"},
            r"attribute=.*age.* is given only gender, town of its users, so age itself cannot",
        ),
        ({"attribute": "gendr"}, r"only gender, town of its users, so gendr itself cannot"),
        ({"features": None}, "is given the ids of its users alone"),
        ({"reference": {"gender": "X"}}, "no user has it. Known: gender=F; gender=M"),
        ({"reference": {"age": "20"}}, "no user has it. Known: gender=F"),
        ({"reference": "gender"}, "invalid reference: expected attribute=value"),
        ({"scorer": None}, "needs a model to score users again"),
        ({"run": "runs/a"}, "A run has its own candidates and model"),
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
    assert said == ["600 users of the users table have no candidates and are left out"]
    assert found.audit.summary.missing == ()
    audit = found.audit
    told = counterfactual_markdown(found.summary, audit.summary, audit.group_table)
    assert "table of values" not in told
    assert all(one.is_conclusive for one in found.audit.metrics.values())


def test_values_equal_two_audits_with_the_attribute_swapped():
    world = people()
    other = world.users.with_columns(
        gender=pl.col("gender").replace_strict({"F": "M", "M": "F"}),
    )

    def audited(users: pl.DataFrame) -> pl.Series:
        gender = users["gender"].to_numpy()

        def score(user_ids: np.ndarray, item_ids: np.ndarray) -> np.ndarray:
            return direct(user_ids, item_ids, gender[user_ids], None)

        result = fairrec.audit(
            world.candidates,
            users=users,
            by="age",
            metrics="mrr@3",
            scorer=score,
            statistics=fairrec.Statistics(permutations=0),
        )
        return result.per_user.sort("user_id")["mrr@3"]

    expected = audited(other) - audited(world.users)
    found = flipped(direct).audit.per_user.sort("user_id")["mrr@3_change"]
    assert found.to_list() == pytest.approx(expected.to_list())


def test_several_values_are_tried_one_by_one_and_each_pair_is_told():
    def by_age(user_ids, item_ids, age):
        return np.where(age == 60, item_ids, -item_ids)

    found = flipped(by_age, features="users:age", attribute="age", metrics="changed@3")
    assert len(found.summary.pairs) == 6
    moved = {(pair.of, pair.to): pair.changes["changed@3"].mean for pair in found.summary.pairs}
    assert moved["age=20", "age=40"] == 0
    assert moved["age=20", "age=60"] == moved["age=60", "age=20"] == 1
    # the mean over the other values, and whether any of them affects
    users = found.audit.per_user
    assert users.filter(age="20")["changed@3"].unique().to_list() == [0.5]
    assert users.filter(age="20")["affected@3"].unique().to_list() == [1.0]


def test_attributes_are_changed_together():
    def young_women(user_ids, item_ids, gender, age):
        return np.where((gender == "F") & (age == 20), item_ids, -item_ids)

    asked = {"features": "users:gender,age", "metrics": "changed@3", "permutations": 0}
    one = flipped(young_women, attribute="gender", **asked)
    both = flipped(young_women, attribute="gender,age", **asked)
    assert one.summary.affected.share == pytest.approx(1 / 3, abs=0.05)
    assert len(both.summary.pairs) == 30
    # whoever is no young woman could be one
    assert both.summary.affected.share == 1
    named = flipped(
        young_women, attribute="gender,age", reference={"gender": "F", "age": "20"}, **asked
    )
    assert named.summary.reference == "gender=F, age=20"


def test_a_share_of_everyone_is_exact_and_one_of_some_has_an_interval():
    everyone = flipped(direct, permutations=0)
    share = everyone.summary.affected
    assert share.n == everyone.summary.n_users_to_score == N_USERS
    assert share.low == share.high == share.share
    assert "confidence" not in everyone.audit.summary.title
    assert "the share affected is exact" in " ".join(everyone.audit.warnings)
    # what other users like them would show has one still
    told = everyone.summary.changes["affected@3"]
    assert told.low < share.share < told.high
    some = flipped(direct, budget_users=200, permutations=0)
    assert (some.summary.changes["affected@3"].low, some.summary.changes["affected@3"].high) == (
        some.summary.affected.low,
        some.summary.affected.high,
    )
    assert "of 200 users drawn from 600 (95% confidence: " in some.audit.summary.title


def test_options_are_read_from_text():
    found = CounterfactualOptions(attribute="gender,age", reference="gender=M,age=25")
    assert found.attribute == ("gender", "age")
    assert found.reference == {"gender": "M", "age": "25"}
    for value in (40, np.int64(40), "40"):
        found = CounterfactualOptions(attribute="age", reference={"age": value})
        assert found.reference == {"age": "40"}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "Name what is to be changed"),
        ({"attribute": "age", "budget_users": 0}, "invalid budget_users"),
        ({"attribute": "age,age"}, "'age' is named twice in attribute"),
    ],
)
def test_what_does_not_go_together_is_refused(given, says):
    with pytest.raises(InputError, match=says):
        CounterfactualOptions(**given)


def test_a_saved_one_is_loaded_gated_and_replaced_by_its_own_kind(tmp_path: Path):
    found = flipped(direct, tolerance={"mrr@3_change": 0.05})
    folder = found.save(tmp_path / "out")
    loaded = fairrec.load(folder)
    assert loaded.summary == found.summary
    assert loaded.audit.summary == found.audit.summary.model_copy(
        update={"is_aggregates_only": False}
    )
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "effects through proxies" in page
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
    for text in ("mrr@3_change", "gender=F → gender=M"):
        assert text in section
    assert run_here("report", str(folder), "--out", str(tmp_path / "again.html")).code == 0
    again = (tmp_path / "again.html").read_text(encoding="utf-8")
    assert section in again
    audit = fairrec.load(folder).audit.save(tmp_path / "audit")
    assert 'id="changes"' not in (audit / "report.html").read_text(encoding="utf-8")


def test_a_counterfactual_of_another_result_is_refused(tmp_path: Path):
    flipped(direct, permutations=0).save(tmp_path / "mine", report=False)
    flipped(blind, permutations=0).save(tmp_path / "other", report=False)
    shutil.copy(tmp_path / "other" / "counterfactual.json", tmp_path / "mine")
    with pytest.raises(InputError, match=r"counterfactual\.json: is of another result"):
        fairrec.load(tmp_path / "mine")


def test_a_proxy_is_not_seen_and_the_page_says_so_beside_the_audit():
    found = flipped(by_proxy)
    assert found.summary.affected.n_affected == 0
    assert not any(metric.findings for metric in found.audit.metrics.values())
    # the audit of the lists as they are sees it
    as_is = found.summary.as_they_are["mrr@3"]
    assert as_is.n_findings > 0
    assert as_is.means["gender=F"] < as_is.means["gender=M"] - 0.3
    said = " ".join(found.audit.warnings)
    assert "effects through proxies" in said
    assert "Original attributes: mrr@3" in said


def test_values_of_few_users_have_no_numbers():
    users = people().users.with_columns(
        age=pl.when(pl.col("user_id") < 5).then(99).otherwise("age")
    )
    found = flipped(
        lambda user_ids, item_ids, age: age * item_ids,
        users=users,
        by="gender",
        features="users:age",
        attribute="age",
        metrics="mrr@3",
        permutations=0,
    ).summary
    assert {pair.of for pair in found.pairs} == {"age=20", "age=40", "age=60"}
    assert "age=99" not in found.as_they_are["mrr@3"].means


def test_the_share_affected_has_the_interval_of_clopper_and_pearson():
    def user(user_ids, item_ids, gender):
        return np.where((user_ids < 30) & (gender == "F"), item_ids, -item_ids)

    found = flipped(user, features="users:gender", permutations=0, budget_users=400)
    share = found.summary.affected
    expected = binomtest(share.n_affected, 400).proportion_ci(0.95, "exact")
    assert (share.low, share.high) == pytest.approx((expected.low, expected.high))
    changed = found.summary.changes["changed@3"]
    assert 0 <= changed.low < changed.mean < changed.high


def test_only_what_would_be_nothing_without_a_change_has_a_p_value():
    changes = flipped(direct, metrics="changed@3,rbo@3,mrr@3").summary.changes
    assert changes["mrr@3_change"].p_value is not None
    # 1 if nothing changes, and no list is beyond chance because it overlaps with itself
    assert changes["rbo@3"].p_value is None and changes["changed@3"].p_value is None
