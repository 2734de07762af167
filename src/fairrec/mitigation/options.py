"""What to mitigate and how."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fairrec.core.errors import InputError
from fairrec.core.kinds import NAME, NAMES, TABLE, Kind, number
from fairrec.core.options import STATISTICS, TABLES, Option, Options, spelled

if TYPE_CHECKING:
    from fairrec.metrics import MetricAtK

MITIGATION = "What is mitigated"


def _groups(given: Any) -> str | Path:
    from fairrec.mitigation.splitting import parse_worst

    if not isinstance(given, str | Path):
        raise ValueError
    if isinstance(given, str):
        parse_worst(given)
    return given


Groups = Annotated[
    str | Path,
    Option(
        Kind(_groups, "findings, worst:10%, worst:5 or a file with one group a row", "RULE|FILE"),
        "Whom: findings, worst:10% or worst:5 of the intersections of all attributes, or a file",
        MITIGATION,
    ),
]
Strength = Annotated[
    float | Literal["auto"],
    Option(
        number(least=0, most=1).or_word("auto"),
        "0, which changes nothing, to 1; 'auto' brings the groups level with all others",
        MITIGATION,
    ),
]
MaxLoss = Annotated[
    float,
    Option(
        number(least=0, most=1),
        "With 'auto': largest relative loss of NDCG in the chosen groups",
        MITIGATION,
    ),
]
Validation = Annotated[
    Any,
    Option(
        TABLE,
        "Scored candidates with other targets of the same users, to choose by",
        TABLES,
        default="one half of the users",
    ),
]
ReportedMetrics = Annotated[
    Any,
    Option(
        NAMES.or_none(),
        "Metrics to report beside the one to improve: auc,ndcg@10",
        STATISTICS,
        default="as the tables allow, auc, mrr, ndcg, urd, urp and urp_abs",
    ),
]

ByItems = Annotated[
    Any,
    Option(
        NAMES,
        "Attributes of the items whose share of attention is reported, as in by",
        MITIGATION,
        default="their categories",
    ),
]


@dataclass(frozen=True)
class MitigationOptions(Options):
    """What to mitigate and how."""

    metric: Annotated[str, Option(NAME, "What to improve: urd@5, urp_abs@5, ndcg@10", MITIGATION)]
    groups: Groups = "findings"
    reranker: Annotated[
        str | None,
        Option(
            NAME.or_none(),
            "See fairrec list rerankers",
            MITIGATION,
            default="the one made for the metric",
        ),
    ] = None
    strength: Strength = "auto"
    max_loss: MaxLoss = 0.02
    by_items: ByItems = ()

    def check(self) -> None:
        """Refuse a metric that cannot be mitigated so."""
        from fairrec.mitigation.reranker import RERANKERS

        target = self.target
        if target.metric.pooled:
            raise InputError(
                f"Metric '{target.name}' is no mean over users, so its change cannot be tested. "
                "Name one that is, such as auc."
            )
        RERANKERS[self.reranker_name]

    @property
    def target(self) -> MetricAtK:
        """The metric to improve."""
        from fairrec.metrics import parse_metric

        return parse_metric(self.metric)

    @property
    def reranker_name(self) -> str:
        """The re-ranker named, or the one made for the metric."""
        from fairrec.mitigation.reranker import RERANKERS, default_reranker

        name = self.reranker
        if name is None:
            name = default_reranker(self.target.metric.name)
        if name is None:
            raise InputError(
                f"No re-ranker is made for '{self.target.name}'. Re-ranking changes the order of a "
                "user's items, never which or how many there are. If the metric depends on their "
                f"order, name one with {spelled('reranker')}: {', '.join(RERANKERS)}"
            )
        return name

    def as_call(self) -> str:
        """The call that repeats it from Python."""
        return (
            f"fairrec.mitigate(predictions, users=users, by=by, metric={self.metric!r}, "
            f"groups={str(self.groups)!r}, reranker={self.reranker_name!r}, "
            f"strength={self.strength!r}, max_loss={self.max_loss!r})"
        )
