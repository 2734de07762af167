"""Gates from Python."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.core.errors import FairRecError, InputError
from fairrec.gating.gate import read_policy
from fairrec.gating.policy import Policy
from tests.gating.judged_world import audit_values, planted
from tests.mitigation.planted import mitigate
from tests.mitigation.planted import planted as world

BEYOND = {"rule": [{"metric": "hits", "max_worse": 0.03}]}


def test_a_result_its_folder_and_what_was_loaded_from_it_are_judged_alike(tmp_path):
    result = planted()
    folder = result.save(tmp_path / "audit", report=False)
    gates = [fairrec.gate(one, BEYOND) for one in (result, folder, fairrec.load(folder))]
    assert all(one.rules == gates[0].rules for one in gates)
    assert [one.exit_code for one in gates] == [1, 1, 1]
    assert (gates[0].title, gates[0].model) == ("spring", "ease")
    assert gates[0].look == "" and gates[1].look.startswith("fairrec report ")


def test_an_audit_whose_small_groups_are_hidden_is_not_judged(tmp_path):
    result = planted()
    most = result.group_table["support"].max()
    folder = result.save(tmp_path / "audit", report=False, min_shown=most)
    says = f"its groups of fewer than {most:,} users are hidden"
    with pytest.raises(InputError, match=f"^audit: {says}.*; min_shown is for what is passed on"):
        fairrec.gate(folder, BEYOND)
    with pytest.raises(InputError, match=f"^baseline: {says}"):
        fairrec.gate(result, BEYOND, baseline=folder)
    # none is hidden
    least = int(result.group_table["support"].min())
    assert fairrec.gate(result.shown(least), BEYOND).rules == fairrec.gate(result, BEYOND).rules


def test_a_policy_is_a_file_a_mapping_or_a_policy(tmp_path):
    file = tmp_path / "fairrec.toml"
    file.write_text('[audit]\nby = ["gender"]\n[[rule]]\nmetric = "hits"\nmax_worse = 0.03\n')
    policy, where = read_policy(file).policy, read_policy(file).where
    assert where.endswith("fairrec.toml")
    for given in (file, str(file), policy, BEYOND):
        assert fairrec.gate(planted(), given).policy == policy
    assert isinstance(policy, Policy)


def test_of_a_mitigation_the_lists_after_it_are_judged(tmp_path):
    result = mitigate(world(), "ndcg@5")
    policy = {"rule": [{"metric": "ndcg@5", "max_worse": 0.99}]}
    folder = result.save(tmp_path / "out", report=False)
    one, other = (fairrec.gate(given, policy) for given in (result, folder))
    assert one.rules == other.rules
    at = one.rules[0].decided_by
    table = result.audit.group_table.filter(metric="ndcg@5")
    assert at.measured in (-table["difference"]).to_list()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"rules": []}, "policy: No key 'rules'. Did you mean 'rule'"),
        (7, "policy"),
        ("nowhere.toml", "nowhere.toml: cannot be read"),
    ],
)
def test_what_is_no_policy_is_refused(given, says):
    with pytest.raises(FairRecError, match=says):
        fairrec.gate(planted(), given)


def drawn(seed: int, drop: float = 0.0) -> fairrec.AuditResult:
    """A model on redrawn held-out data; one that serves a group of 400 worse by `drop`."""
    taste = np.random.default_rng(7).beta(4, 4, 4000)
    noise = np.random.default_rng(seed).normal(0, 0.1, 4000)
    is_old = np.arange(4000) < 400
    return audit_values({"age": np.where(is_old, "56+", "18")}, taste + noise - drop * is_old)


@pytest.mark.parametrize(
    ("drop", "tolerance", "outcome"),
    [(0.0, 0.03, "passed"), (0.0, 0.005, "inconclusive"), (0.1, 0.03, "failed")],
)
def test_a_baseline_is_compared_with_user_by_user(drop, tolerance, outcome):
    rule = {"metric": "hits", "baseline": "no_group_worse", "tolerance": tolerance}
    found = fairrec.gate(drawn(1, drop), {"rule": [rule]}, baseline=drawn(0))
    assert found.outcome == outcome
    decided = found.rules[0].decided_by
    assert decided.label == "age=56+"
    assert decided.measured == pytest.approx(drop, abs=0.02)
    assert found.rules[0].what.startswith("hits: no group is worse than in the baseline by more")


def test_a_baseline_without_the_metric_is_refused():
    rng, ages = np.random.default_rng(0), {"age": ["18", "56+"] * 200}
    base = audit_values(ages, rng.random(400), permutations=19)
    users = base.per_user.with_columns(more=pl.col("hits"))
    candidate = fairrec.audit(
        values=users.drop("age"),
        users=users.select("user_id", "age"),
        by="age",
        tables=fairrec.Tables(better="hits=higher,more=higher"),
        statistics=fairrec.Statistics(permutations=19),
    )
    rule = {"metric": "more", "baseline": "no_group_worse", "tolerance": 0.1}
    with pytest.raises(FairRecError, match="rule 1: No metric in the baseline 'more'"):
        fairrec.gate(candidate, {"rule": [rule]}, baseline=base)


def test_an_audit_is_not_its_own_baseline(tmp_path):
    rule = {"metric": "hits", "baseline": "no_group_worse", "tolerance": 0.1}
    result = drawn(0)
    folder = result.save(tmp_path / "audit", report=False)
    (tmp_path / "link").symlink_to(folder)
    for audit, baseline in ((result, result), (folder, str(folder)), (tmp_path / "link", folder)):
        with pytest.raises(InputError, match=r"^baseline: is the audit itself"):
            fairrec.gate(audit, {"rule": [rule]}, baseline=baseline)
