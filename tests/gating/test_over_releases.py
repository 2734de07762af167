"""Rules about releases."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.core.errors import InputError

RULE = {"metric": "hits", "trend": "not_worse"}


def release(number: int, lost: float) -> fairrec.AuditResult:
    """New users each time; one group of 300 loses so much."""
    rng = np.random.default_rng(number)
    age = np.where(np.arange(1500) < 300, "60+", "18")
    hits = rng.beta(4, 4, 1500) - lost * (age == "60+")
    values = {"age": age, "hits": hits, "steady": rng.normal(size=1500)}
    return fairrec.audit(
        values=pl.DataFrame({"user_id": np.arange(1500) + 1500 * number, **values}),
        by="age",
        better="hits=higher,steady=higher",
        permutations=39,
        model_version=f"v{number}",
    )


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    folder = tmp_path_factory.mktemp("history")
    for number in range(6):
        release(number, 0.2 * (number > 3)).save(folder / f"v{number}", report=False)
    return folder


def test_a_group_that_became_worse_fails(history):
    found = fairrec.gate(release(6, 0.2), {"rule": [RULE]}, releases=history)
    (rule,) = found.rules
    assert (found.outcome, rule.kind, rule.n_failed) == ("failed", "trend", 1)
    assert rule.what == "hits: no group has become worse over 7 releases"
    assert rule.measured.startswith("age=60+ is worse by 0.1") and " since v4 (" in rule.measured
    assert rule.decided_by.label == "age=60+"


def test_the_audit_itself_may_lie_among_them(history):
    found = fairrec.gate(history / "v5", {"rule": [RULE]}, releases=history)
    assert found.rules[0].what.endswith("over 6 releases")


def test_other_groups_and_metrics_are_no_matter(history):
    rule = {**RULE, "groups": ["age=18"]}
    assert fairrec.gate(release(6, 0.2), {"rule": [rule]}, releases=history).outcome == "passed"
    asked = fairrec.gate(release(6, 0.2), {"rule": [rule]}, releases=history).rules[0].what
    assert asked.startswith("hits: none of 1 named group has become worse")
    rule = {**RULE, "metric": "steady"}
    assert fairrec.gate(release(6, 0.2), {"rule": [rule]}, releases=history).outcome == "passed"


def test_a_group_that_the_audit_does_not_have_is_no_group_that_passes(history):
    rule = {**RULE, "groups": ["age=6O+"]}
    with pytest.raises(ValueError, match=r"rule 1: No value of age '6O\+'\. Did you mean"):
        fairrec.gate(release(6, 0.2), {"rule": [rule]}, releases=history)


def test_releases_whose_small_groups_are_hidden_are_refused(tmp_path):
    for number in range(3):
        release(number, 0.0).save(tmp_path / f"v{number}", report=False, min_shown=400)
    with pytest.raises(InputError, match="rule 1: small groups are hidden in v0, v1, v2"):
        fairrec.gate(release(3, 0.2), {"rule": [RULE]}, releases=tmp_path)


def test_where_nothing_changed_it_passes_and_says_what_that_means(tmp_path):
    for number in range(3):
        release(number, 0.0).save(tmp_path / f"v{number}", report=False)
    found = fairrec.gate(release(3, 0.0), {"rule": [RULE]}, releases=tmp_path)
    assert found.outcome == "passed"
    assert found.rules[0].measured == "shown of no group, which rules nothing out"


def test_releases_must_be_given():
    with pytest.raises(InputError, match="rule 1: has trend, and no earlier releases were given"):
        fairrec.gate(release(0, 0.0), {"rule": [RULE]})
