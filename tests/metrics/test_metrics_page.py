"""The page on metrics says what the registry says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fairrec.metrics import METRICS

PAGE = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")
DIRECTION = {True: "higher", False: "lower", None: "neither"}


def table_row(name: str) -> list[str]:
    """The cells of a metric's row in the table at the top of the page."""
    written = re.escape(METRICS[name].written)
    (row,) = re.findall(rf"^\| `{written}` \|(.*)\|$", PAGE, flags=re.MULTILINE)
    return [cell.strip() for cell in row.split("|")]


@pytest.mark.parametrize("name", list(METRICS))
def test_every_metric_has_a_section(name):
    assert re.search(rf"^### .*`{re.escape(METRICS[name].written)}`", PAGE, flags=re.MULTILINE)


@pytest.mark.parametrize("name", list(METRICS))
def test_the_table_names_cutoff_direction_and_tables_of_every_metric(name):
    found = METRICS[name]
    better, needs, *_ = table_row(name)
    assert better == DIRECTION[found.higher_is_better]
    said = {need.replace("_", " ") for need in found.needs}
    assert {need.strip() for need in needs.split(",")} == (said or {"nothing"})
