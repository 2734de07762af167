"""Scores of many pairs from a deep model, in chunks, without a Python loop per user."""

from __future__ import annotations

import numpy as np
import torch

from fairrec.core.arrays import AnyArray, FloatArray, IntArray
from fairrec.models.deep.base import CTRModel

CPU_ROWS = 1 << 13
GPU_ROWS = 1 << 22


def score_pairs(model: CTRModel, users: IntArray, items: AnyArray) -> FloatArray:
    """(n_pairs,), the model's logit for each pair of positions.

    Memory stays flat: chunks small enough for the cache on a CPU, large on a GPU.
    """
    device = next(model.parameters()).device
    size = CPU_ROWS if device.type == "cpu" else GPU_ROWS
    scores = np.empty(len(users), dtype=np.float64)
    was_training = model.training
    model.eval()
    with torch.inference_mode():
        for start in range(0, len(users), size):
            part = slice(start, start + size)
            logits = model(
                torch.from_numpy(users[part]).to(device, torch.int64, non_blocking=True),
                torch.from_numpy(items[part]).to(device, torch.int64, non_blocking=True),
            )
            scores[part] = logits.float().cpu().numpy()
    model.train(was_training)
    return scores
