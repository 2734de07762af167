"""A part is a description that travels, and parts come in their order."""

from __future__ import annotations

import pickle
from pathlib import Path

from fairrec.inputs.parts.part import Part, Parts
from fairrec.inputs.parts.piece import FileRows, Piece


def test_a_part_names_its_tables_for_reading():
    piece = Piece("a.parquet", Path("a.parquet"), (FileRows(Path("a.parquet"), 0, 3),))
    part = Part("part 1 of 1 of a.parquet", 3, {"values": piece}, {"items": "items.csv"})
    assert pickle.loads(pickle.dumps(part)) == part
    assert part.tables() == {"predictions": None, "values": piece, "items": "items.csv"}


def test_parts_come_in_their_order():
    some = tuple(Part(f"part {at}", at, {}) for at in range(3))
    parts = Parts(some, (), True, (), 3)
    assert len(parts) == 3
    assert [part.n_rows for part in parts] == [0, 1, 2]
