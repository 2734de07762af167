"""A re-ranker in a file: all that is needed to apply it to new candidate lists."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field

from fairrec.core.saved_files import load_json
from fairrec.core.version import __version__
from fairrec.groups.group import Group
from fairrec.inputs.users import Value
from fairrec.metrics.parsing import DEFAULT_K
from fairrec.mitigation.groups import Choice
from fairrec.mitigation.options import MitigationOptions
from fairrec.mitigation.reranker import RERANKERS
from fairrec.mitigation.tuning import Aim
from fairrec.result.parts import ResultFile


class RerankerRecord(ResultFile):
    """The content of `reranker.json`. What a re-ranker learns it learns anew from the history."""

    schema_version: Literal["1"] = "1"
    fairrec_version: str
    reranker: str
    strength: float = Field(ge=0, le=1)
    metric: str = Field(description="what it was tuned for")
    k: int = Field(ge=1, description="places that are re-ranked")
    by: tuple[str, ...] = Field(description="attributes that define the groups, with their binning")
    groups: tuple[dict[str, Value], ...] = Field(description="whose lists are re-ranked")
    lowered: tuple[dict[str, Value], ...] = Field(
        default=(), description="groups served worse on purpose"
    )
    rest: float | None = Field(
        default=None, description="mean of the metric over all others, where a re-ranker aims at it"
    )

    @property
    def all_groups(self) -> tuple[Group, ...]:
        """Those to raise, then those to lower."""
        return tuple(Group.of(group) for group in (*self.groups, *self.lowered))

    def with_groups(self, groups: Sequence[Group]) -> RerankerRecord:
        """The same for other groups to raise."""
        return self.model_copy(update={"groups": tuple(group.as_dict() for group in groups)})


def record_of(
    plan: MitigationOptions, by: tuple[str, ...], choice: Choice, aim: Aim
) -> RerankerRecord:
    """The re-ranker of a mitigation, of no strength yet."""
    target = plan.target
    is_aim = target.metric.name in RERANKERS[plan.reranker_name].serves
    # a mean that takes labels to know is nothing a re-ranker may aim at
    has_rest = is_aim and "labels" not in target.metric.needs and not np.isnan(aim.rest)
    return RerankerRecord(
        fairrec_version=__version__,
        reranker=plan.reranker_name,
        strength=0.0,
        metric=target.name,
        k=target.k or DEFAULT_K,
        by=by,
        groups=tuple(group.as_dict() for group in choice.groups),
        lowered=tuple(group.as_dict() for group in choice.lowered),
        rest=aim.rest if has_rest else None,
    )


def load_reranker(file: str | Path) -> RerankerRecord:
    """The re-ranker in a file."""
    path = Path(file)
    fix = "Give the reranker.json that fairrec mitigate wrote."
    return load_json(path, RerankerRecord, "re-ranker", fix).model_copy(update={"id": ""})
