"""What a killed training needs to go on, on disk."""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from fairrec.core.errors import InputError
from fairrec.core.options import spelled
from fairrec_paper.models.deep.base import CTRModel
from fairrec_paper.models.runs.checkpoint import save_tensors

PREFIX = "training-"


def state_files(folder: Path) -> list[Path]:
    """The states of an unfinished training."""
    return [*folder.glob(f"{PREFIX}*")]


class TrainingState:
    """What a killed training needs to go on: weights, the best weights, the optimiser's means."""

    def __init__(self, model: CTRModel, optimizer: torch.optim.Adam, folder: Path) -> None:
        self.model = model
        self.optimizer = optimizer
        self.folder = folder
        self.best: dict[str, Tensor] = {}

    def keep_best(self) -> None:
        """Remember the present weights as the best ones."""
        self.best = {
            name: tensor.detach().clone() for name, tensor in self.model.state_dict().items()
        }

    def file(self, epoch: int) -> Path:
        """Where the state after an epoch is."""
        return self.folder / f"{PREFIX}{epoch:04d}.safetensors"

    def forget_before(self, epoch: int) -> None:
        """Remove the files of earlier epochs."""
        for file in state_files(self.folder):
            if file.name < self.file(epoch).name:
                file.unlink()

    def save(self, epoch: int) -> None:
        """Write the state after an epoch."""
        tensors = {f"model.{name}": t for name, t in self.model.state_dict().items()}
        tensors |= {f"best.{name}": t for name, t in self.best.items()}
        for number, means in self.optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{number}.{name}": t.clone() for name, t in means.items()}
        save_tensors(tensors, self.file(epoch))

    def load(self, epoch: int) -> None:
        """Take up the state after an epoch."""
        try:
            self._fill(load_file(self.file(epoch)))
        except (OSError, SafetensorError, KeyError, RuntimeError) as error:
            raise InputError(
                f"{self.file(epoch)}: the unfinished training cannot be taken up ({error}). "
                f"Begin anew with {spelled('restart', True)}."
            ) from error

    def _fill(self, tensors: dict[str, Tensor]) -> None:
        parts: dict[str, dict[str, Tensor]] = {"model": {}, "best": {}, "optimizer": {}}
        for key, tensor in tensors.items():
            part, _, name = key.partition(".")
            parts[part][name] = tensor
        self.model.load_state_dict(parts["model"])
        device = next(self.model.parameters()).device
        self.best = {name: tensor.to(device) for name, tensor in parts["best"].items()}
        means: dict[int, dict[str, Tensor]] = {}
        for key, tensor in parts["optimizer"].items():
            number, _, name = key.partition(".")
            means.setdefault(int(number), {})[name] = tensor
        whole = self.optimizer.state_dict()
        whole["state"] = means
        self.optimizer.load_state_dict(whole)
