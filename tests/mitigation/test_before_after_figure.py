from __future__ import annotations

from dataclasses import replace

from fairrec.mitigation.charts import Level, Slope
from fairrec.report.figures.curves import before_after
from fairrec.report.figures.figure import BETTER, GROUP, WORSE
from tests.report.figures.drawing import svg

SLOPE = Slope(
    metric="urd@5",
    is_target=True,
    before=0.3,
    after=0.5,
    low=0.42,
    high=0.58,
    verdict="improved",
    tone="better",
    others=Level(0.4, "all others 0.400", ""),
    floor=Level(0.29, "to keep 0.290", ""),
    alternative="in words",
)


def test_both_ends_the_interval_and_the_levels_are_drawn_with_their_numbers():
    figure = before_after(SLOPE)
    assert [(row["when"], row["value"]) for row in figure.data["ends"]] == [
        ("before", 0.3),
        ("after", 0.5),
    ]
    assert figure.data["interval"] == [{"when": "after", "value": 0.42, "to": 0.58}]
    assert {row["value"] for row in figure.data["levels"]} == {0.4, 0.29}
    drawn = svg(figure.chart())
    for word in ("0.300", "0.500", "all others 0.400", "to keep 0.290", "before", "after"):
        assert drawn.count(f">{word}</text>") == 1, word


def test_better_is_blue_worse_is_orange_and_what_is_not_shown_grey():
    alone = replace(SLOPE, others=None, floor=None)
    for tone, colour in (("better", BETTER), ("worse", WORSE), ("neutral", GROUP)):
        drawn = svg(before_after(replace(alone, tone=tone)).chart())
        assert {one for one in (BETTER, WORSE, GROUP) if one in drawn} == {colour}


def test_without_an_interval_or_others_the_line_stands_alone():
    figure = before_after(replace(SLOPE, low=None, high=None, others=None, floor=None))
    assert "interval" not in figure.data and figure.data["levels"] == []
    assert ">0.300</text>" in svg(figure.chart())


def test_words_of_a_level_are_on_the_side_and_at_the_end_the_line_is_not():
    def words(slope: Slope, others: float, floor: float | None = None) -> tuple[int, str]:
        below = None if floor is None else Level(floor, "floor", "")
        figure = before_after(replace(slope, others=Level(others, "others", ""), floor=below))
        rows = [row for row in figure.data["levels"] if row["label"] == "others"]
        return {(row["above"], row["at"]) for row in rows}.pop()

    falling = replace(SLOPE, before=0.5, after=0.3)
    assert words(SLOPE, 0.45) == (1, "before") and words(SLOPE, 0.35) == (0, "after")
    assert words(falling, 0.45) == (1, "after") and words(falling, 0.35) == (0, "before")
    # two levels keep out of each other's way
    assert words(SLOPE, 0.3, 0.2)[0] == 1 and words(SLOPE, 0.3, 0.35)[0] == 0


def test_what_never_changed_still_has_a_scale():
    flat = replace(SLOPE, before=0.0, after=0.0, low=None, high=None, others=None, floor=None)
    assert ">0</text>" in svg(before_after(flat).chart())
