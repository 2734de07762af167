"""The mitigation of one metric, with groups chosen in one of three ways."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl

from fairrec.core.progress import Progress
from fairrec.groups.group import Group
from fairrec.metrics.measured import measure_everyone
from fairrec.metrics.reading import read_inputs
from fairrec.mitigation.groups import WorstRule, choose_worst
from fairrec.reproduction.recommender import Recommender
from fairrec.reproduction.space import MIN_SUPPORT, full_combinations
from fairrec.reproduction.subject import Subject
from fairrec.reproduction.trials.trial import Row, Trial
from fairrec.result.mitigation_schema import MitigatedGroup, MitigationSummary
from fairrec.workflows.mitigate import mitigate

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
