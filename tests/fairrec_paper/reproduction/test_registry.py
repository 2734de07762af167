"""All experiments, under the numbers of the paper."""

from __future__ import annotations

import re

from fairrec_paper.reproduction.comparison import published
from fairrec_paper.reproduction.reproducing import EXPERIMENTS


def test_labels_are_those_of_the_published_numbers():
    labels = published().filter(published()["label"] != "RQ1")
    for name, label in labels.select("experiment", "label").unique().iter_rows():
        number = label.split()[1]
        assert number in re.findall(r"\d", EXPERIMENTS[name].label)


def test_every_table_and_figure_with_results_is_there():
    found = [
        (EXPERIMENTS[name].label.split()[0].rstrip("s"), number)
        for name in EXPERIMENTS
        for number in re.findall(r"\d", EXPERIMENTS[name].label)
    ]
    # Figure 1 is the paper's drawing of its framework
    tables, figures = [("Table", n) for n in "1234567"], [("Figure", n) for n in "23456"]
    assert sorted(found) == sorted([*tables, *figures])
