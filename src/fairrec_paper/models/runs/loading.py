"""A run whose model is loaded while its tables are read: importing torch alone takes seconds."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from fairrec.core.errors import InputError, plain
from fairrec.core.progress import Progress
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.inputs.ids import known_positions
from fairrec_paper.models.deep.model_names import need_torch
from fairrec_paper.models.runs.record import load_finished_record, read_candidates

if TYPE_CHECKING:
    from fairrec.scoring.models.model import Model
    from fairrec.scoring.runs import Target
    from fairrec_paper.models.runs.run import Run


class LoadingRun:
    """A finished run: its candidates and tables now, its scores when the model is there.

    The candidates are read as any table is, each id once, and the model is asked for positions.

    Parameters
    ----------
    load : gives the run; called in a thread of its own, whose errors come up in `scored`
    """

    def __init__(self, folder: Path, load: Callable[[Path], Run]) -> None:
        self.folder, self._record = folder, load_finished_record(folder)
        self.file = folder / "test.parquet"
        pool = ThreadPoolExecutor(1, "loading")
        self._loading = pool.submit(load, folder)
        pool.shutdown(wait=False)

    def tables(self) -> dict[str, Any]:
        """What an audit needs beside predictions: users, items, history and attributes."""
        return self._record.tables(self.folder)

    def candidates(self, target: Target = "test") -> pl.DataFrame:
        """`user_id`, `item_id`, `label`, one row a user, to be scored."""
        return read_candidates(self.folder / f"{target}.parquet")

    def predictions(self, target: Target = "test") -> pl.DataFrame:
        """The candidates with their scores, one row a candidate."""
        return self._loading.result().predictions(target)

    def model(self, with_attributes: bool = True) -> Model:
        """The model to ask, given users' attributes where these may be others than in training."""
        from fairrec_paper.models.runs.run_model import RunModel

        return RunModel(self._loading.result(), with_attributes)

    def scored(self, inputs: AuditInputs, progress: Progress) -> AuditInputs:
        """The same inputs with the scores of their candidates."""
        from fairrec_paper.models.deep.score import score_pairs

        run, lists = self._loading.result(), inputs.candidates
        # a user and an item are looked up once, not in every pair
        users = known_positions(inputs.ids_of_lists, run.users["user_id"]).astype(np.int32)
        items = known_positions(lists.item_ids, run.items["item_id"]).astype(np.int32)
        scores = score_pairs(
            run.model,
            np.repeat(users, np.diff(lists.offsets)),
            items[lists.items],
            lambda done: progress("scoring", done, len(lists.items)),
        )
        if not np.isfinite(scores).all():
            raise InputError(
                f"{plain(self.folder, 200)}: the model gives scores that are not finite. Train "
                "again, with a lower learning rate."
            )
        return replace(inputs, candidates=replace(lists, scores=scores))


def load(folder: Path) -> LoadingRun:
    """A finished run on the best device there is, which the core asks for with `--run`."""
    need_torch()
    return LoadingRun(folder, _load_here)


def _load_here(folder: Path) -> Run:
    from fairrec_paper.models.runs.run import load_run

    return load_run(folder, "auto")
