"""Rules about the share of users affected, after sampling that ended once it was known well."""

from __future__ import annotations

from functools import cache, partial

import numpy as np

from benchmarks.statistics.rates import Claim
from benchmarks.statistics.study import Outcome, Study
from fairrec.counterfactuals.result import Affected
from fairrec.gating.judging import judge_affected
from fairrec.gating.policy import Rule
from fairrec.statistics.paired import Sampling

N_USERS = 20_000
N_TIMES = 20
"""Samplings in a world."""
ALPHA = 0.05
PASSED = "max_affected passes though more users are affected"
FAILED = "max_affected fails though no more users are affected"


@cache
def judged(n: int, n_affected: int, margin: float | None, budget: int, limit: float) -> str:
    """The outcome of a rule with such a limit, where sampling ended with so many users."""
    found = Sampling(budget, ALPHA, margin).share(n, n_affected)
    affected = Affected(
        metric="affected@10",
        n=n,
        n_affected=n_affected,
        share=found.share,
        low=found.low,
        high=found.high,
        margin_wanted=margin,
    )
    return judge_affected(Rule(metric="affected@10", max_affected=limit), affected, 1).outcome


def sampled(seed: int, share: float, margin: float | None, budget: int) -> dict[str, Outcome]:
    """Users drawn at random from many, until the share of those affected is known so well."""
    rng = np.random.default_rng(seed)
    n_in_all = round(share * N_USERS)
    is_affected = np.arange(N_USERS) < n_in_all
    sampling = Sampling(budget, ALPHA, margin)
    n_passed = n_failed = 0
    for _ in range(N_TIMES):
        hits = np.cumsum(rng.permutation(is_affected)[:budget])
        ends = ((n, int(hits[n - 1])) for n in sampling.looks)
        n, n_affected = next(end for end in ends if sampling.is_enough(*end))
        truth = n_in_all / N_USERS
        n_passed += judged(n, n_affected, margin, budget, truth - 1e-9) == "passed"
        n_failed += judged(n, n_affected, margin, budget, truth) == "failed"
    return {PASSED: (n_passed, N_TIMES), FAILED: (n_failed, N_TIMES)}


def _study(
    share: float, margin: float | None, budget: int, passed: str = "", failed: str = ""
) -> Study:
    until = f"{budget:,} users" if margin is None else f"until a margin of {margin:g}"
    return Study(
        f"counterfactual: {100 * share:g}% affected, {until}",
        partial(sampled, share=share, margin=margin, budget=budget),
        (
            Claim(PASSED, high=ALPHA / 2, before=passed),
            Claim(FAILED, high=ALPHA / 2, before=failed),
        ),
    )


STUDIES = (
    # where Wilson's interval for a sample of fixed size, which was here before, is wrong most often
    _study(0.262, 0.1, 2000, "0.04", "0.024"),
    _study(0.112, 0.05, 2000, "0.045", "0.023"),
    _study(0.046, 0.02, 5000, "0.041", "0.014"),
    _study(0.0035, 0.1, 2000, "0", "0.16"),
    _study(0.002, 0.05, 2000, "0", "0.099"),
    _study(0.01, None, 50, "0", "0.085"),
    # where this one is
    _study(0.1655, 0.1, 2000),
    _study(0.3915, 0.05, 2000),
)
