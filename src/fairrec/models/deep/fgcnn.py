"""FGCNN: convolutions make new features of neighbouring fields (Liu 2019)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from fairrec.core.errors import InputError
from fairrec.models.deep.base import CTRModel, Fields, HyperParameters, tower
from fairrec.models.deep.features import FeatureTables


@dataclass(frozen=True, slots=True)
class FGCNNHyperParameters(HyperParameters):
    """With the layers that generate features.

    Parameters
    ----------
    filters : maps of each convolution
    width : fields a convolution sees at once
    new_maps : feature maps each recombination makes
    pooling : fields joined after each convolution
    """

    filters: tuple[int, ...] = (8, 10)
    width: int = 3
    new_maps: tuple[int, ...] = (2, 2)
    pooling: int = 2

    def __post_init__(self) -> None:
        HyperParameters.__post_init__(self)
        if self.width % 2 == 0 or len(self.filters) != len(self.new_maps):
            raise InputError(
                "invalid hyper-parameters of fgcnn: expected an odd width, and as many filters as "
                f"new_maps, got width={self.width}, {len(self.filters)} and {len(self.new_maps)}"
            )


class FGCNN(CTRModel):
    """New features from convolution and recombination, beside the raw ones, into a tower.

    The tower sees all features and the inner products of all their pairs.
    """

    name = "fgcnn"
    hyper_parameters = FGCNNHyperParameters
    first: Tensor
    second: Tensor

    def __init__(self, tables: FeatureTables, hyper: FGCNNHyperParameters) -> None:
        super().__init__(tables, hyper)
        # generation has embeddings of its own, or both parts would pull at the same ones
        self.raw = Fields(tables, hyper.embedding)
        self.convolutions = nn.ModuleList()
        self.recombinations = nn.ModuleList()
        n_height, n_maps, n_features = self.fields.n_fields, 1, self.fields.n_fields
        for n_filters, n_new in zip(hyper.filters, hyper.new_maps, strict=True):
            self.convolutions.append(
                nn.Conv2d(n_maps, n_filters, (hyper.width, 1), padding=(hyper.width // 2, 0))
            )
            n_height, n_maps = -(-n_height // hyper.pooling), n_filters
            n_made = n_height * n_new
            self.recombinations.append(
                nn.Linear(n_maps * n_height * hyper.embedding, n_made * hyper.embedding)
            )
            n_features += n_made
        self.pool = nn.MaxPool2d((hyper.pooling, 1), ceil_mode=True)
        first, second = torch.triu_indices(n_features, n_features, offset=1)
        self.register_buffer("first", first)
        self.register_buffer("second", second)
        self.deep = tower(n_features * hyper.embedding + len(first), hyper)

    def logit(self, users: Tensor, items: Tensor, embedded: Tensor) -> Tensor:
        """The tower over raw and generated features and their inner products."""
        features = [self.raw(users, items)]
        maps = embedded.unsqueeze(1)
        for convolve, recombine in zip(self.convolutions, self.recombinations, strict=True):
            maps = self.pool(torch.tanh(convolve(maps)))
            made = torch.tanh(recombine(maps.flatten(1)))
            features.append(made.view(len(made), -1, self.hyper.embedding))
        together = torch.cat(features, dim=1)
        products = (together @ together.transpose(1, 2))[:, self.first, self.second]
        logit: Tensor = self.deep(torch.cat([together.flatten(1), products], dim=1))
        return logit
