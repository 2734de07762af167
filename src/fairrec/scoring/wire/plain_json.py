"""`json`: columns out, scores back; for a service that speaks no protocol of model servers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairrec.core.arrays import AnyArray
from fairrec.core.errors import ScoringError
from fairrec.core.options import Blank, spelled
from fairrec.scoring.models.model import ModelInput
from fairrec.scoring.models.tensors import without_column_axis
from fairrec.scoring.wire.protocol import PROTOCOLS, Asked, Asks, Seen, all_inputs, part


class PlainJson:
    """`{"user_id": [...], "item_id": [...]}` -> `{"scores": [...]}`."""

    def __init__(self, asked: Asked) -> None:
        self.url = asked.url
        self._asked = asked
        self._output = asked.output or "scores"

    def open(self, server: Asks) -> Seen:
        """Nothing is asked before the first batch."""
        return Seen()

    def bind(self, columns: Mapping[str, AnyArray]) -> tuple[ModelInput, ...]:
        """All columns there are."""
        return all_inputs(columns, self._asked.renamed)

    def body(self, inputs: Mapping[str, AnyArray]) -> Any:
        """One list a column."""
        return dict(inputs)

    def scores_in(self, reply: Any, n_pairs: int) -> Any:
        """The list called `scores`."""
        scores = part(reply, self._output)
        if scores is None:
            raise ScoringError(
                f'the reply has no "{self._output}". Reply with {{"{self._output}": [...]}}, one '
                f"number for each pair, or name the part: {spelled('output', Blank('NAME'))}"
            )
        return without_column_axis(scores, n_pairs)


PROTOCOLS.add("json", PlainJson)
