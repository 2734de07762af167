"""What a metric without findings is worth: whether nothing found is an all-clear."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.metrics.measured import Measured
from fairrec.statistics.missing import (
    Missing,
    has_none_relevant,
    is_expected_of,
    undefined_users,
)


@dataclass(frozen=True, slots=True)
class Standing:
    """What a metric without findings is worth.

    Parameters
    ----------
    undefined_share : users without a value, among those for whom one is expected
    is_conclusive : false where too many users have none, in all or in a group that differs from the
        rest in it, so that nothing found is no all-clear
    is_constant : the same value for every user, none of whom is left to be scored
    """

    undefined_share: float
    is_conclusive: bool
    is_constant: bool


class Expected(NamedTuple):
    """For how many users a value is expected, and how many of them have none.

    After a search, as many as there would be if all were like those drawn at random.
    """

    n_users: float
    n_undefined: float

    @property
    def undefined_share(self) -> float:
        """Users without a value among them."""
        return self.n_undefined / max(1, self.n_users)


def expected_of(measured: Measured, inputs: AuditInputs) -> tuple[Expected, ...]:
    """Who is expected to have a value, for each metric."""
    n_dropped = len(inputs.absent) if inputs.candidates.held_out is not None else 0
    has_none = has_none_relevant(inputs)
    expected = []
    for metric, row in zip(measured.metrics, measured.terms, strict=True):
        is_expected = is_expected_of(metric, inputs)
        if inputs.given.relevant is not None and inputs.candidates.held_out is not None:
            # who has nothing that was asked for has nothing to be found; tested by group alone
            is_expected = is_expected & ~has_none
        is_undefined, looked_at = undefined_users(metric, row, measured, has_none)
        n_looked_at = int((is_expected & looked_at).sum())
        share = int((is_undefined & is_expected & looked_at).sum()) / max(1, n_looked_at)
        n_expected = int(is_expected.sum())
        expected.append(Expected(n_expected + n_dropped, share * n_expected + n_dropped))
    return tuple(expected)


def standing_of(
    measured: Measured,
    expected: Sequence[Expected],
    missing: Sequence[Missing],
    max_undefined: float,
) -> tuple[Standing, ...]:
    """How each metric stands."""
    standing = []
    for i, metric in enumerate(measured.metrics):
        share = expected[i].undefined_share
        concerned = [one for one in missing if metric.name in one.metrics]
        column = measured.column(i)
        is_one = len(column.known) > 0 and column.known.min() == column.known.max()
        standing.append(
            Standing(
                share,
                round(share, 12) <= max_undefined
                and not any(one.is_too_much(max_undefined) for one in concerned),
                bool(measured.is_complete and is_one and not column.inner.any()),
            )
        )
    return tuple(standing)
