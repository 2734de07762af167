from __future__ import annotations

from fairrec.mitigation.view import TradeOff, TradeOffLine
from fairrec.report.figures.curves import trade_off
from fairrec.report.figures.figure import BETTER, WORSE
from tests.report.figures.drawing import svg


def test_a_line_for_each_set_of_users_and_the_strength_that_was_taken():
    lines = tuple(
        TradeOffLine(strength, value + shift, who)
        for who, shift in (("the chosen groups", 0.0), ("everyone", 0.1))
        for strength, value in ((0.0, 0.2), (0.5, 0.3), (1.0, 0.25))
    )
    figure = trade_off(TradeOff("mrr@5", True, 0.5, lines, "in words"))
    assert figure.data["taken"] == [{"strength": 0.5}]
    assert len(figure.data["lines"]) == 6
    drawn = svg(figure.chart())
    assert all(word in drawn for word in ("the chosen groups", "everyone", "mrr@5", "strength"))
    # no line is better or worse than another
    assert BETTER not in drawn and WORSE not in drawn
