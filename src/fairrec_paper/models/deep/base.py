"""What the deep models share: embedded fields in, one logit out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import torch
from torch import Tensor, nn

from fairrec.core.arrays import AnyArray
from fairrec.core.errors import InputError, plain, unknown_name
from fairrec.core.options import spelled
from fairrec_paper.models.deep.features import FeatureTables

MOST_LAYERS = 100
_LARGEST = 1 << 31


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value < _LARGEST


@dataclass(frozen=True, slots=True)
class HyperParameters:
    """Sizes that all models have."""

    embedding: int = 8
    layers: tuple[int, ...] = (256, 128)
    dropout: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(field.default, bool):
                fits, allowed = value in (0, 1), "1 or 0"
            elif field.name == "dropout":
                is_number = isinstance(value, int | float)
                fits, allowed = is_number and 0 <= value < 1, "a number from 0 to below 1"
            elif isinstance(field.default, tuple):
                is_tuple = isinstance(value, tuple)
                fits = is_tuple and len(value) <= MOST_LAYERS and all(map(_is_size, value))
                allowed = "whole numbers from 1, such as 256-128"
            else:
                fits, allowed = _is_size(value), "a whole number from 1"
            if not fits:
                raise InputError(
                    f"invalid hyper-parameter {field.name}: expected {allowed}, got "
                    f"{plain(repr(value))}"
                )


class Fields(nn.Module):
    """Embeddings of all fields of a user and an item: one table, an offset for each field.

    Categories are one field more: the mean of an item's category embeddings, zero without any.
    The feature tables are buffers, so a model scores plain positions of users and items.
    """

    user_rows: Tensor
    item_rows: Tensor
    item_categories: Tensor
    category_weight: Tensor

    def __init__(self, tables: FeatureTables, size: int) -> None:
        super().__init__()
        sizes = [*tables.user_sizes, *tables.item_sizes]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        n_user_fields = len(tables.user_sizes)
        self._keep("user_rows", tables.user_codes + starts[:n_user_fields])
        self._keep("item_rows", tables.item_codes + starts[n_user_fields:-1])
        self.table = nn.Embedding(int(starts[-1]), size)
        nn.init.normal_(self.table.weight, std=0.01)
        self.n_fields = len(sizes) + bool(tables.n_categories)
        self.categories: nn.Embedding | None = None
        if tables.n_categories:
            self._keep("item_categories", tables.item_categories)
            counts = np.maximum((tables.item_categories > 0).sum(axis=1), 1)
            self.register_buffer("category_weight", torch.from_numpy(1 / counts.astype(np.float32)))
            self.categories = nn.Embedding(tables.n_categories + 1, size, padding_idx=0)
            nn.init.normal_(self.categories.weight, std=0.01)
            with torch.no_grad():
                self.categories.weight[0] = 0

    def _keep(self, name: str, codes: AnyArray) -> None:
        self.register_buffer(name, torch.from_numpy(codes.astype(np.int32)))

    def forward(self, users: Tensor, items: Tensor) -> Tensor:
        """(n_rows, n_fields, size)."""
        rows = torch.cat([self.user_rows[users], self.item_rows[items]], dim=1)
        embedded: Tensor = self.table(rows)
        if self.categories is None:
            return embedded
        mean = self.categories(self.item_categories[items]).sum(dim=1)
        mean = mean * self.category_weight[items].unsqueeze(1)
        return torch.cat([embedded, mean.unsqueeze(1)], dim=1)


class CTRModel(nn.Module):
    """A model that gives the logit of a user choosing an item.

    Subclasses set `name` and `hyper_parameters`, build their parts and define `logit`.
    """

    name: str
    hyper_parameters: type[HyperParameters] = HyperParameters

    def __init__(self, tables: FeatureTables, hyper: HyperParameters) -> None:
        super().__init__()
        self.hyper = hyper
        self.fields = Fields(tables, hyper.embedding)

    def forward(self, users: Tensor, items: Tensor) -> Tensor:
        """(n_rows,), a logit for each pair of positions."""
        embedded: Tensor = self.fields(users, items)
        return self.logit(users, items, embedded)

    def logit(self, users: Tensor, items: Tensor, embedded: Tensor) -> Tensor:
        """(n_rows,), the logit from the embedded fields (n_rows, n_fields, size)."""
        raise NotImplementedError

    def penalised(self) -> list[nn.Parameter]:
        """The weights that an L2 penalty is on: those of embeddings and of the first order."""
        tables = (part for part in self.modules() if isinstance(part, nn.Embedding))
        return [weight for table in tables for weight in table.parameters()]


def chosen_device(name: str) -> torch.device:
    """The device of this name; "auto" is CUDA where there is one."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name == "cuda" and not torch.cuda.is_available():
        raise InputError(
            f"{spelled('device', 'cuda')}: no CUDA device is there. Use {spelled('device', 'cpu')}."
        )
    if name not in ("cpu", "cuda"):
        raise unknown_name("device", name, ("auto", "cpu", "cuda"))
    return torch.device(name)


class Linear(nn.Module):
    """First order: one weight for each value of each field, and a bias."""

    def __init__(self, tables: FeatureTables) -> None:
        super().__init__()
        self.fields = Fields(tables, 1)
        self.bias = nn.Parameter(torch.zeros(1))

    def forward(self, users: Tensor, items: Tensor) -> Tensor:
        """(n_rows,)."""
        total: Tensor = self.fields(users, items).sum(dim=(1, 2)) + self.bias
        return total


def perceptron(n_in: int, layers: Sequence[int], dropout: float) -> nn.Sequential:
    """Fully connected layers with ReLU."""
    parts: list[nn.Module] = []
    for n_out in layers:
        parts += [nn.Linear(n_in, n_out), nn.ReLU()]
        if dropout:
            parts.append(nn.Dropout(dropout))
        n_in = n_out
    return nn.Sequential(*parts)


def tower(n_in: int, hyper: HyperParameters) -> nn.Sequential:
    """Fully connected layers down to one number."""
    last = hyper.layers[-1] if hyper.layers else n_in
    return nn.Sequential(
        *perceptron(n_in, hyper.layers, hyper.dropout), nn.Linear(last, 1), nn.Flatten(0)
    )
