"""Names and numbers of an audit as a run tracker gets them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.integrations.logged import keys_of, numbers_of, settings_of, verdict_of
from fairrec.result.audit_result import AuditResult
from tests.builders import audit, two_groups


def test_every_metric_has_a_name_of_its_own_that_is_no_path():
    names = ["a", "a@1", "a_at_1", "a/1", "..", ".", "", "x" * 500, "x" * 501, "a:b", "\n"]
    keys = keys_of(names)
    assert len({*keys.values()}) == len(names)
    assert keys["a@1"] == "a_at_1" and keys["a_at_1"] == "a_at_1_2"
    for key in keys.values():
        assert key and "/" not in key and not key.startswith(".") and len(key) < 120


def skewed(**options: object) -> AuditResult:
    rng = np.random.default_rng(5)
    group = np.repeat(["a", "b", "c"], 100)
    values = pl.DataFrame(
        {"user_id": range(300), "stars": rng.normal(3, 1, 300) - (group == "c") * 1.0}
    )
    users = pl.DataFrame({"user_id": range(300), "group": group})
    usual = {"permutations": 199, "seed": 1}
    return fairrec.audit(values=values, users=users, by="group", **{**usual, **options})


@pytest.mark.parametrize("better", ["stars=higher", "stars=lower"])
def test_the_harm_shown_exceeds_what_matters_where_the_verdict_says_so(better):
    numbers = numbers_of(skewed(better=better))
    shown = numbers["fairrec/stars/harm_shown"]
    assert shown > 0
    for tolerance in (shown * 0.8, shown * 1.2):
        verdict = skewed(better=better, tolerance=f"stars={tolerance}").verdict.metrics["stars"]
        assert (verdict.n_worse_by_more > 0) is (shown > tolerance)
    either_way = numbers["fairrec/stars/difference_shown"]
    neutral = numbers_of(skewed())
    assert either_way == neutral["fairrec/stars/difference_shown"] >= shown
    assert "fairrec/stars/harm_shown" not in neutral


def test_the_harm_that_is_not_ruled_out_is_that_of_the_certificate():
    result = skewed(better="stars=higher")
    numbers, certificate = numbers_of(result), result.verdict.metrics["stars"].certificate
    assert numbers["fairrec/stars/harm_not_ruled_out"] == certificate[0].harm
    assert numbers["fairrec/stars/harm_not_ruled_out_from_100"] == certificate[0].harm
    # no group has so many users
    assert "fairrec/stars/harm_not_ruled_out_from_1000" not in numbers


def test_nobody_worse_is_no_harm_and_nothing_tested_is_no_number():
    alike = audit(*two_groups(8, group=["a", "a", "b", "b"] * 2), by="group", metrics="mrr@2")
    assert numbers_of(alike)["fairrec/mrr_at_2/harm_shown"] == 0
    untested = audit(*two_groups(), by="group", permutations=0)
    assert not any(name.endswith("shown") for name in numbers_of(untested))
    assert verdict_of(untested.summary)["fairrec.outcome"] == "not tested"


def test_long_settings_are_cut_and_empty_ones_left_out():
    columns = {f"attribute_{i:02d}_{'x' * 60}": ["a", "b"] * 4 for i in range(12)}
    settings = settings_of(audit(*two_groups(8, **columns), by=[*columns], depth=1).summary)
    assert len(settings["fairrec.by"]) <= 500
    assert "fairrec.tolerance" not in settings and "fairrec.given" not in settings
    assert settings["fairrec.depth"] == "1"
