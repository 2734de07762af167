"""The searches that are compared, and tests between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.stats import mannwhitneyu

from fairrec.core.arrays import FloatArray
from fairrec_paper.reproduction.experiment import Setting
from fairrec_paper.reproduction.search_trials import Method, chance_trial, search_trial
from fairrec_paper.reproduction.subject import MIN_SUPPORT
from fairrec_paper.reproduction.trial import Trial

THETAS = {
    "movielens-1m": (0.01, 0.005),
    "lfm360k": (0.01, 0.005),
    "blackfriday": (0.005, 0.002),
    "amazon-electronics": (0.005, 0.002),
}
"""Of TestSGD, as the paper chose them."""
ONLY_THE_GAP = {"findings": 0.0}
HURRIED = {"adaptive": {"steps": 1, "at_once": 16}, "fairas": {"rounds": 4}}
"""In a quick run: adaptive takes whole groups, several at once, and FairAS ends early."""
THEMIS = Method("Themis", "themis", "themis")
# the paper: in fixed time Themis becomes a search in random order
RANDOM = Method("Themis, in random order", "random", "themis")
DPSO = Method("FairRec (dpso)", "dpso", "fairrec")
FAIRAS = Method("FairAS (fairas)", "fairas")
FAIRAS_TEN = Method("FairAS, 10 rounds", "fairas", hyper={"rounds": 10})
"""As in the raw results that FairAS publishes for LFM360K; its configurations have 22."""
PLAIN_PSO = Method("plain pso (1995)", "pso", hyper={"inertia": 1.0})
PSO = Method("pso with inertia (1998)", "pso")
NO_DESIGNS = Method(
    "dpso without its designs", "dpso", hyper={"from_users": 0, "alpha": 0, "shared": 0}
)
ONE_DESIGN_OFF = (
    Method("dpso, uniform start", "dpso", hyper={"from_users": 0}),
    Method("dpso, no thermal motion", "dpso", hyper={"alpha": 0}),
    Method("dpso, swarms apart", "dpso", hyper={"shared": 0}),
)
EXACT = Method("ours: exact, one pass", "exact")
ADAPTIVE = Method("ours: adaptive", "adaptive", hyper=ONLY_THE_GAP)
ADAPTIVE_TENTH = replace(ADAPTIVE, title="ours: adaptive, 10% of users", users=0.1)

ByDataset = Mapping[str, Sequence[Method]]


def large_groups(theta: float) -> Method:
    """TestSGD, which looks at the groups with a share of at least theta."""
    return Method(
        f"TestSGD {theta:g}",
        "testsgd",
        f"testsgd {theta:g}",
        {"theta": theta},
        min_support=max(theta, MIN_SUPPORT),
    )


def for_setting(method: Method, setting: Setting) -> Method:
    """The method, hurried in a quick run where it takes long."""
    if not (setting.options.quick and method.searcher in HURRIED):
        return method
    return replace(method, hyper={**method.hyper, **HURRIED[method.searcher]})


def method_trials(setting: Setting, methods: ByDataset) -> list[Trial]:
    """Every method on every subject with every seed, and the null distribution of every gap."""
    trials = []
    for subject, labels in setting.subjects():
        own = [for_setting(method, setting) for method in methods[labels["dataset"]]]
        for min_support in sorted({MIN_SUPPORT, *(method.min_support for method in own)}):
            about = {**labels, "min_support": min_support}
            # only TestSGD leaves out more groups than the paper does
            testsgd = min_support != MIN_SUPPORT
            trials.append(
                chance_trial(
                    subject, about, setting.options.permutations, min_support, testsgd=testsgd
                )
            )
        for method in own:
            trials += [
                search_trial(subject, labels, method, seed) for seed in setting.options.seeds
            ]
    return trials


class RankTest(NamedTuple):
    """A12 of Vargha and Delaney (2000), and the two-sided p-value of Mann and Whitney."""

    a12: float
    p_value: float


def rank_test(ours: FloatArray, others: FloatArray) -> RankTest:
    """How often one of ours is larger than one of the others, ties counted half.

    >>> rank_test(np.array([2.0, 3.0]), np.array([1.0, 2.0])).a12
    0.875
    """
    # sums in another order are apart in the last digits, which must stay ties
    ours, others = np.round(ours, 12), np.round(others, 12)
    if np.ptp(np.concatenate([ours, others])) == 0:
        return RankTest(0.5, 1.0)
    found = mannwhitneyu(ours, others)
    return RankTest(float(found.statistic) / (len(ours) * len(others)), float(found.pvalue))
