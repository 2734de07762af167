"""Rules about groups to which users of unknown attributes may belong."""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl
import pytest
from pytest import approx

import fairrec
from fairrec.core.errors import InputError
from fairrec.gating.harms import difference_harms
from fairrec.report.page.html import page_html
from fairrec.report.text.markdown import to_markdown
from fairrec.report.text.view import build_view
from fairrec.report.words import percent, signed
from fairrec.result.audit_result import AuditResult
from tests.gating.judged_world import policy_of

LIMIT = 0.03


@cache
def audited(n_hidden: int = 200, **options) -> AuditResult:
    """2,000 women and 2,000 men with values around 0.5, but for 200 women who have 0.

    The gender of these is hidden first, then that of a few men.
    """
    rng = np.random.default_rng(4)
    gender = np.repeat(["F", "M"], 2000).astype(object)
    values = np.clip(0.5 + 0.1 * rng.normal(size=4000), 0, 1)
    values[:200] = 0
    gender[:n_hidden] = None
    plan = np.where(np.arange(4000) % 3, "free", "paid")
    users = pl.DataFrame({"user_id": range(4000), "plan": plan}).with_columns(
        gender=pl.Series(gender.tolist(), dtype=pl.String)
    )
    table = pl.DataFrame({"user_id": range(4000), "hits": values})
    usual = {"by": "gender,plan", "better": "hits=higher", "tolerance": f"hits={LIMIT}"}
    return fairrec.audit(
        values=table, users=users, **{**usual, "permutations": 199, "seed": 1, **options}
    )


def rule(**changes) -> dict:
    return {"metric": "hits", "max_worse": LIMIT, "groups": ["gender=F"], **changes}


def gate(result: AuditResult, **changes):
    return fairrec.gate(result, policy_of(rule(**changes)))


def test_what_is_hidden_passes_as_measured_and_is_open_at_worst():
    known, hidden = gate(audited(0)), gate(audited())
    assert (known.outcome, hidden.outcome) == ("failed", "passed")
    assert "if users of unknown attributes are like the others (at worst gender=F by 0.0" in str(
        hidden
    )
    at_worst = gate(audited(), unknown="worst")
    assert at_worst.outcome == "inconclusive"
    assert "whichever users of unknown attributes belong to it" in str(at_worst)
    assert gate(audited(), unknown="worst", max_worse=0.12).outcome == "passed"
    # those who are known decide what fails
    assert gate(audited(0), unknown="worst").outcome == "failed"


def test_a_rule_that_passes_names_a_bound_that_only_chance_takes_beyond_its_limit():
    (women,) = audited().group_table.filter(gender="F", depth=1).to_dicts()
    bound = -women["unknown_low"]
    with_chance = bound + women["difference"] - women["simultaneous_low"]
    assert bound > 0
    limit = round((bound + with_chance) / 2, 6)
    assert bound < limit < with_chance
    passing, strict = (
        gate(audited(), max_worse=limit),
        gate(audited(), unknown="worst", max_worse=limit),
    )
    assert (passing.outcome, strict.outcome) == ("passed", "inconclusive")
    assert f"(at worst gender=F by {with_chance:.4f})" in str(passing)


def test_the_interval_at_worst_holds_the_difference_that_is_there():
    at_worst = difference_harms(audited().group_table, audited().summary, "hits", is_at_worst=True)
    as_measured = difference_harms(audited().group_table, audited().summary, "hits")
    truth = difference_harms(audited(0).group_table, audited(0).summary, "hits")
    there = truth.size[truth.position({"gender": "F"})]
    at = at_worst.position({"gender": "F"})
    assert as_measured.interval.high[at] < there < at_worst.interval.high[at]
    (women,) = audited().group_table.filter(gender="F", depth=1).to_dicts()
    by_bound = women["difference"] - women["unknown_low"]
    assert at_worst.interval.high[at] == approx(as_measured.interval.high[at] + by_bound)
    assert as_measured.at_worst[at] == at_worst.interval.high[at]
    assert at_worst.interval.low[at] == as_measured.interval.low[at]
    # of a plan everything is known
    of_plan = at_worst.position({"plan": "paid"})
    assert at_worst.interval.high[of_plan] == as_measured.interval.high[of_plan]
    assert at_worst.outcomes(LIMIT)[of_plan] != at_worst.outcomes(LIMIT)[at]


def test_a_difference_in_either_direction_has_the_larger_end():
    parts = (audited().group_table, audited().summary, "hits")
    either = difference_harms(*parts, either_way=True, is_at_worst=True)
    one_way = difference_harms(*parts, is_at_worst=True)
    at = either.position({"gender": "F"})
    assert either.interval.high[at] == approx(one_way.interval.high[at])
    men = either.position({"gender": "M"})
    assert either.interval.high[men] > one_way.interval.high[men]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"max_worse": None, "min_ratio": 0.8}, "goes with max_worse or max_difference"),
        ({"baseline": "no_group_worse", "max_worse": None}, "goes with max_worse or max_diff"),
        ({"unknown": "best"}, "unknown must be 'worst', not 'best'"),
    ],
)
def test_other_rules_have_no_worst_case(changes, message):
    asked = rule(**{"unknown": "worst", **changes})
    given = {name: value for name, value in asked.items() if value}
    with pytest.raises(InputError, match=message):
        policy_of(given)


def test_where_bounds_are_not_known_the_worst_case_is_refused():
    given = audited(given="plan", by="gender")
    with pytest.raises(InputError, match="compared in given circumstances"):
        gate(given, unknown="worst")


def test_a_group_whose_bounds_are_hidden_is_open():
    few = audited(n_hidden=8)
    assert gate(few, unknown="worst", max_worse=0.2).outcome == "passed"
    shown = few.shown(10)
    assert shown.group_table.filter(gender="F")["unknown_low"].is_null().all()
    assert gate(shown, unknown="worst", max_worse=0.2).outcome == "inconclusive"


@cache
def unknown_at_random() -> AuditResult:
    """Nobody is worse off; gender is unknown of 400, twice as many as women."""
    rng = np.random.default_rng(7)
    gender = rng.choice(np.array(["F", "M", None], dtype=object), 4000, p=[0.05, 0.85, 0.1])
    users = pl.DataFrame({"user_id": range(4000)}).with_columns(
        gender=pl.Series(gender.tolist(), dtype=pl.String)
    )
    table = pl.DataFrame({"user_id": range(4000), "hits": 0.5 + 0.1 * rng.normal(size=4000)})
    options = {"by": "gender", "better": "hits=higher", "tolerance": "hits=0.035"}
    return fairrec.audit(values=table, users=users, permutations=199, **options)


def test_text_page_and_files_name_the_bound_in_the_sentence_that_rules_out(tmp_path):
    result = unknown_at_random()
    verdict = result.verdict.metrics["hits"]
    assert verdict.outcome == "not worse by more"
    # of men too: those of the unknown who are served best may be women
    assert verdict.at_worst.group == {"gender": "F"} and verdict.n_exceeding_at_worst == 2
    least = verdict.at_worst.at_worst
    row = result.groups("hits").filter(pl.col("gender") == "F").row(0, named=True)
    by_chance = row["simultaneous_low"] - row["difference"]
    assert least == approx(row["unknown_low"] + by_chance) and least < -0.035
    share = percent(verdict.at_worst.n_unknown / 4000)
    said = (
        f"if the {share} of unknown gender are like the others; at worst {signed(least)} "
        "for gender=F"
    )
    view = build_view(result.summary)
    assert view.verdicts[0].status_said == f"not worse by more than matters, {said}"
    assert f"none is open; this holds {said}." in view.verdicts[0].ruled_out
    assert view.overview.headline.startswith(
        f"No group of a single attribute is worse by more than matters, {said}; none of 3 groups"
    )
    assert said in to_markdown(view)
    assert said in page_html(result.summary, result.group_table)
    assert "(2 if those of unknown attributes are like the others)" in repr(result.verdict)
    saved = fairrec.load(result.save(tmp_path / "audit", report=False))
    assert saved.verdict == result.verdict
    assert gate(saved, unknown="worst", max_worse=0.035).outcome == "inconclusive"


def test_where_no_bound_reaches_beyond_what_matters_nothing_is_added():
    result = audited(8, tolerance="hits=0.3")
    verdict = result.verdict.metrics["hits"]
    assert verdict.at_worst is None and verdict.n_exceeding_at_worst == 0
    assert build_view(result.summary).verdicts[0].if_like_others == ""
