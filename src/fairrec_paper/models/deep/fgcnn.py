"""FGCNN: convolutions make new features of neighbouring fields (Liu 2019)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from fairrec.core.errors import InputError
from fairrec_paper.models.deep.base import CTRModel, Fields, HyperParameters, Linear, tower
from fairrec_paper.models.deep.features import FeatureTables


@dataclass(frozen=True, slots=True)
class FGCNNHyperParameters(HyperParameters):
    """With the layers that generate features.

    Parameters
    ----------
    filters : maps of each convolution
    width : fields a convolution sees at once, for all of them or for each
    new_maps : feature maps each recombination makes
    pooling : fields joined after each convolution
    whole_pools : whether fields that do not fill a pool are left out, as in DeepCTR
    linear : whether a first-order part stands beside the tower, as in DeepCTR
    """

    filters: tuple[int, ...] = (8, 10)
    width: tuple[int, ...] = (3,)
    new_maps: tuple[int, ...] = (2, 2)
    pooling: int = 2
    whole_pools: bool = False
    linear: bool = False

    def __post_init__(self) -> None:
        HyperParameters.__post_init__(self)
        n_layers = len(self.filters)
        if len(self.new_maps) != n_layers or len(self.width) not in (1, n_layers):
            raise InputError(
                "invalid hyper-parameters of fgcnn: expected as many new_maps as filters, and one "
                f"width or as many, got {n_layers} filters, {len(self.new_maps)} new_maps and "
                f"{len(self.width)} widths"
            )

    @property
    def widths(self) -> tuple[int, ...]:
        """One for each convolution."""
        return self.width * len(self.filters) if len(self.width) == 1 else self.width


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
        self.widths = hyper.widths
        self.convolutions = nn.ModuleList()
        self.recombinations = nn.ModuleList()
        n_height, n_maps, n_features = self.fields.n_fields, 1, self.fields.n_fields
        for n_filters, width, n_new in zip(
            hyper.filters, hyper.widths, hyper.new_maps, strict=True
        ):
            self.convolutions.append(nn.Conv2d(n_maps, n_filters, (width, 1)))
            n_left = 0 if hyper.whole_pools else n_height % hyper.pooling
            n_height, n_maps = n_height // hyper.pooling + bool(n_left), n_filters
            if not n_height:
                raise InputError(
                    "invalid hyper-parameters of fgcnn: expected a field to be left after each "
                    f"pooling, got {self.fields.n_fields} fields, pooling={hyper.pooling}"
                )
            n_made = n_height * n_new
            self.recombinations.append(
                nn.Linear(n_maps * n_height * hyper.embedding, n_made * hyper.embedding)
            )
            n_features += n_made
        self.pool = nn.MaxPool2d((hyper.pooling, 1), ceil_mode=not hyper.whole_pools)
        first, second = torch.triu_indices(n_features, n_features, offset=1)
        self.register_buffer("first", first)
        self.register_buffer("second", second)
        self.deep = tower(n_features * hyper.embedding + len(first), hyper)
        self.linear = Linear(tables) if hyper.linear else None

    def logit(self, users: Tensor, items: Tensor, embedded: Tensor) -> Tensor:
        """The tower over raw and generated features and their inner products."""
        features = [self.raw(users, items)]
        maps = embedded.unsqueeze(1)
        for width, convolve, recombine in zip(
            self.widths, self.convolutions, self.recombinations, strict=True
        ):
            # as many fields as before; an even width looks further ahead than back
            maps = pad(maps, (0, 0, (width - 1) // 2, width // 2))
            maps = self.pool(torch.tanh(convolve(maps)))
            made = torch.tanh(recombine(maps.flatten(1)))
            features.append(made.view(len(made), -1, self.hyper.embedding))
        together = torch.cat(features, dim=1)
        products = (together @ together.transpose(1, 2))[:, self.first, self.second]
        logit: Tensor = self.deep(torch.cat([together.flatten(1), products], dim=1))
        return logit if self.linear is None else logit + self.linear(users, items)
