"""One part of the tables of an audit, and what all parts together are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from fairrec.inputs.parts.coded_users import CodedAttribute
from fairrec.inputs.parts.dealing import Dealt
from fairrec.inputs.parts.piece import Piece


@dataclass(frozen=True, slots=True)
class Part:
    """Some users with all their rows: a description that any process can open by itself.

    Parameters
    ----------
    name : for messages
    n_rows : of predictions or values
    pieces : of the tables that are cut
    whole : tables that every part reads as a whole
    """

    name: str
    n_rows: int
    pieces: Mapping[str, Piece]
    whole: Mapping[str, Any] = field(default_factory=dict)

    def tables(self) -> dict[str, Any]:
        """What to give `read_inputs` as its tables, by name."""
        return {"predictions": None, **self.pieces, **self.whole}


@dataclass(frozen=True, slots=True)
class Parts:
    """All parts, in an order that the tables and the size of parts determine.

    Parameters
    ----------
    parts : whose scratch files are there as long as the tables are open
    attributes : what the codes of attributes mean, which is the same in all parts
    is_together : whether each user's rows stand together, so that they are read where they are
    dealt : tables that had to be dealt out, with what it took
    n_rows : of predictions or values
    """

    parts: tuple[Part, ...]
    attributes: tuple[CodedAttribute, ...]
    is_together: bool
    dealt: tuple[Dealt, ...]
    n_rows: int

    def __len__(self) -> int:
        return len(self.parts)

    def __iter__(self) -> Iterator[Part]:
        return iter(self.parts)
