"""The tolerance: the largest harm one would accept, by metric, set before looking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator

from fairrec.core.option_types import Form, UnfitError, parse_number


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


def parse_amount(given: Any) -> Amount:
    """An amount from a number, or from a share of the mean in percent."""
    if isinstance(given, Amount):
        return given
    is_share = isinstance(given, str) and given.strip().endswith("%")
    try:
        size = float(parse_number(given.strip().removesuffix("%") if is_share else given))
    except ValueError:
        raise UnfitError(given) from None
    if not 0 < size < float("inf") or (is_share and size > 100):
        raise UnfitError(given)
    return Amount(size / 100 if is_share else size, is_share)


@dataclass(frozen=True, slots=True)
class Tolerance:
    """The largest harm that is accepted, by metric and for all others.

    >>> tolerance = Tolerance.parse("ndcg@5=0.03, 5%")
    >>> str(tolerance), tolerance.in_units("mrr@5", mean=0.5)
    ('ndcg@5=0.03,5%', 0.025)
    """

    by_metric: tuple[tuple[str, Amount], ...] = ()
    others: Amount | None = None

    def __str__(self) -> str:
        parts = [f"{name}={amount}" for name, amount in self.by_metric]
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
        if isinstance(given, str):
            given = given.split(",")
        pairs = given.items() if isinstance(given, Mapping) else _split(given)
        amounts: dict[str, Amount] = {}
        for name, amount in pairs:
            if not isinstance(name, str) or name in amounts:
                raise UnfitError(f"{name}={amount}")
            amounts[name] = parse_amount(amount)
        if not amounts:
            raise UnfitError(given)
        others = amounts.pop("", None)
        return cls(tuple(amounts.items()), others)


def _split(given: Any) -> Iterable[tuple[str, Any]]:
    """Name and amount of each part; the name is empty in an amount for all other metrics."""
    if not isinstance(given, list | tuple):
        return [("", given)]
    parts = (str(part).rpartition("=") for part in given)
    return [(name.strip(), amount.strip()) for name, _, amount in parts]


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
