"""Which model is asked for scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from fairrec.core.kinds import TEXT, Kind
from fairrec.core.options import MODEL, Option, Options


def _scorer(given: Any) -> Any:
    if given is None or callable(given):
        return given
    from fairrec.scoring.models.model import Model

    if not isinstance(given, Model):
        raise ValueError
    return given


ScorerIdentity = Annotated[
    str,
    Option(
        TEXT,
        "With a ledger: names the model and its version, so that its scores are never taken for "
        "another's",
        MODEL,
        default="as the model names itself",
    ),
]


@dataclass(frozen=True)
class ScorerOptions(Options):
    """The model that is asked for scores; None where they are in the table."""

    scorer: Annotated[
        Any,
        Option(
            Kind(_scorer, "a function of user ids and item ids, or a model"),
            "`(user_ids, item_ids) -> scores`, one number per pair, where the predictions table "
            "has no scores; or a model that is asked, `Endpoint(...)` or `OnnxModel(...)`",
            MODEL,
        ),
    ] = None
    scorer_identity: ScorerIdentity = ""


THE_TABLE = ScorerOptions()
"""No model: the scores are in the table."""
