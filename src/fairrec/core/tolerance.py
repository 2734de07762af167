"""The tolerance: the largest harm one would accept, by metric, set before looking."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator

from fairrec.core.option_types import Form, UnfitError, parse_number

_DECIMAL_COMMA = re.compile(r"(^|[=,])\s*0,\d")
"""No amount is 0, so what follows are its decimals."""
_QUOTES = r'"(?:[^"\\]|\\.)*"'
_QUOTED = rf"{_QUOTES}(?=\s*=)"
_PART = re.compile(rf"\s*((?:{_QUOTED})?[^,]*)(?:,|$)")
"""Up to the next comma that is in no quoted name."""


@dataclass(frozen=True, slots=True)
class Amount:
    """A harm in units of the metric, or as a share of its mean.

    >>> str(Amount(0.03)), str(Amount(0.05, is_share=True))
    ('0.03', '5%')
    """

    size: float
    is_share: bool = False

    def __str__(self) -> str:
        return f"{100 * self.size:.12g}%" if self.is_share else f"{self.size:.12g}"

    def in_units(self, mean: float) -> float:
        """In units of a metric with this mean, which is not below 0 where it is a share."""
        return self.size * mean if self.is_share else self.size


def parse_amount(given: Any, part: object = None) -> Amount:
    """An amount from a number, or from a share of the mean in percent."""
    part, is_share = given if part is None else part, False
    if isinstance(given, Amount):
        return given
    try:
        if isinstance(given, str):
            is_share, given = given.strip().endswith("%"), given.strip().removesuffix("%")
        size = float(parse_number(given))
    except ValueError:
        raise UnfitError(part) from None
    if not 0 < size < float("inf"):
        raise UnfitError(part)
    if is_share and size > 100:
        raise UnfitError(part, "a share is at most 100% of the mean")
    return Amount(size / 100 if is_share else size, is_share)


@dataclass(frozen=True, slots=True)
class Tolerance:
    """The largest harm that is accepted, by metric and for all others.

    >>> tolerance = Tolerance.parse("ndcg@5=0.03, 5%")
    >>> str(tolerance), tolerance.in_units("mrr@5", mean=0.5)
    ('ndcg@5=0.03,5%', 0.025)
    >>> str(Tolerance.parse({"clicks, total": 3}))
    '"clicks, total"=3'
    """

    by_metric: tuple[tuple[str, Amount], ...] = ()
    others: Amount | None = None

    def __str__(self) -> str:
        parts = [f"{_quote(name)}={amount}" for name, amount in self.by_metric]
        return ",".join([*parts, *([] if self.others is None else [str(self.others)])])

    def amount(self, metric: str) -> Amount | None:
        """For one metric, as it was given; None where none is set."""
        return dict(self.by_metric).get(metric, self.others)

    def in_units(self, metric: str, mean: float) -> float | None:
        """The same in its units."""
        amount = self.amount(metric)
        return None if amount is None else amount.in_units(mean)

    @classmethod
    def parse(cls, given: Any) -> Tolerance:
        """From text, a number or a mapping."""
        if isinstance(given, Tolerance):
            return given
        if isinstance(given, Mapping):
            parts = [(name, amount, f"{name}={amount}") for name, amount in given.items()]
        elif isinstance(given, str | list | tuple):
            parts = [*_split(given if isinstance(given, str) else ",".join(map(str, given)))]
        else:
            parts = [(None, given, given)]
        by_metric: dict[str, Amount] = {}
        others: list[Amount] = []
        for name, amount, part in parts:
            if name is None and others:
                raise UnfitError(part, "a second amount for all metrics")
            if name is None:
                others.append(parse_amount(amount, part))
                continue
            if not isinstance(name, str):
                raise UnfitError(name)
            if not name.strip():
                raise UnfitError(part, "no metric is named; for all metrics, give the amount alone")
            if name in by_metric:
                raise UnfitError(part, "this metric is named twice")
            by_metric[name] = parse_amount(amount, part)
        if not parts:
            raise UnfitError(given)
        return cls(tuple(by_metric.items()), *others)


def _split(text: str) -> Iterator[tuple[str | None, str, str]]:
    """Name, amount and the whole of each part of a text; None for all other metrics."""
    if _DECIMAL_COMMA.search(re.sub(_QUOTED, "", text)):
        raise UnfitError(text, "amounts stand between commas: write the decimals as in 0.03")
    for part in filter(None, (part.strip() for part in _PART.findall(text))):
        name, is_named, amount = (piece.strip() for piece in part.rpartition("="))
        if re.fullmatch(_QUOTES, name):
            with suppress(ValueError):
                name = str(json.loads(name))
        yield name if is_named else None, amount, part


def _quote(name: str) -> str:
    """The name of a metric, in quotes where it would be read as something else."""
    is_plain = name == name.strip() and not name.startswith('"') and "," not in name
    return name if is_plain else json.dumps(name, ensure_ascii=False)


ToleranceType = Annotated[
    Tolerance,
    BeforeValidator(Tolerance.parse),
    Form(
        "an amount above 0 (0.03) or a share of the mean (5%), for all metrics or by name "
        "(ndcg@5=0.03)",
        "AMOUNT|METRIC=AMOUNT",
        is_list=True,
    ),
]
"""An option that sets one."""
