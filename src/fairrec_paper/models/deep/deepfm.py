"""DeepFM: a factorisation machine and a tower on the same embeddings (Guo 2017)."""

from __future__ import annotations

from torch import Tensor

from fairrec_paper.models.deep.base import CTRModel, HyperParameters, Linear, tower
from fairrec_paper.models.deep.features import FeatureTables


class DeepFM(CTRModel):
    """Sum of first order, pairwise inner products of fields, and a tower."""

    name = "deepfm"

    def __init__(self, tables: FeatureTables, hyper: HyperParameters) -> None:
        super().__init__(tables, hyper)
        self.linear = Linear(tables)
        self.deep = tower(self.fields.n_fields * hyper.embedding, hyper)

    def logit(self, users: Tensor, items: Tensor, embedded: Tensor) -> Tensor:
        """First order, pairs and tower together."""
        # all pairs at once: half of (square of the sum minus sum of the squares)
        pairs = 0.5 * (embedded.sum(dim=1).square() - embedded.square().sum(dim=1)).sum(dim=1)
        logit: Tensor = self.deep(embedded.flatten(1)) + pairs + self.linear(users, items)
        return logit
