"""Scores of many pairs from a deep model, in chunks, without a Python loop per user."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

import numpy as np
import torch

from fairrec.core.arrays import AnyArray, FloatArray
from fairrec.core.threads import map_in_threads
from fairrec_paper.models.deep.base import CTRModel
from fairrec_paper.models.deep.one_thread import one_thread

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

    starts = range(0, len(users), size)
    was_training = model.training
    model.eval()
    with _a_thread_each(len(starts) if device.type == "cpu" else 1) as threads:
        for done in map_in_threads(score, starts, threads):
            advance(done)
    model.train(was_training)
    return scores


@contextmanager
def _a_thread_each(n_chunks: int) -> Iterator[int]:
    """How many chunks to score at once, each by one thread."""
    if n_chunks <= 1 or torch.get_num_threads() == 1:
        yield 1
        return
    # one at a time, or the first to end would set the number for the others
    with _ALONE, one_thread() as threads:
        yield threads
