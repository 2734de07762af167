"""The exact gap of each metric, and its null distribution: what chance alone shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fairrec.core.progress import Progress
from fairrec.groups.grouping import Grouping
from fairrec.metrics.accuracy import pooled_auc
from fairrec.statistics.moments import group_moments
from fairrec.statistics.permutation import Extremes, Permuted, gap_p_value, null_distribution
from fairrec.statistics.pooled import pooled_per_cell
from fairrec_paper.reproduction.space import MIN_SUPPORT
from fairrec_paper.reproduction.subject import Subject
from fairrec_paper.reproduction.trials.trial import Row, Trial

POOLED = "pooled_auc"


def chance_trial(
    subject: Subject,
    labels: Mapping[str, Any],
    permutations: int,
    min_support: float = MIN_SUPPORT,
    by: Sequence[str] | None = None,
    testsgd: bool = False,
) -> Trial:
    """The exact gap of each metric and its null distribution: a row each.

    The gap is between intersections of all attributes (full combinations), or of some.

    Parameters
    ----------
    by : some of the attributes; all by default
    testsgd : whether the groups are those that TestSGD looks at
    """

    def work(progress: Progress) -> list[Row]:
        space = subject.space(min_support, by, testsgd)
        progress("testing against chance", 0, 0)
        first, *others = _tested(subject, space, permutations)
        about = {
            "n_users": subject.inputs.n_users,
            "n_groups": len(space.full),
            "n_combinations": space.n_combinations,
            "min_users": space.min_users,
        }
        # the pooled AUC stands beside the other
        return [{**about, **row} for row in (first, _pooled(subject, space), *others)]

    def about(progress: Progress) -> dict[str, Any]:
        return {
            **subject.identity(progress),
            "min_support": min_support,
            "by": None if by is None else [*by],
            "testsgd": testsgd,
            "permutations": permutations,
        }

    name = f"{labels['dataset']}: {subject.model}, chance"
    return Trial("chance", name, about, work, labels)


def _tested(subject: Subject, space: Grouping, permutations: int) -> list[Row]:
    """A row for each metric that is a mean over users."""
    moments = group_moments(subject.values, space, subject.threads)
    is_tested = moments.n >= space.min_users
    gaps = Extremes(space.lattice, is_tested).range_of(moments.deviation)
    # gaps alone are used, for which directions make no difference
    null = Permuted(moments, space, is_tested, [None] * len(is_tested))
    test = null_distribution(null, permutations, 0, subject.threads)
    rows = []
    for i, metric in enumerate(subject.metrics):
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
    candidates = subject.scored.candidates
    assert candidates.labels is not None
    is_large = space.cells.n_users >= space.min_users
    per_cell = pooled_per_cell(pooled_auc, subject.scored, space, is_large)
    known = per_cell[~np.isnan(per_cell)]
    mean = pooled_auc(candidates.scores, candidates.labels)
    gap = float(np.ptp(known)) if len(known) else None
    return {"metric": POOLED, "mean": mean, **_UNKNOWN, "gap": gap}


_UNKNOWN: Row = {
    "gap": None,
    "chance_mean": None,
    "chance_q95": None,
    "p_value": None,
    "by_chance": [],
}
