"""Trials of trainings, of mitigation, and of mitigating the next-worst groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl

from fairrec.core.arrays import IntArray
from fairrec.core.progress import Progress
from fairrec.groups.group import Group
from fairrec.groups.grouping import Grouping
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.metrics import MetricAtK
from fairrec.metrics.measured import measure_everyone
from fairrec.metrics.reading import read_inputs
from fairrec.mitigation.groups import WorstRule, choose_worst
from fairrec.result.mitigation_schema import MitigatedGroup, MitigationSummary
from fairrec.search.evidence import Evidence
from fairrec.search.loop import search
from fairrec.search.measure import popularity_proxy
from fairrec.search.options import Budget
from fairrec.search.searcher import SEARCHERS, hyper_parameters
from fairrec.workflows.mitigate import mitigate
from fairrec_paper.bench import everyone_scored, evidence_of, worst_cells
from fairrec_paper.reproduction.search_trials import Method, share_of
from fairrec_paper.reproduction.subject import MIN_SUPPORT, Recommender, Subject, full_combinations
from fairrec_paper.reproduction.trial import Row, Trial


def training_trial(subject: Subject, labels: Mapping[str, Any]) -> Trial:
    """Loss and AUC of a trained model: one row."""

    def work(progress: Progress) -> list[Row]:
        record = subject.trained(progress)
        assert record.holdout_loss is not None
        return [
            {
                "loss": record.holdout_loss,
                "loss_with_penalty": record.holdout_loss + record.penalty,
                "auc": record.holdout_auc,
                "n_train": record.n_train,
                "epochs": len(record.epochs),
                "best_epoch": record.best_epoch,
                "seconds": sum(epoch.seconds for epoch in record.epochs),
                **{f"test_{name}": value for name, value in record.test.items()},
            }
        ]

    def about(progress: Progress) -> dict[str, Any]:
        return {**subject.identity(progress)}

    name = f"{labels['dataset']}: training {subject.folder.name}"
    return Trial("training", name, about, work, labels)


WORST = WorstRule(share=0.1)
URP, SIGNED = "urp@5", "urp@5, signed"
TARGETS = {URP: "urp_abs@5", SIGNED: URP}
"""By the paper's text URP is an absolute value; by its equation, its code and its gaps a signed one
of which high values are bad, so both are improved."""
FRESH = "chosen on other targets"
SAME = "chosen on the same targets"
ORACLE = "same targets, labels seen"
WAYS = (FRESH, SAME, ORACLE)


def mitigation_trial(subject: Subject, metric: str, way: str, permutations: int) -> Trial:
    """The chosen groups and the gap, before and after: one row."""

    def work(progress: Progress) -> list[Row]:
        recommender = subject.recommender
        chosen_by = recommender.predictions("validation" if way == FRESH else "test")
        with _groups(metric, chosen_by, recommender.tables, subject.threads) as groups:
            # an oracle has nothing to lose
            how = {"reranker": "oracle", "strength": 1.0} if way == ORACLE else {}
            return [
                mitigated(
                    recommender, metric, chosen_by, groups, permutations, progress=progress, **how
                )
            ]

    def about(progress: Progress) -> dict[str, Any]:
        return {
            **subject.identity(progress),
            "metric": metric,
            "way": way,
            "permutations": permutations,
        }

    labels = {"dataset": subject.source.name, "model": subject.model, "metric": metric, "way": way}
    name = f"{subject.source.name}: {subject.model}, {metric} {way}"
    return Trial("mitigation", name, about, work, labels)


def mitigated(
    recommender: Recommender,
    metric: str,
    chosen_by: pl.DataFrame,
    groups: str | Path,
    permutations: int,
    **how: Any,
) -> Row:
    """What re-ranking the lists of groups does to them and to the gap on the test targets.

    Parameters
    ----------
    chosen_by : scored candidates that groups and strength are chosen by
    groups : a rule or a file
    how : other options of `mitigate`
    """
    result = mitigate(
        recommender.predictions(),
        metric=TARGETS.get(metric, metric),
        **recommender.tables,
        validation=chosen_by,
        groups=groups,
        depth="full",
        min_support=MIN_SUPPORT,
        permutations=permutations,
        **how,
    )
    return _row(result.summary, metric)


@contextmanager
def group_file(groups: Sequence[Group]) -> Iterator[Path]:
    """These groups in a file, for as long as they are needed."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "groups.parquet")
        pl.DataFrame([group.as_dict() for group in groups]).write_parquet(file)
        yield file


@contextmanager
def _groups(
    metric: str, chosen_by: pl.DataFrame, tables: dict[str, Any], threads: int
) -> Iterator[str | Path]:
    """The rule for the worst groups; a file with those of the highest signed URP.

    An audit takes neither end of the signed URP for the worse one, and would choose at both.
    """
    if metric != SIGNED:
        yield f"worst:{WORST.share:.0%}"
        return
    inputs, wanted = read_inputs(chosen_by, **{**tables, "metrics": [URP]})
    values = measure_everyone(inputs, wanted, threads).values[0]
    space = full_combinations(inputs.attributes, MIN_SUPPORT)
    rng = np.random.default_rng(0)
    highest = choose_worst(values, space, higher_is_better=False, rule=WORST, rng=rng).groups
    with group_file(highest) as file:
        yield file


def _row(summary: MitigationSummary, metric: str) -> Row:
    """What the tables show of a mitigation."""
    chosen = summary.effects[summary.metric].chosen
    gap = summary.effects[URP if metric == SIGNED else metric].gap
    ndcg = summary.effects["ndcg@5"].everyone
    levels = {"before": gap.chance_before, "after": gap.chance_after}
    means = {
        "chosen_by": summary.regression.chosen_by,
        "before": chosen.before,
        "after": chosen.after,
    }
    return {
        "reranker": summary.reranker,
        "strength": summary.strength,
        "n_groups": len(summary.groups),
        "n_chosen": chosen.n_users,
        "n_users": summary.n_users_reported,
        **(_signed_means(summary.groups) if metric == SIGNED else means),
        "p_change": chosen.p_value,
        "gap_before": gap.before,
        "gap_after": gap.after,
        **{f"chance_{when}": level and level.mean for when, level in levels.items()},
        **{f"p_{when}": level and level.p_value for when, level in levels.items()},
        "ndcg_before": ndcg.before,
        "ndcg_after": ndcg.after,
    }


def _signed_means(groups: Sequence[MitigatedGroup]) -> dict[str, float]:
    """Means over the users of all groups, where the summary tells distances from the others."""
    sizes = [group.change.n_users for group in groups]
    values = {
        "chosen_by": [group.chosen_by for group in groups],
        "before": [group.change.before for group in groups],
        "after": [group.change.after for group in groups],
    }
    return {name: float(np.average(np.array(of), weights=sizes)) for name, of in values.items()}


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
