"""What a protocol must say: where to send a batch, what to send, how to read the reply."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from fairrec.core.arrays import AnyArray
from fairrec.core.errors import ScoringError, plain
from fairrec.core.registry import Registry
from fairrec.scoring.models.model import ModelInput
from fairrec.scoring.models.tensors import TensorSpec, refuse_unknown_columns


class Asks(Protocol):
    """What a protocol may ask a server before the first batch."""

    def get(self, url: str) -> Any:
        """The JSON at an address; None where there is nothing."""

    def is_there(self, url: str) -> bool:
        """Whether an address answers, whatever it says."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a server says of its model; empty where its protocol has no word for it."""

    model: str = ""
    version: str = ""
    is_ready: bool | None = None
    inputs: tuple[TensorSpec, ...] = ()
    outputs: tuple[TensorSpec, ...] = ()


class Wire(Protocol):
    """One way to ask a server.

    Attributes
    ----------
    url : where batches are sent
    """

    url: str

    def open(self, server: Asks) -> Seen:
        """Make sure that the model is there and ready."""

    def bind(self, columns: Mapping[str, AnyArray]) -> tuple[ModelInput, ...]:
        """The inputs it takes."""

    def body(self, inputs: Mapping[str, AnyArray]) -> Any:
        """What is sent for a batch: one value per pair for each input."""

    def scores_in(self, reply: Any, n_pairs: int) -> Any:
        """The scores in a reply."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the caller says about a model.

    Parameters
    ----------
    url : the address, without query
    renamed : name of an input -> name of the column, where they differ
    output : the output that holds the scores; None to find it
    who : the model as the subject of a sentence
    """

    url: str
    renamed: Mapping[str, str]
    output: str | None
    who: str


PROTOCOLS = Registry[Callable[[Asked], Wire]]("protocol")


def all_inputs(
    columns: Mapping[str, AnyArray], renamed: Mapping[str, str]
) -> tuple[ModelInput, ...]:
    """All columns, for a server that does not say what it takes."""
    refuse_unknown_columns(columns, renamed)
    name_of = {column: name for name, column in renamed.items()}
    return tuple(
        ModelInput(name_of.get(column, column), column, values)
        for column, values in columns.items()
    )


def listed_part(said: Any, name: str) -> list[Any]:
    """A named list in metadata, empty where there is none; an error where it is no list."""
    found = part(said, name)
    if found is None:
        return []
    if not isinstance(found, list):
        raise unreadable(name, found)
    return found


def size_of_axis(size: Any, name: str) -> int:
    """The length of an axis as metadata gives it, as a number or as text; -1 for any."""
    if size is None:
        return -1
    if isinstance(size, int):
        return size
    if isinstance(size, str) and re.fullmatch(r"-?[0-9]{1,18}", size):
        return int(size)
    raise unreadable(name, size)


def unreadable(name: str, found: Any) -> ScoringError:
    """The error for metadata of another form than its protocol has."""
    return ScoringError(f'its metadata has "{name}" that cannot be read: {plain(found)}')


def part(reply: Any, name: str) -> Any:
    """A named part of a reply, None where there is none."""
    return reply.get(name) if isinstance(reply, dict) else None
