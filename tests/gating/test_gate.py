"""Gates from Python."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.core.errors import FairRecError, InputError
from fairrec.gating.gate import read_policy
from fairrec.gating.policy import Policy
from tests.gating.judged_world import planted
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
        ({"rules": []}, "policy: has rules, and holds rule and require alone"),
        (7, "policy"),
        ("nowhere.toml", "nowhere.toml: cannot be read"),
    ],
)
def test_what_is_no_policy_is_refused(given, says):
    with pytest.raises(FairRecError, match=says):
        fairrec.gate(planted(), given)


def test_a_file_with_settings_that_are_none_is_refused(tmp_path):
    file = tmp_path / "p.toml"
    file.write_text('alhpa = 0.05\n[[rule]]\nmetric = "hits"\nmax_worse = 0.03\n')
    with pytest.raises(FairRecError, match="Did you mean 'alpha'"):
        fairrec.gate(planted(), file)


def test_without_any_policy_it_is_said_how_to_get_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"There is no fairrec\.toml, and no other policy"):
        fairrec.gate(planted())


def test_other_words_for_inconclusive_are_refused():
    with pytest.raises(InputError, match="inconclusive"):
        fairrec.gate(planted(), BEYOND, inconclusive="warn")


def test_an_audit_takes_its_options_from_the_same_file(tmp_path):
    from tests.builders import make_tables

    tables = make_tables(80)
    file = tmp_path / "fairrec.toml"
    file.write_text(
        '[audit]\nby = ["gender"]\nmetrics = ["mrr@5"]\npermutations = 39\nmax_undefined = 0.2\n'
        '[[rule]]\nmetric = "mrr@5"\nmax_worse = 0.9\n'
    )
    result = fairrec.audit(tables.predictions, users=tables.users, settings=file)
    assert [*result.metrics] == ["mrr@5"] and result.summary.by == ("gender",)
    assert fairrec.gate(result, file).outcome == "passed"


def drawn(seed: int, drop: float = 0.0) -> fairrec.AuditResult:
    """A model on redrawn held-out data; one that serves a group of 400 worse by `drop`."""
    rng = np.random.default_rng(7)
    n = 4000
    users = pl.DataFrame(
        {"user_id": range(n), "age": ["56+" if i < 400 else "18" for i in range(n)]}
    )
    taste = rng.beta(4, 4, n)
    noise = np.random.default_rng(seed).normal(0, 0.1, n)
    values = taste + noise - drop * (np.arange(n) < 400)
    return fairrec.audit(
        values=pl.DataFrame({"user_id": range(n), "hits": values}),
        users=users,
        by="age",
        better="hits=higher",
        permutations=199,
    )


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
    base = drawn(0)
    values = pl.DataFrame({"user_id": range(4000), "other": np.arange(4000) % 7})
    users = base.per_user.select("user_id", "age")
    candidate = fairrec.audit(
        values=values, users=users, by="age", better="other=higher", permutations=39
    )
    rule = {"metric": "other", "baseline": "no_group_worse", "tolerance": 0.1}
    with pytest.raises(FairRecError):
        fairrec.gate(candidate, {"rule": [rule]}, baseline=base)


def test_an_audit_is_not_its_own_baseline(tmp_path):
    rule = {"metric": "hits", "baseline": "no_group_worse", "tolerance": 0.1}
    result = drawn(0)
    folder = result.save(tmp_path / "audit", report=False)
    (tmp_path / "link").symlink_to(folder)
    for audit, baseline in ((result, result), (folder, str(folder)), (tmp_path / "link", folder)):
        with pytest.raises(InputError, match=r"^baseline: is the audit itself"):
            fairrec.gate(audit, {"rule": [rule]}, baseline=baseline)


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000])
def test_a_path_that_cannot_be_is_refused_in_words(tmp_path, name):
    with pytest.raises(InputError, match="cannot be read"):
        fairrec.gate(tmp_path, name)
    with pytest.raises(InputError):
        fairrec.gate(tmp_path, {"rule": [{"metric": "m", "max_worse": 1}]}, baseline=name)
