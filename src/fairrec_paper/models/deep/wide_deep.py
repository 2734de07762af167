"""Wide & Deep: a linear part that memorises and a deep part that generalises (Cheng 2016)."""

from __future__ import annotations

from torch import Tensor

from fairrec_paper.models.deep.base import CTRModel, HyperParameters, Linear, tower
from fairrec_paper.models.deep.features import FeatureTables


class WideDeep(CTRModel):
    """Sum of a linear model and a tower over the embedded fields."""

    name = "wide_deep"

    def __init__(self, tables: FeatureTables, hyper: HyperParameters) -> None:
        super().__init__(tables, hyper)
        self.wide = Linear(tables)
        self.deep = tower(self.fields.n_fields * hyper.embedding, hyper)

    def logit(self, users: Tensor, items: Tensor, embedded: Tensor) -> Tensor:
        """The wide and the deep logit together."""
        logit: Tensor = self.deep(embedded.flatten(1)) + self.wide(users, items)
        return logit
