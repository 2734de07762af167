"""Colours are told from their ground, and text from them, in light and in dark."""

from __future__ import annotations

import re

import pytest

from fairrec.report.page import vega as figure
from fairrec.report.page.html import page_css

MARKS = ("worse", "better", "group", "chosen", "ink", "soft")
"""Variables that something is drawn with."""


def light(colour: str) -> float:
    """Relative luminance, as WCAG 2.2 has it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    line = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), line, strict=True))


def contrast(one: str, other: str) -> float:
    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def theme(is_dark: bool) -> dict[str, str]:
    """The colours of the page: those for dark screens replace the others."""
    css = page_css()
    found: dict[str, str] = {}
    roots = re.findall(
        r"(@media[^{]*\(prefers-color-scheme: dark\) \{\s*)?:root \{(.*?)\}",
        css.split("@media print")[0],
        re.DOTALL,
    )
    assert sum(bool(media) for media, _ in roots) == 1
    for only_dark in (False, True):
        for media, body in roots:
            if bool(media) == only_dark and (is_dark or not media):
                found |= dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})\b", body))
    return found


def test_every_variable_is_used_and_every_selector_is_valid():
    css = page_css()
    names = {*re.findall(r"(--[\w-]+):", css)}
    assert names == {*re.findall(r"var\((--[\w-]+)\)", css)} | {"--font", "--group"}
    assert not re.search(r":is\.", css)


def test_contrast_is_that_of_the_guideline():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize("is_dark", [False, True], ids=["light", "dark"])
def test_marks_stand_out_from_the_card(is_dark: bool):
    colours = theme(is_dark)
    assert (light(colours["card"]) < 0.1) == is_dark
    poor = {name: contrast(colours[name], colours["card"]) for name in MARKS}
    drawn = (
        *(figure.WORSE, figure.BETTER, figure.GROUP, figure.CHOSEN),
        *(colour for scale in MAPS for colour in scale[::2]),
    )
    poor |= {colour: contrast(colour, colours["card"]) for colour in drawn}
    assert {name: ratio for name, ratio in poor.items() if ratio < 3} == {}


MAPS = (figure.DIVERGING, figure.DIVERGING_NEUTRAL)


@pytest.mark.parametrize("colours", MAPS)
def test_text_can_be_read_on_every_shade_of_a_map(colours: tuple[str, ...]):
    for colour in colours:
        assert contrast(colour, figure.TEXT_ON_MAP) >= 4.5


def test_page_and_charts_mean_the_same_by_a_colour():
    colours = theme(is_dark=False)
    assert (colours["worse"], colours["better"]) == (figure.WORSE, figure.BETTER)
    assert (colours["group"], colours["chosen"]) == (figure.GROUP, figure.CHOSEN)


def test_no_colour_means_two_things():
    names = (figure.WORSE, figure.BETTER, figure.GROUP, figure.CHOSEN)
    assert len({*names}) == len(names)
    for one in names:
        for other in names:
            apart = sum(abs(int(one[i : i + 2], 16) - int(other[i : i + 2], 16)) for i in (1, 3, 5))
            assert one == other or apart > 80, (one, other)


def test_series_are_neither_better_nor_worse_and_stand_out():
    assert not {*figure.SERIES} & {figure.WORSE, figure.BETTER, figure.CHOSEN}
    for card in (theme(is_dark)["card"] for is_dark in (False, True)):
        assert min(contrast(colour, card) for colour in figure.SERIES) >= 3
