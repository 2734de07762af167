"""The mitigation of one metric, with groups chosen in one of three ways."""

from __future__ import annotations

from typing import Any

from fairrec.core.progress import Progress
from fairrec.reproduction.space import MIN_SUPPORT
from fairrec.reproduction.subject import Subject
from fairrec.reproduction.trials.trial import Row, Trial
from fairrec.result.mitigation_schema import MitigationSummary
from fairrec.workflows.mitigate import mitigate

WORST = "worst:10%"
TARGETS = {"urp@5": "urp_abs@5"}
"""The paper's URP is better when lower, which is our absolute value; its gap is of the signed."""
FRESH = "chosen on other targets"
SAME = "chosen on the same targets"
ORACLE = "same targets, labels seen"
WAYS = (FRESH, SAME, ORACLE)


def mitigation_trial(subject: Subject, metric: str, way: str, permutations: int) -> Trial:
    """The chosen groups and the gap, before and after: one row."""

    def work(progress: Progress) -> list[Row]:
        recommender = subject.recommender
        predictions = recommender.predictions()
        chosen_by = recommender.predictions("validation") if way == FRESH else predictions
        result = mitigate(
            predictions,
            metric=TARGETS.get(metric, metric),
            **recommender.tables,
            validation=chosen_by,
            groups=WORST,
            reranker="oracle" if way == ORACLE else None,
            # an oracle has nothing to lose
            strength=1.0 if way == ORACLE else "auto",
            depth="full",
            min_support=MIN_SUPPORT,
            permutations=permutations,
            progress=progress,
        )
        return [_row(result.summary, metric)]

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


def _row(summary: MitigationSummary, metric: str) -> Row:
    """What the tables show of a mitigation."""
    chosen = summary.effects[summary.metric].chosen
    gap = summary.effects[metric].gap
    ndcg = summary.effects["ndcg@5"].everyone
    levels = {"before": gap.chance_before, "after": gap.chance_after}
    return {
        "reranker": summary.reranker,
        "strength": summary.strength,
        "n_groups": len(summary.groups),
        "n_chosen": chosen.n_users,
        "n_users": summary.n_users_reported,
        "chosen_by": summary.regression.chosen_by,
        "before": chosen.before,
        "after": chosen.after,
        "p_change": chosen.p_value,
        "gap_before": gap.before,
        "gap_after": gap.after,
        **{f"chance_{when}": level and level.mean for when, level in levels.items()},
        **{f"p_{when}": level and level.p_value for when, level in levels.items()},
        "ndcg_before": ndcg.before,
        "ndcg_after": ndcg.after,
    }
