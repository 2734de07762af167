"""What a searcher is, and the table of all searchers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any, Protocol, dataclass_transform, runtime_checkable

import numpy as np
from pydantic import ConfigDict, Field, ValidationError
from pydantic.dataclasses import dataclass as checked_dataclass

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.core.errors import InputError, plain, unknown_name
from fairrec.core.registry import Registry
from fairrec.groups.grouping import Grouping
from fairrec.search.evidence import Evidence


@dataclass(frozen=True, slots=True)
class Request:
    """Groups to score next, in this order; none when the searcher has finished.

    Parameters
    ----------
    groups : positions in the lattice, or EVERYONE
    n_users : how many more users of each; None for all of them
    n_queried : combinations looked at for the first time up to each group and, one number more,
        after the last, also those without enough users; None where these are the groups alone
    """

    groups: IntArray
    n_users: IntArray | None = None
    n_queried: Sequence[int] | None = None


NOTHING = Request(np.empty(0, dtype=np.int64))


class Searcher(Protocol):
    """Says which groups to look at next. The loop owns budget, seed and history."""

    def ask(self) -> Request:
        """What to score next; a group asked for again costs nothing."""

    def tell(self, request: Request, evidence: Evidence) -> None:
        """See what was scored."""


@runtime_checkable
class Bounded(Protocol):
    """A searcher that bounds what it may have missed."""

    confidence: float

    def may_be_larger_by(self) -> FloatArray:
        """(n_metrics,), how much larger the exact gap may be, at that confidence."""


@dataclass(frozen=True, slots=True)
class Task:
    """What a searcher is built for.

    Parameters
    ----------
    evidence : what is scored already, and the groups there are
    metrics : positions of those to look at; a single one for a searcher that looks at one
    alpha : the significance level at which groups will be tested
    n_calls : calls of the recommender that can be under way at once; who asks for few users at a
        time leaves some of them idle
    """

    evidence: Evidence
    metrics: Sequence[int]
    alpha: float
    rng: np.random.Generator
    n_calls: int = 1

    @property
    def space(self) -> Grouping:
        """The groups to look at."""
        return self.evidence.space


Build = Callable[[Task, Any], Searcher]
"""The task and the hyper-parameters -> searcher."""


@dataclass(frozen=True, slots=True)
class SearcherKind:
    """A registered searcher.

    Parameters
    ----------
    about : one line
    hyper_parameters : a frozen dataclass, all of whose fields have defaults
    searches_all : looks at all metrics at once; otherwise there is one for each metric
    uses_proxy : takes the popularity proxy into account; others need no history
    """

    build: Build
    about: str
    hyper_parameters: type
    searches_all: bool
    uses_proxy: bool


Share = Annotated[float, Field(ge=0, le=1)]
Flag = Annotated[int, Field(ge=0, le=1)]
"""A hyper-parameter that is 1 or 0, on or off."""


@dataclass_transform(frozen_default=True)
def hyper_dataclass(kind: type) -> Any:
    """A frozen dataclass of hyper-parameters, which are finite numbers within their bounds."""
    config = ConfigDict(allow_inf_nan=False)
    return checked_dataclass(kind, frozen=True, config=config)


@hyper_dataclass
class NoHyperParameters:
    """Nothing to set."""


SEARCHERS: Registry[SearcherKind] = Registry("searcher", "fairrec.search.searchers")


def searcher(
    name: str,
    about: str,
    *,
    hyper_parameters: type = NoHyperParameters,
    searches_all: bool = False,
    uses_proxy: bool = False,
) -> Callable[[Any], Any]:
    """Register the decorated class or function, which makes a searcher, under a name."""

    def register(build: Any) -> Any:
        kind = SearcherKind(build, about, hyper_parameters, searches_all, uses_proxy)
        SEARCHERS.add(name, kind)
        return build

    return register


def uses_proxy(searchers: Iterable[str]) -> bool:
    """Whether one of these searchers takes the popularity of items into account."""
    return any(SEARCHERS[name].uses_proxy for name in searchers)


def hyper_parameters(name: str, given: Mapping[str, float]) -> Any:
    """The hyper-parameters of a searcher with some of them set by name.

    >>> hyper_parameters("testsgd", {"theta": 0.02}).theta
    0.02
    """
    kind = SEARCHERS[name].hyper_parameters
    known = [field.name for field in fields(kind)]
    for option in given:
        if not known:
            raise InputError(f"The searcher '{name}' has no hyper-parameter '{option}'.")
        if option not in known:
            raise unknown_name(f"hyper-parameter of {name}", option, known)
    try:
        return kind(**given)
    except ValidationError as error:
        first = error.errors()[0]
        # a value may be of several kinds, and each of them refuses it
        raise InputError(
            f"invalid hyper-parameter {first['loc'][0]}: {first['msg'].removeprefix('Input ')}, "
            f"got {plain(repr(first['input']))}"
        ) from error
