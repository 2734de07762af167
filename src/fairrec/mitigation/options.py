"""What to mitigate and how."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from fairrec.core.errors import InputError
from fairrec.core.option_types import Form, Name, Names, Number, Table
from fairrec.core.options import STATISTICS, TABLES, Option, Options, options, spell

if TYPE_CHECKING:
    from fairrec.metrics import MetricAtK

MITIGATION = "What is mitigated"


def _parse_groups(given: Any) -> str | Path:
    from fairrec.mitigation.choosing import is_worst_rule

    if not isinstance(given, str | Path):
        raise ValueError("neither a rule nor a path")
    if isinstance(given, str):
        is_worst_rule(given)
    return given


Validation = Annotated[
    Table | None,
    Option(
        "Scored candidates with other targets of the same users, to choose by",
        TABLES,
        default="one half of the users",
    ),
]
ReportedMetrics = Annotated[
    Names | None,
    Option(
        "Metrics to report beside the one to improve: auc,ndcg@10",
        STATISTICS,
        default="as the tables allow, auc, mrr, ndcg, urd, urp and urp_abs",
    ),
]


@options
class MitigationOptions(Options):
    """What to mitigate and how."""

    metric: Annotated[Name, Option("What to improve: urd@5, urp_abs@5, ndcg@10", MITIGATION)]
    groups: Annotated[
        Any,
        BeforeValidator(_parse_groups),
        Form("findings, worst:10%, worst:5 or a file with one group a row", "RULE|FILE"),
        Option(
            "Groups to re-rank: findings, worst:10% or worst:5 of the intersections of all "
            "attributes, or a file",
            MITIGATION,
        ),
    ] = "findings"
    reranker: Annotated[
        Name | None,
        Option("See fairrec list rerankers", MITIGATION, default="the one made for the metric"),
    ] = None
    strength: Annotated[
        Annotated[Number, Field(ge=0, le=1)] | Literal["auto"],
        Option(
            "0, which changes nothing, to 1; 'auto' brings the groups level with all others",
            MITIGATION,
        ),
    ] = "auto"
    max_loss: Annotated[
        Number,
        Field(ge=0, le=1),
        Option("With 'auto': largest relative loss of NDCG in the chosen groups", MITIGATION),
    ] = 0.02

    def __post_init__(self) -> None:
        from fairrec.metrics import parse_metric
        from fairrec.mitigation.reranker import RERANKERS

        parse_metric(self.metric)
        RERANKERS[self.reranker_name]

    @property
    def target(self) -> MetricAtK:
        """The metric to improve."""
        from fairrec.metrics import parse_metric

        return parse_metric(self.metric)

    @property
    def k(self) -> int:
        """Places that are re-ranked."""
        from fairrec.metrics.parsing import DEFAULT_K

        return self.target.k or DEFAULT_K

    @property
    def cost_name(self) -> str:
        """The accuracy that a strength must not cost."""
        return f"ndcg@{self.k}"

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
                f"order, name one with {spell('reranker')}: {', '.join(RERANKERS)}"
            )
        return name
