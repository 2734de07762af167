"""Which audits can be read in parts: those that score everyone, by metrics that add up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fairrec.core.errors import InputError
from fairrec.core.options import spelled
from fairrec.metrics import METRICS
from fairrec.search.options import SearchOptions

if TYPE_CHECKING:
    from fairrec.scoring.model import Model, ScoringFunction


def is_of_everyone(how: SearchOptions | None, scorer: ScoringFunction | Model | None) -> bool:
    """Whether every user is scored, by nobody who has to be paid."""
    if how is None:
        return not _is_endpoint(scorer)
    return scorer is not None and how == SearchOptions("exact") and not _is_endpoint(scorer)


def has_pooled(metrics: Sequence[str] | None) -> bool:
    """Whether a metric is asked for that is no mean over users, and so not told by counts."""
    known = [name.lower() for name in metrics or ()]
    return any(METRICS[name].pooled for name in known if name in METRICS)


def _is_endpoint(scorer: ScoringFunction | Model | None) -> bool:
    if scorer is None:
        return False
    from fairrec.scoring.endpoint import Endpoint

    return isinstance(scorer, Endpoint)


def refuse_engine(
    how: SearchOptions | None,
    scorer: ScoringFunction | Model | None,
    against_lists: object = None,
) -> None:
    """An error where workers would have nothing to do, or would all call one endpoint."""
    if _is_endpoint(scorer):
        raise InputError(
            "An endpoint is asked by one process, which keeps what was paid for. Leave out "
            f"{spelled('engine')}."
        )
    if against_lists is not None:
        raise InputError(
            "Two lists of each user are compared in one process. Leave out "
            f"{spelled('engine')} or {spelled('against_lists')}."
        )
    if not is_of_everyone(how, scorer):
        raise InputError(
            "A search scores few users, one batch after the other, so workers have nothing to do. "
            f"Leave out {spelled('engine')} or {spelled('search')}."
        )
