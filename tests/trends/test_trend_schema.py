from __future__ import annotations

import fairrec
from fairrec.trends.result import TrendSummary
from tests.trends.trend_builders import six_releases


def test_what_a_gate_asks_leaves_out_what_is_back():
    summary = fairrec.trend(six_releases()).summary
    assert summary.worse == tuple(line for line in summary.lines if line.worse_since)
    first = summary.worse[0]
    back = first.model_copy(
        update={"worse_since": first.worse_since.model_copy(update={"is_back": True})}
    )
    assert summary.model_copy(update={"lines": (back,)}).worse == ()
    assert TrendSummary.model_validate_json(summary.model_dump_json()) == summary
