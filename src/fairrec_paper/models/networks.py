"""The paper's deep models, Wide&Deep, DeepFM, DCN and FGCNN, and scores of many pairs from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Annotated

import numpy as np
import torch
from pydantic import BeforeValidator, Field
from pydantic.dataclasses import dataclass
from torch import Tensor, nn
from torch.nn.functional import pad

from fairrec.core.arrays import AnyArray, FloatArray
from fairrec.core.errors import InputError
from fairrec.core.options import spell
from fairrec.core.registry import Registry
from fairrec.core.threads import map_in_threads
from fairrec_paper.models.data import FeatureTables

Size = Annotated[int, Field(ge=1, lt=1 << 31, strict=True)]
Sizes = Annotated[
    tuple[Size, ...],
    # one layer may be given as a number
    BeforeValidator(lambda given: given if isinstance(given, list | tuple) else (given,)),
]


@dataclass(frozen=True, slots=True)
class HyperParameters:
    """Sizes that all models have."""

    embedding: Size = 8
    layers: Sizes = (256, 128)
    dropout: Annotated[float, Field(ge=0, lt=1, strict=True)] = 0.0


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
        self._keep("user_rows", (tables.user_codes + starts[:n_user_fields]).astype(np.int32))
        self._keep("item_rows", (tables.item_codes + starts[n_user_fields:-1]).astype(np.int32))
        self.table = nn.Embedding(int(starts[-1]), size)
        nn.init.normal_(self.table.weight, std=0.01)
        self.n_fields = len(sizes) + bool(tables.n_categories)
        self.categories: nn.Embedding | None = None
        if tables.n_categories:
            self._keep("item_categories", tables.item_categories)
            counts = np.maximum((tables.item_categories > 0).sum(axis=1), 1)
            self._keep("category_weight", 1 / counts.astype(np.float32))
            self.categories = nn.Embedding(tables.n_categories + 1, size, padding_idx=0)
            nn.init.normal_(self.categories.weight, std=0.01)
            with torch.no_grad():
                self.categories.weight[0] = 0

    def _keep(self, name: str, codes: AnyArray) -> None:
        # not among the weights: a run has the tables that they are made from
        self.register_buffer(name, torch.from_numpy(codes), persistent=False)

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

    def penalised_weights(self) -> list[nn.Parameter]:
        """The weights that an L2 penalty is on: those of embeddings and of the first order."""
        tables = (part for part in self.modules() if isinstance(part, nn.Embedding))
        return [weight for table in tables for weight in table.parameters()]


def choose_device(name: str) -> torch.device:
    """The device of this name; "auto" is CUDA where there is one."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name == "cuda" and not torch.cuda.is_available():
        raise InputError(
            f"{spell('device', 'cuda')}: no CUDA device is there. Use {spell('device', 'cpu')}."
        )
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


class WideDeep(CTRModel):
    """Sum of a linear model and a tower over the embedded fields."""

    name = "wide_deep"

    def __init__(self, tables: FeatureTables, hyper: HyperParameters) -> None:
        super().__init__(tables, hyper)
        self.linear = Linear(tables)
        self.deep = tower(self.fields.n_fields * hyper.embedding, hyper)

    def logit(self, users: Tensor, items: Tensor, embedded: Tensor) -> Tensor:
        """The linear and the deep logit together."""
        logit: Tensor = self.deep(embedded.flatten(1)) + self.linear(users, items)
        return logit


class DeepFM(WideDeep):
    """With the inner products of all pairs of fields."""

    name = "deepfm"

    def logit(self, users: Tensor, items: Tensor, embedded: Tensor) -> Tensor:
        """First order, pairs and tower together."""
        # all pairs at once: half of (square of the sum minus sum of the squares)
        pairs = 0.5 * (embedded.sum(dim=1).square() - embedded.square().sum(dim=1)).sum(dim=1)
        return super().logit(users, items, embedded) + pairs


@dataclass(frozen=True, slots=True)
class DCNHyperParameters(HyperParameters):
    """With the number of cross layers.

    Parameters
    ----------
    linear : whether a first-order part stands beside both networks, as in DeepCTR
    """

    cross_layers: Size = 3
    linear: bool = False


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

    def penalised_weights(self) -> list[nn.Parameter]:
        """With the weights of the crosses."""
        return [*super().penalised_weights(), self.weights]


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

    filters: Sizes = (8, 10)
    width: Sizes = (3,)
    new_maps: Sizes = (2, 2)
    pooling: Size = 2
    whole_pools: bool = False
    linear: bool = False

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
        n_layers = len(hyper.filters)
        if not len(hyper.new_maps) == len(hyper.widths) == n_layers:
            raise InputError(
                "invalid hyper-parameters of fgcnn: expected as many new_maps as filters, and one "
                f"width or as many, got {n_layers} filters, {len(hyper.new_maps)} new_maps and "
                f"{len(hyper.width)} widths"
            )
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
        self.register_buffer("first", first, persistent=False)
        self.register_buffer("second", second, persistent=False)
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


MODELS: Registry[type[CTRModel]] = Registry("model")
for model in (WideDeep, DeepFM, DCN, FGCNN):
    MODELS.add(model.name, model)


@contextmanager
def one_thread() -> Iterator[int]:
    """Torch on one thread; yields how many it had.

    With the few rows of a step or a chunk waiting takes longer than the work, and many times as
    long where the cores have other work too.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield threads
    finally:
        torch.set_num_threads(threads)


CPU_ROWS = 1 << 13
GPU_ROWS = 1 << 22
_ALONE = Lock()


def score_pairs(
    model: CTRModel,
    users: AnyArray,
    items: AnyArray,
    advance: Callable[[int], None] = lambda done: None,
) -> FloatArray:
    """(n_pairs,), the model's logit for each pair of positions.

    Memory stays flat: chunks small enough for the cache on a CPU, large on a GPU.

    Parameters
    ----------
    advance : told how many pairs are scored
    """
    device = next(model.parameters()).device
    size = CPU_ROWS if device.type == "cpu" else GPU_ROWS
    scores = np.empty(len(users), dtype=np.float64)

    def score(start: int) -> int:
        part = slice(start, start + size)
        with torch.inference_mode():
            logits = model(
                torch.from_numpy(users[part]).to(device, torch.int64, non_blocking=True),
                torch.from_numpy(items[part]).to(device, torch.int64, non_blocking=True),
            )
            scores[part] = logits.float().cpu().numpy()
        return min(start + size, len(users))

    was_training = model.training
    model.eval()
    with _a_thread_each() as threads:
        for done in map_in_threads(score, range(0, len(users), size), threads):
            advance(done)
    model.train(was_training)
    return scores


@contextmanager
def _a_thread_each() -> Iterator[int]:
    """How many chunks to score at once, each by one thread."""
    if torch.get_num_threads() == 1:
        yield 1
        return
    # one at a time, or the first to end would set the number for the others
    with _ALONE, one_thread() as threads:
        yield threads
