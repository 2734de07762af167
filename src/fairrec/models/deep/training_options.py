"""How a deep model is trained."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from fairrec.core.audit_options import Seed
from fairrec.core.kinds import SWITCH, number, one_of, pairs, to_number, whole
from fairrec.core.options import Option, Options

if TYPE_CHECKING:
    import torch

TRAINING = "Training"


def _hyper(given: Any) -> Any:
    """A number, or the sizes of layers: 256-128."""
    if not isinstance(given, str):
        return given
    try:
        number = to_number(given)
    except ValueError:
        return tuple(int(size) for size in given.split("-"))
    if not math.isfinite(number):
        raise ValueError
    return number


Hyper = Annotated[
    Mapping[str, Any],
    Option(
        pairs(_hyper, "name=number or name=number-number", "NAME=NUMBER"),
        "Hyper-parameters: embedding=16, layers=256-128",
        TRAINING,
    ),
]
Device = Annotated[
    str,
    Option(
        one_of("auto", "cpu", "cuda"),
        "Where to compute: cpu, cuda, or auto for CUDA where there is one",
        TRAINING,
    ),
]


@dataclass(frozen=True)
class TrainingOptions(Options):
    """How a model is trained."""

    epochs: Annotated[int, Option(whole(1), "Most passes over the data", TRAINING)] = 30
    patience: Annotated[
        int,
        Option(whole(1), "Epochs without a better validation AUC before training ends", TRAINING),
    ] = 2
    batch_size: Annotated[int, Option(whole(1), "Rows in a step", TRAINING)] = 4096
    learning_rate: Annotated[float, Option(number(above=0), "Step size of Adam", TRAINING)] = 1e-3
    holdout: Annotated[
        float,
        Option(
            number(above=0, below=1),
            "Share of the training rows kept out for the loss and AUC of the paper's protocol",
            TRAINING,
        ),
    ] = 0.2
    candidates: Annotated[
        int, Option(whole(2), "Candidates of a target, itself included", TRAINING)
    ] = 50
    all_positive: Annotated[
        bool,
        Option(SWITCH, "Count every interaction as positive, whatever its rating", TRAINING),
    ] = False
    seed: Seed = 0
    device: Device = "auto"

    @property
    def torch_device(self) -> torch.device:
        """The device to train on."""
        from fairrec.models.deep.base import chosen_device

        return chosen_device(self.device)
