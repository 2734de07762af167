"""Lines that tell how far a run is."""

from __future__ import annotations

import pytest

from fairrec.core.progress import ProgressLines, stage_in_words

CHANCE = "testing against chance"


class Written(list):
    def __call__(self, seconds: float, line: str) -> None:
        assert seconds >= 0
        self.append(line)


@pytest.mark.parametrize(
    ("stage", "says"),
    [
        (("reading", 0, 0), "reading"),
        (("measuring 13,350,000 users", 0, 5), "measuring 13,350,000 users: 0 of 5"),
        ((CHANCE, 399, 1000), f"{CHANCE}: 39% of 1,000"),
        ((CHANCE, 1000, 1000), f"{CHANCE}: 100% of 1,000"),
        (("searching with x (9 users/s)", 6, 900), "searching with x (9 users/s): 0% of 900"),
        (("counting plays", 2, 5), "counting plays: 2 of 5"),
    ],
)
def test_a_stage_in_words(stage, says):
    assert stage_in_words(*stage) == says


def test_a_line_when_a_stage_begins_and_no_other_before_its_time():
    written = Written()
    progress = ProgressLines(written, every=60)
    progress("reading", 0, 0)
    for done in range(1, 500):
        progress(CHANCE, done, 1000)
    for epoch in (1, 2):
        progress(f"epoch {epoch}: loss {0.5 / epoch:.4f}, last AUC nan", 1, 200)
    progress("writing", 0, 0)
    assert written == [
        "reading",
        "testing against chance: 0% of 1,000",
        "epoch 1: loss 0.5000, last AUC nan: 0% of 200",
        "writing",
    ]
