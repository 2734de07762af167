"""A small audit whose table of groups tests may write themselves, and outcomes of gates."""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl

import fairrec
from fairrec.gating.judging import Measurements
from fairrec.gating.policy import (
    GateResult,
    JudgedGroup,
    Policy,
    RuleOutcome,
    combine_outcomes,
    parse_policy,
)
from fairrec.report.audit_result import AuditResult
from tests.grouped_options import group_options


@cache
def planted() -> AuditResult:
    """4,000 users; women of 56 and more have 0.25 less in `hits`, nobody differs in the others."""
    rng = np.random.default_rng(0)
    n = 4000
    users = pl.DataFrame(
        {
            "user_id": range(n),
            "gender": rng.choice(["F", "M"], n),
            "age": rng.choice(["18", "36", "56+"], n, p=[0.5, 0.4, 0.1]),
        }
    )
    is_hard = ((users["gender"] == "F") & (users["age"] == "56+")).to_numpy()
    values = pl.DataFrame(
        {
            "user_id": range(n),
            "hits": np.clip(rng.beta(4, 4, n) - 0.25 * is_hard, 0, 1),
            "clicks": rng.poisson(3, n),
            "wait": rng.gamma(4, 1, n) + 2.0 * is_hard,
            "lean": rng.normal(0, 1, n),
        }
    )
    return fairrec.audit(
        values=values,
        users=users,
        by="gender,age",
        tables=fairrec.Tables(better="hits=higher,clicks=higher,wait=lower"),
        statistics=fairrec.Statistics(permutations=999),
        tolerance="hits=0.03",
        about=fairrec.About(title="spring", model_name="ease"),
    )


def audit_values(attributes: dict, values, name: str = "hits", **options) -> AuditResult:
    """An audit of a value per user, more of which is better, by some attributes."""
    labels = {each: pl.Series([*labels], dtype=pl.String) for each, labels in attributes.items()}
    users = pl.DataFrame({"user_id": range(len(values)), **labels})
    given = {"values": users.select("user_id", pl.Series(name, values)), "users": users}
    given |= {"by": [*attributes], "better": {name: "higher"}, "permutations": 199}
    return fairrec.audit(**group_options(**{**given, **options}))


def policy_of(*rules: dict, **require) -> Policy:
    """A policy as a file would state it."""
    return parse_policy({"rule": [*rules], "require": require}, "fairrec.toml")


def measured(result: AuditResult | None = None, **columns) -> Measurements:
    """What rules are judged by, with columns of the table of groups replaced."""
    result = result or planted()
    table = result.group_table.with_columns(
        pl.lit(value).cast(result.group_table.schema[name]).alias(name)
        for name, value in columns.items()
    )
    return Measurements(result.summary, table)


HOSTILE = "a|b <i>&\"'\n::error::x, 50%"


def rule_of(outcome: str, severity: str = "fail", text: str = "measured") -> RuleOutcome:
    """A rule that came out so."""
    return RuleOutcome(
        number=1,
        kind="max_worse",
        metric="hits",
        severity=severity,
        outcome=outcome,
        limit=0.03,
        what=f"hits: what {text}",
        measured=text,
        explanation=f"explained {text}",
        decided_by=JudgedGroup(
            group={"g": "F"}, label="g=F", support=7, measured=0.1, interval=(0.05, None)
        ),
        n_failed=0,
        n_open=0,
        n_ruled_out=0,
    )


def gate_of(*rules: RuleOutcome, inconclusive=None, title: str = "", look: str = "") -> GateResult:
    """The outcome of a gate with these rules."""
    outcome, exit_code = combine_outcomes(rules, inconclusive)
    return GateResult(
        title=title,
        model="",
        baseline=None,
        inconclusive=inconclusive,
        outcome=outcome,
        exit_code=exit_code,
        look=look,
        policy=policy_of({"metric": "hits", "max_worse": 0.03}),
        rules=rules,
    )
