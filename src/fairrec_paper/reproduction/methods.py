"""The searches that are compared, their trials, and tests between them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import mannwhitneyu

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.core.progress import Progress
from fairrec.groups.grouping import Grouping
from fairrec.inputs.ids import gather_lists
from fairrec.inputs.tables import Table
from fairrec.inputs.users import read_users
from fairrec.metrics.accuracy import pooled_auc
from fairrec.scoring.ledger import Ledger
from fairrec.search.evidence import Evidence, Measure, popularity_proxy
from fairrec.search.loop import BATCH_USERS, search
from fairrec.search.options import Budget
from fairrec.search.searcher import SEARCHERS, hyper_parameters
from fairrec.search.searchers.swarms import DPSOParameters, observed_positions, uniform_positions
from fairrec.statistics.moments import group_moments
from fairrec.statistics.permutation import (
    Permuted,
    extreme_gaps,
    gap_p_value,
    null_distribution,
)
from fairrec_paper.bench import OwnWork
from fairrec_paper.reproduction.data import MIN_SUPPORT, DataSource, Subject, full_combinations
from fairrec_paper.reproduction.experiment import Row, Setting, Trial

POOLED = "pooled_auc"


def paper_seconds(n_users: int, n_combinations: int) -> float:
    """The fixed time of the FairRec paper: 0.005 s for each user and each combination.

    >>> paper_seconds(6040, 294)
    31.67
    """
    return round(0.005 * (n_users + n_combinations), 9)


def chance_trial(
    subject: Subject,
    permutations: int,
    labels: Mapping[str, Any] | None = None,
    min_support: float = MIN_SUPPORT,
    by: Sequence[str] | None = None,
    testsgd: bool = False,
) -> Trial:
    """The exact gap of each metric and its null distribution: a row each.

    The gap is between intersections of all attributes, or of some.

    Parameters
    ----------
    by : some of the attributes; all by default
    testsgd : whether the groups are those that TestSGD looks at
    """

    def work(progress: Progress) -> list[Row]:
        space = subject.space(min_support, by, testsgd)
        progress("testing against chance", 0, 0)
        first, *others = _test_gaps(subject, space, permutations)
        sizes = {
            "n_users": subject.inputs.n_users,
            "n_groups": len(space.full),
            "n_combinations": space.n_combinations,
            "min_users": space.min_users,
        }
        # the pooled AUC stands beside the other
        return [{**sizes, **row} for row in (first, _pooled(subject, space), *others)]

    about = {"min_support": min_support, "by": by, "testsgd": testsgd, "permutations": permutations}
    name = f"{subject.source.name}: {subject.model}, chance"
    labels = {**(labels or {}), "min_support": min_support}
    return Trial("chance", name, about, work, labels, subject)


def _test_gaps(subject: Subject, space: Grouping, permutations: int) -> list[Row]:
    """A row for each metric that is a mean over users."""
    moments = group_moments(subject.values, space, subject.threads)
    is_tested = moments.n >= space.min_users
    gaps = extreme_gaps(moments.deviation, is_tested & space.lattice.is_full)
    # gaps alone are used, for which directions make no difference
    null = Permuted(moments, space, is_tested, [None] * len(is_tested))
    test = null_distribution(null, permutations, 0, subject.threads)
    rows = []
    for i, metric in enumerate(subject.metric_names):
        row: Row = {"metric": metric, "mean": float(moments.mean[i]), **_UNKNOWN}
        if not np.isnan(gaps[i]):
            by_chance = np.sort(test.gaps[:, i])
            row |= {
                "gap": float(gaps[i]),
                "chance_mean": float(by_chance.mean()),
                "chance_q95": float(np.quantile(by_chance, 0.95)),
                "p_value": gap_p_value(by_chance, float(gaps[i])),
                "by_chance": [float(f"{gap:.9g}") for gap in by_chance],
            }
        rows.append(row)
    return rows


def _pooled(subject: Subject, space: Grouping) -> Row:
    """The AUC of the pooled rows of a group, as the paper's tables have it; untested."""
    inputs, cells = subject.scored, space.cells
    candidates = inputs.candidates
    assert candidates.labels is not None
    by_cell = inputs.list_of_user[np.argsort(cells.of_user, kind="stable")]
    per_cell = []
    for lists in np.split(by_cell, np.cumsum(cells.n_users)[:-1]):
        if len(lists) >= space.min_users:
            scores, labels = (
                gather_lists(row, candidates.offsets, lists)
                for row in (candidates.scores, candidates.labels)
            )
            per_cell.append(pooled_auc(scores, labels))
    known = np.array(per_cell)[~np.isnan(per_cell)]
    mean = pooled_auc(candidates.scores, candidates.labels)
    gap = float(np.ptp(known)) if len(known) else None
    return {"metric": POOLED, "mean": mean, **_UNKNOWN, "gap": gap}


_UNKNOWN: Row = {
    **dict.fromkeys(("gap", "chance_mean", "chance_q95", "p_value")),
    "by_chance": [],
}


WAYS: dict[str, Callable[[Grouping, int, np.random.Generator], IntArray]] = {
    "uniform": uniform_positions,
    "by distribution": observed_positions,
}
"""How particles are drawn: by plain swarms, and by the paper's."""


def particle_trial(source: DataSource, way: str, seed: int) -> Trial:
    """How many particles begin where there are users, or enough of them: one row."""

    def work(progress: Progress) -> list[Row]:
        space, _ = read_space(source)
        positions = first_positions(space, way, seed)
        groups = space.groups_at(positions.tolist())
        occupied = set(map(tuple, space.cells.codes.T.tolist()))
        return [
            {
                "n_particles": len(positions),
                "n_combinations": space.n_combinations,
                "n_groups": len(space.full),
                "on_users": float(np.mean([tuple(p) in occupied for p in positions.tolist()])),
                "on_groups": float((groups >= 0).mean()),
                "groups_seen": len(set(groups[groups >= 0].tolist())),
            }
        ]

    about = {"data": source.bundle.manifest.sha256, "way": way, "seed": seed}

    labels = {"dataset": source.name, "way": way, "seed": seed}
    return Trial("particles", f"{source.name}: particles {way}", about, work, labels)


def first_positions(space: Grouping, way: str, seed: int) -> IntArray:
    """(n_particles, n_attributes), as many particles as the paper's swarms have."""
    return WAYS[way](space, DPSOParameters().n_particles(space), np.random.default_rng(seed))


def read_space(source: DataSource) -> tuple[Grouping, list[list[str]]]:
    """The combinations of a bundle's users, and the values of each attribute as text."""
    users = source.bundle.users
    table = read_users(Table(users, "users", None), list(source.bundle.manifest.attributes))
    attributes = table.attributes(np.arange(users.height))
    values = [[str(value) for value in attribute.values] for attribute in attributes]
    return full_combinations(attributes), values


@dataclass(frozen=True, slots=True)
class Method:
    """A way of testing.

    Parameters
    ----------
    title : in tables
    published : its name among the published numbers; "" where the paper does not have it
    users : the most users, as a share of all; None for as many as it likes
    fixed_time : each search has the fixed time of the paper and no more
    min_support : what its gap is to be compared with under chance: TestSGD leaves smaller
        groups out, and the gap between large ones is smaller by chance too
    """

    title: str
    searcher: str
    published: str = ""
    hyper: Mapping[str, float] = field(default_factory=dict)
    users: float | None = None
    fixed_time: bool = False
    min_support: float = MIN_SUPPORT

    def settings(self) -> dict[str, Any]:
        """What determines its searches; a title does not."""
        names = ("searcher", "hyper", "users", "fixed_time")
        return {name: getattr(self, name) for name in names}


def search_trial(
    subject: Subject, method: Method, seed: int, labels: Mapping[str, Any] | None = None
) -> Trial:
    """The gap a method finds in each metric, and what it took: one row for each metric.

    As in the paper each metric is searched by itself; a user whose scores one search paid for
    costs the next one nothing. Methods that enumerate find the same either way and go once.
    """
    return Trial(
        "search",
        f"{subject.source.name}: {subject.model}, {method.title}, seed {seed}",
        {**method.settings(), "seed": seed},
        lambda progress: _search(subject, method, seed, progress),
        {**(labels or {}), "method": method.title, "seed": seed},
        subject,
    )


def _search(subject: Subject, method: Method, seed: int, progress: Progress) -> list[Row]:
    progress("searching", 0, 0)
    inputs, metrics = subject.inputs, subject.metrics
    space = subject.space(MIN_SUPPORT, testsgd=method.searcher == "testsgd")
    n_users, searcher = inputs.n_users, SEARCHERS[method.searcher]
    enumerates = searcher.searches_all and method.searcher != "adaptive"
    limit = paper_seconds(n_users, space.n_combinations) if method.fixed_time else None
    # a share times a count may be a hair below a whole number
    most = None if method.users is None else max(1, int(method.users * n_users + 1e-9))
    parts = [metrics] if enumerates else [(metric,) for metric in metrics]
    started = time.perf_counter()
    proxies = popularity_proxy(inputs, metrics, subject.threads) if searcher.uses_proxy else None
    ledger = Ledger(inputs.candidates, subject.scorer)
    rows: list[Row] = []
    for part in parts:
        if method.fixed_time:
            # each search has the whole time, so it gets nothing for free
            ledger = Ledger(inputs.candidates, subject.scorer)
        measure = Measure(
            part, inputs.candidates, inputs.side, ledger, subject.threads, inputs.list_of_user
        )
        own = None if proxies is None else proxies[len(rows) : len(rows) + len(part)]
        own_work = OwnWork()
        outcome = search(
            method.searcher,
            Evidence(space, measure, len(part), seed, own),
            hyper_parameters(method.searcher, method.hyper),
            seed=seed,
            budget=Budget(most, limit),
            batch_users=n_users if method.searcher == "exact" else BATCH_USERS,
            watch=own_work.watch,
        )
        gaps = outcome.history[-1].gaps if outcome.history else (0.0,) * len(part)
        rows += [
            {
                "metric": metric.name,
                "gap": gap,
                "users": outcome.evidence.users_scored,
                "combinations": own_work.n_queried,
                "seconds_of_search": outcome.seconds,
                "ending": outcome.ending,
            }
            for metric, gap in zip(part, gaps, strict=True)
        ]
    together = {
        "seconds": time.perf_counter() - started,
        "users_together": None if method.fixed_time else ledger.users,
        "n_users": n_users,
        "n_combinations": space.n_combinations,
        "limit": limit,
    }
    return [{**row, **together} for row in rows]


THETAS = {
    "movielens-1m": (0.01, 0.005),
    "lfm360k": (0.01, 0.005),
    "blackfriday": (0.005, 0.002),
    "amazon-electronics": (0.005, 0.002),
}
"""Of TestSGD, as the paper chose them."""
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
ADAPTIVE = Method("ours: adaptive", "adaptive", hyper={"findings": 0.0})
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


def testsgds(dataset: str) -> list[Method]:
    """TestSGD with each theta that the paper chose for a data set."""
    return [large_groups(theta) for theta in THETAS[dataset]]


def for_setting(method: Method, setting: Setting) -> Method:
    """The method, hurried in a quick run where it takes long."""
    if not (setting.options.quick and method.searcher in HURRIED):
        return method
    return replace(method, hyper={**method.hyper, **HURRIED[method.searcher]})


def method_trials(setting: Setting, methods: ByDataset) -> list[Trial]:
    """Every method on every subject with every seed, and the null distribution of every gap."""
    permutations = setting.options.permutations
    trials = []
    for subject in setting.subjects():
        own = [for_setting(method, setting) for method in methods[subject.source.name]]
        for min_support in sorted({MIN_SUPPORT, *(method.min_support for method in own)}):
            # only TestSGD leaves out more groups than the paper does
            is_testsgd = min_support != MIN_SUPPORT
            trials.append(
                chance_trial(subject, permutations, min_support=min_support, testsgd=is_testsgd)
            )
        trials += [
            search_trial(subject, method, seed) for method in own for seed in setting.options.seeds
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
