"""What matters: the smallest harm worth acting on, set before looking."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from fairrec.core.errors import InputError, plain
from fairrec.core.kinds import Kind, percentage, to_number
from fairrec.core.names import UnfitError


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
        """In units of a metric with this mean."""
        return self.size * abs(mean) if self.is_share else self.size


@dataclass(frozen=True, slots=True)
class Matters:
    """The smallest harm that matters, by metric and for all others.

    >>> matters = Matters.parsed("ndcg@5=0.03, 5%")
    >>> str(matters), matters.of("ndcg@5", mean=0.5), matters.of("mrr@5", mean=0.5)
    ('ndcg@5=0.03,5%', 0.03, 0.025)
    """

    by_metric: tuple[tuple[str, Amount], ...] = ()
    of_others: Amount | None = None

    def __str__(self) -> str:
        parts = [f"{name}={amount}" for name, amount in self.by_metric]
        return ",".join([*parts, *([] if self.of_others is None else [str(self.of_others)])])

    def of(self, metric: str, mean: float) -> float | None:
        """For one metric, in its units; None where nothing was said."""
        amount = dict(self.by_metric).get(metric, self.of_others)
        return None if amount is None else amount.of(mean)

    def check(self, metrics: Collection[str]) -> None:
        """Refuse names of metrics that are not audited."""
        for name, _ in self.by_metric:
            if name not in metrics:
                raise InputError(
                    f"What matters is given for '{plain(name)}', which is not audited. "
                    f"Metrics: {', '.join(map(plain, metrics))}."
                )

    @classmethod
    def parsed(cls, given: Any) -> Matters:
        """From text, a number or a mapping."""
        if isinstance(given, Matters):
            return given
        if isinstance(given, Mapping):
            named = [(str(name), _amount(amount)) for name, amount in given.items()]
            return cls(tuple(named))
        if not isinstance(given, str):
            return cls(of_others=_amount(given))
        of_metric: dict[str, Amount] = {}
        of_others: list[Amount] = []
        for part in filter(None, (part.strip() for part in given.split(","))):
            name, is_named, amount = part.rpartition("=")
            if is_named and name.strip() not in of_metric:
                of_metric[name.strip()] = _amount(amount, part)
            elif not is_named and not of_others:
                of_others.append(_amount(amount, part))
            else:
                raise UnfitError(part)
        if not of_metric and not of_others:
            raise UnfitError(given)
        return cls(tuple(of_metric.items()), of_others[0] if of_others else None)


def _amount(given: Any, part: object = None) -> Amount:
    try:
        if isinstance(given, str) and given.strip().endswith("%"):
            return Amount(percentage(given), is_share=True)
        size = float(to_number(given))
    except (TypeError, ValueError):
        raise UnfitError(given if part is None else part) from None
    if not 0 < size < float("inf"):
        raise UnfitError(given if part is None else part)
    return Amount(size)


def matters() -> Kind:
    """Amounts above 0, by metric or for all of them."""
    return Kind(
        Matters.parsed,
        "an amount above 0 (0.03) or a share of the mean (5%), for all metrics or by name "
        "(ndcg@5=0.03)",
        "AMOUNT|METRIC=AMOUNT",
        is_list=True,
    )
