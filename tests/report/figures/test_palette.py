from __future__ import annotations

from fairrec.report.figures.palette import DIVERGING


def test_text_can_be_read_on_every_shade_of_a_map():
    def light(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        line = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), line, strict=True)) + 0.05

    for colour in DIVERGING:
        assert light(colour) / light("#14181f") >= 4.5
