"""What matters: the smallest harm worth acting on, set before looking."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fairrec.core.kinds import Kind, UnfitError, to_number

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

    def of(self, mean: float) -> float:
        """In units of a metric with this mean, which is not below 0 where it is a share."""
        return self.size * mean if self.is_share else self.size


@dataclass(frozen=True, slots=True)
class Tolerance:
    """The smallest harm that matters, by metric and for all others.

    >>> tolerance = Tolerance.parsed("ndcg@5=0.03, 5%")
    >>> str(tolerance), tolerance.of("ndcg@5", mean=0.5), tolerance.of("mrr@5", mean=0.5)
    ('ndcg@5=0.03,5%', 0.03, 0.025)
    >>> str(Tolerance.parsed({"clicks, total": 3}))
    '"clicks, total"=3'
    """

    by_metric: tuple[tuple[str, Amount], ...] = ()
    of_others: Amount | None = None

    def __str__(self) -> str:
        parts = [f"{_written(name)}={amount}" for name, amount in self.by_metric]
        return ",".join([*parts, *([] if self.of_others is None else [str(self.of_others)])])

    def amount(self, metric: str) -> Amount | None:
        """For one metric, as it was given; None where nothing was said."""
        return dict(self.by_metric).get(metric, self.of_others)

    def of(self, metric: str, mean: float) -> float | None:
        """The same in its units."""
        amount = self.amount(metric)
        return None if amount is None else amount.of(mean)

    @classmethod
    def parsed(cls, given: Any) -> Tolerance:
        """From text, a number or a mapping."""
        if isinstance(given, Tolerance):
            return given
        if isinstance(given, Mapping):
            if not given:
                raise UnfitError(given)
            named = [
                (_named(name, f"{name}={amount}"), amount_in(amount))
                for name, amount in given.items()
            ]
            return cls(tuple(named))
        if not isinstance(given, str):
            return cls(of_others=amount_in(given))
        of_metric: dict[str, Amount] = {}
        of_others: list[Amount] = []
        if _DECIMAL_COMMA.search(re.sub(_QUOTED, "", given)):
            raise UnfitError(given, "amounts stand between commas: write the decimals as in 0.03")
        for part in filter(None, (part.strip() for part in _PART.findall(given))):
            name, is_named, amount = (piece.strip() for piece in part.rpartition("="))
            if is_named:
                name = _named(_read(name), part)
                if name in of_metric:
                    raise UnfitError(part, "this metric is named twice")
                of_metric[name] = amount_in(amount, part)
            elif of_others:
                raise UnfitError(part, "a second amount for all metrics")
            else:
                of_others.append(amount_in(amount, part))
        if not of_metric and not of_others:
            raise UnfitError(given)
        return cls(tuple(of_metric.items()), of_others[0] if of_others else None)


def _written(name: str) -> str:
    """The name of a metric, in quotes where it would be read as something else."""
    is_plain = name == name.strip() and not name.startswith('"') and "," not in name
    return name if is_plain else json.dumps(name, ensure_ascii=False)


def _read(text: str) -> str:
    """The name that `_written` wrote."""
    if not re.fullmatch(_QUOTES, text):
        return text
    try:
        return str(json.loads(text))
    except ValueError:
        return text


def _named(name: Any, part: str) -> str:
    if not isinstance(name, str):
        raise UnfitError(name)
    if not name.strip():
        raise UnfitError(part, "no metric is named; for all metrics, give the amount alone")
    return name


def amount_in(given: Any, part: object = None) -> Amount:
    """An amount as it is written: a number, or a share of the mean in percent."""
    part, is_share = given if part is None else part, False
    try:
        if isinstance(given, str):
            is_share, given = given.strip().endswith("%"), given.strip().removesuffix("%")
        size = float(to_number(given))
    except (TypeError, ValueError):
        raise UnfitError(part) from None
    if not 0 < size < float("inf"):
        raise UnfitError(part)
    if is_share and size > 100:
        raise UnfitError(part, "a share is at most 100% of the mean")
    return Amount(size / 100 if is_share else size, is_share)


def tolerance() -> Kind:
    """Amounts above 0, by metric or for all of them."""
    return Kind(
        Tolerance.parsed,
        "an amount above 0 (0.03) or a share of the mean (5%), for all metrics or by name "
        "(ndcg@5=0.03)",
        "AMOUNT|METRIC=AMOUNT",
        is_list=True,
    )
