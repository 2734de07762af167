"""Deep & Cross: explicit crosses of bounded degree beside a deep part (Wang 2017)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from fairrec.core.errors import InputError
from fairrec_paper.models.deep.base import (
    MOST_LAYERS,
    CTRModel,
    HyperParameters,
    Linear,
    perceptron,
)
from fairrec_paper.models.deep.features import FeatureTables


@dataclass(frozen=True, slots=True)
class DCNHyperParameters(HyperParameters):
    """With the number of cross layers.

    Parameters
    ----------
    linear : whether a first-order part stands beside both networks, as in DeepCTR
    """

    cross_layers: int = 3
    linear: bool = False

    def __post_init__(self) -> None:
        HyperParameters.__post_init__(self)
        if self.cross_layers > MOST_LAYERS:
            raise InputError(
                f"invalid hyper-parameter cross_layers: expected at most {MOST_LAYERS}, got "
                f"{self.cross_layers}"
            )


class DCN(CTRModel):
    """A cross network and a deep network side by side, joined by a linear layer."""

    name = "dcn"
    hyper_parameters = DCNHyperParameters

    def __init__(self, tables: FeatureTables, hyper: DCNHyperParameters) -> None:
        super().__init__(tables, hyper)
        n_in = self.fields.n_fields * hyper.embedding
        self.weights = nn.Parameter(torch.empty(hyper.cross_layers, n_in))
        self.biases = nn.Parameter(torch.zeros(hyper.cross_layers, n_in))
        nn.init.normal_(self.weights, std=n_in**-0.5)
        self.deep = perceptron(n_in, hyper.layers, hyper.dropout)
        n_deep = hyper.layers[-1] if hyper.layers else n_in
        self.join = nn.Linear(n_in + n_deep, 1)
        self.linear = Linear(tables) if hyper.linear else None

    def logit(self, users: Tensor, items: Tensor, embedded: Tensor) -> Tensor:
        """Each cross layer: x0 times (w . x), plus b, plus x."""
        start = embedded.flatten(1)
        crossed = start
        for weight, bias in zip(self.weights, self.biases, strict=True):
            crossed = start * (crossed @ weight).unsqueeze(1) + bias + crossed
        both = torch.cat([crossed, self.deep(start)], dim=1)
        logit: Tensor = self.join(both).squeeze(1)
        return logit if self.linear is None else logit + self.linear(users, items)

    def penalised(self) -> list[nn.Parameter]:
        """With the weights of the crosses."""
        return [*super().penalised(), self.weights]
