"""Gates in worlds whose harms are known: none may fail within its limit, none pass beyond it."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import polars as pl

import fairrec
from benchmarks.statistics.rates import Claim
from benchmarks.statistics.study import Outcome, Study, happened
from fairrec.core.arrays import FloatArray

N_USERS = 2000
FAILED = "a rule fails though no group is beyond its limit"
PASSED = "a rule passes though a group is beyond its limit"
PASSED_AS_MEASURED = "it passes without the worst case of unknown attributes"


def drawn(rng: np.random.Generator, kind: str, is_in: FloatArray, share: float) -> FloatArray:
    """Values of which the users of one group expect so much of what all others do."""
    expected = np.where(is_in, share, 1.0)
    if kind == "hits":
        return (rng.random(len(is_in)) < 0.4 * expected).astype(np.float64)
    if kind == "skewed":
        return rng.gamma(1.0, 0.5, len(is_in)) * expected
    return rng.beta(4, 4, len(is_in)) * expected


MEAN = {"hits": 0.4, "skewed": 0.5, "bounded": 0.5}


def judged(seed: int, kind: str, times: float, limit: str) -> dict[str, Outcome]:
    """A group of about 150 users whose harm is so many times the limit.

    Parameters
    ----------
    times : of the limit; 0 where nobody is worse off
    limit : the kind of rule
    """
    rng = np.random.default_rng(seed)
    users = pl.DataFrame(
        {
            "user_id": range(N_USERS),
            "a": rng.choice(["x", "y"], N_USERS),
            "b": rng.choice(["1", "2", "3"], N_USERS, p=[0.15, 0.35, 0.5]),
        }
    )
    is_in = ((users["a"] == "x") & (users["b"] == "1")).to_numpy()
    lacking = 0.2 * times
    values = drawn(rng, kind, is_in, 1 - lacking)
    result = fairrec.audit(
        values=pl.DataFrame({"user_id": range(N_USERS), "v": values}),
        users=users,
        by="a,b",
        tables=fairrec.Tables(better="v=higher"),
        statistics=fairrec.Statistics(permutations=199),
        seed=seed % 1000,
    )
    rule: dict[str, Any] = {"metric": "v", "groups": ["a=x,b=1"]}
    rule |= {"min_ratio": 0.8} if limit == "min_ratio" else {"max_worse": 0.2 * MEAN[kind]}
    outcome = fairrec.gate(result, {"rule": [rule]}).outcome
    is_beyond = times > 1
    return {
        FAILED: happened(outcome == "failed" and not is_beyond),
        PASSED: happened(outcome == "passed" and is_beyond),
    }


def hidden(seed: int, times: float) -> dict[str, Outcome]:
    """The tenth of a group that is served worst has no known group.

    Parameters
    ----------
    times : the harm of the group, of the limit
    """
    rng = np.random.default_rng(seed)
    is_in = rng.random(N_USERS) < 0.3
    values = 0.2 * rng.normal(size=N_USERS) - 0.06 * times * is_in
    members = np.flatnonzero(is_in)
    group = np.where(is_in, "x", "y").astype(object)
    group[members[np.argsort(values[members])[: len(members) // 10]]] = None
    result = fairrec.audit(
        values=pl.DataFrame({"user_id": range(N_USERS), "v": values}),
        users=pl.DataFrame({"user_id": range(N_USERS), "a": group.tolist()}),
        by="a",
        tables=fairrec.Tables(better="v=higher"),
        statistics=fairrec.Statistics(permutations=199),
        seed=seed % 1000,
    )
    rule = {"metric": "v", "groups": ["a=x"], "max_worse": 0.06}
    measured, at_worst = (
        fairrec.gate(result, {"rule": [{**rule, **asked}]}).outcome == "passed"
        for asked in ({}, {"unknown": "worst"})
    )
    return {PASSED: happened(at_worst), PASSED_AS_MEASURED: happened(measured)}


STUDIES = tuple(
    Study(
        f"gate: {limit}, {kind} values, a harm of {times:g} times the limit",
        partial(judged, kind=kind, times=times, limit=limit),
        (Claim(PASSED if times > 1 else FAILED, high=0.05),),
    )
    for limit in ("max_worse", "min_ratio")
    for kind in ("bounded", "hits", "skewed")
    for times in (0, 0.95, 1.05)
)
STUDIES += (
    Study(
        'gate: unknown = "worst", the worst served tenth of a group unknown, 1.05 times the limit',
        partial(hidden, times=1.05),
        (Claim(PASSED, high=0.05), Claim(PASSED_AS_MEASURED)),
    ),
)
