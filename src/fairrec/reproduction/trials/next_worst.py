"""The worst groups that a search found under a budget, mitigated."""

from __future__ import annotations

from typing import Any

from fairrec.core.arrays import IntArray
from fairrec.core.progress import Progress
from fairrec.groups.group import Group
from fairrec.groups.grouping import Grouping
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.metrics import MetricAtK
from fairrec.metrics.measured import measure_everyone
from fairrec.metrics.reading import read_inputs
from fairrec.reproduction.space import MIN_SUPPORT, full_combinations
from fairrec.reproduction.subject import Subject
from fairrec.reproduction.trials.mitigation import TARGETS, group_file, mitigated
from fairrec.reproduction.trials.searches import Method, share_of
from fairrec.reproduction.trials.trial import Row, Trial
from fairrec.search.bench import everyone_scored, evidence_of, worst_cells
from fairrec.search.evidence import Evidence
from fairrec.search.loop import search
from fairrec.search.measure import popularity_proxy
from fairrec.search.options import Budget
from fairrec.search.searcher import SEARCHERS, hyper_parameters

NUMBERS = (1, 5, 10)
"""So many of the worst groups are re-ranked."""


def next_worst_trial(subject: Subject, metric: str, method: Method, seed: int) -> Trial:
    """The so many worst groups that a method found, before and after: a row for each number.

    The search, the groups and the strength are by the validation targets, the effect is on the
    test targets. Where it found fewer groups, these are re-ranked; where it found none, nothing.
    """

    def work(progress: Progress) -> list[Row]:
        recommender = subject.recommender
        chosen_by = recommender.predictions("validation")
        tables = {**recommender.tables, "metrics": [TARGETS.get(metric, metric)]}
        inputs, wanted = read_inputs(chosen_by, **tables, wants=("history",))
        space = full_combinations(inputs.attributes, MIN_SUPPORT)
        progress("searching", 0, 0)
        searched, worst, found = _searched(inputs, wanted, space, method, seed, subject.threads)
        rows = []
        for n in NUMBERS:
            chosen = found[:n]
            row: Row = {"worst": n, "users": searched.users_scored, "n_groups": len(chosen)}
            row["among_worst"] = len({*chosen.tolist()} & {*worst[:n].tolist()}) / n
            if len(chosen):
                with group_file(_named(chosen, space)) as file:
                    row |= mitigated(recommender, metric, chosen_by, file, 0, progress=progress)
                row["better_by"] = -wanted[0].metric.harm(row["after"] - row["before"])
            rows.append(row)
        return rows

    def about(progress: Progress) -> dict[str, Any]:
        return {
            **subject.identity(progress),
            "metric": metric,
            "searcher": method.searcher,
            "hyper": dict(method.hyper),
            "users": method.users,
            "numbers": [*NUMBERS],
            "seed": seed,
        }

    labels = {"dataset": subject.source.name, "model": subject.model, "metric": metric}
    name = f"{subject.source.name}: {subject.model}, {metric}, {method.title}, seed {seed}"
    return Trial("next-worst", name, about, work, {**labels, "method": method.title, "seed": seed})


def _searched(
    inputs: AuditInputs,
    wanted: tuple[MetricAtK, ...],
    space: Grouping,
    method: Method,
    seed: int,
    threads: int,
) -> tuple[Evidence, IntArray, IntArray]:
    """What was scored, all groups from the worst on, and those that were found."""
    values = measure_everyone(inputs, wanted, threads).values
    uses_proxy = SEARCHERS[method.searcher].uses_proxy
    proxies = popularity_proxy(inputs, wanted, threads) if uses_proxy else None
    outcome = search(
        method.searcher,
        evidence_of(space, values, seed, proxies),
        hyper_parameters(method.searcher, method.hyper),
        seed=seed,
        budget=Budget(share_of(space.n_users, method.users)),
    )
    directions = [metric.metric.higher_is_better for metric in wanted]
    (worst,) = worst_cells(everyone_scored(space, values), directions)
    (found,) = worst_cells(outcome.evidence, directions)
    return outcome.evidence, worst, found


def _named(cells: IntArray, space: Grouping) -> list[Group]:
    return [Group.of_codes(space.cells.codes[:, cell], space.attributes) for cell in cells]
