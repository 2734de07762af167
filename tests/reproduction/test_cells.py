"""Finished cells are kept, and only what determines a cell decides whether it is the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairrec.core.errors import InputError, OutputError
from fairrec.reproduction.cells import Cell, CellStore, run_cells


def silent(stage: str, done: int, total: int) -> None:
    pass


class Work:
    """A cell that counts how often it is worked out."""

    def __init__(self) -> None:
        self.times = 0

    def cell(self, seed: int = 0, kind: str = "search", **labels: object) -> Cell:
        def work(told):
            self.times += 1
            return [{"metric": "auc", "gap": 0.25 + seed}]

        about = {"seed": seed, "by": ("gender", "age")}
        return Cell(kind, "a cell", lambda told: about, work, labels)


def test_a_finished_cell_is_not_worked_out_again(tmp_path: Path):
    work, store = Work(), CellStore(tmp_path / "cells")
    first = store.rows(work.cell(), silent)
    again = CellStore(tmp_path / "cells").rows(work.cell(), silent)
    assert first == again == [{"metric": "auc", "gap": 0.25}]
    assert (work.times, store.n_worked) == (1, 1)
    assert [file.suffix for file in (tmp_path / "cells").iterdir()] == [".json"]


def test_another_seed_or_kind_is_another_cell(tmp_path: Path):
    work, store = Work(), CellStore(tmp_path)
    for cell in (work.cell(0), work.cell(1), work.cell(0, kind="chance"), work.cell(1)):
        store.rows(cell, silent)
    assert work.times == 3


def test_labels_are_of_the_use_and_not_kept(tmp_path: Path):
    work, store = Work(), CellStore(tmp_path)
    assert store.rows(work.cell(method="dpso"), silent)[0]["method"] == "dpso"
    assert store.rows(work.cell(method="other"), silent)[0]["method"] == "other"
    assert work.times == 1


def test_a_damaged_cell_is_named(tmp_path: Path):
    work, store = Work(), CellStore(tmp_path)
    store.rows(work.cell(), silent)
    (file,) = tmp_path.iterdir()
    file.write_text('{"about"')
    with pytest.raises(InputError, match=rf"{file.name}: is damaged.*Remove it"):
        store.rows(work.cell(), silent)


def test_an_interrupted_cell_leaves_nothing_behind(tmp_path: Path):
    def work(told):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        CellStore(tmp_path).rows(Cell("search", "", lambda told: {}, work), silent)
    assert [*tmp_path.iterdir()] == []


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path):
    (tmp_path / "cells").write_text("a file")
    with pytest.raises(OutputError, match="Choose another --out"):
        CellStore(tmp_path / "cells").rows(Work().cell(), silent)


def test_progress_is_over_all_cells_and_rows_come_by_kind(tmp_path: Path):
    work, told = Work(), []
    cells = [work.cell(0, n=1), work.cell(0, kind="chance"), work.cell(1, n=2)]
    frames = run_cells(cells, CellStore(tmp_path), lambda *step: told.append(step))
    assert [step[1:] for step in told] == [(0, 3), (1, 3), (2, 3)]
    assert told[0][0] == "1 of 3, a cell"
    assert frames["search"].rows() == [(1, "auc", 0.25), (2, "auc", 1.25)]
    assert frames["chance"].rows() == [("auc", 0.25)]
