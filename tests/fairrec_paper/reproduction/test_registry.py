"""All experiments, under the numbers of the paper."""

from __future__ import annotations

import re

import pytest

from fairrec_paper.reproduction.comparison import published
from fairrec_paper.reproduction.reproducing import EXPERIMENTS

OWN = ("trainings", "sensitivity", "next-worst")
"""Experiments that the paper does not have."""


@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if name not in OWN])
def test_the_file_is_named_after_the_table_or_figure(name):
    experiment = EXPERIMENTS[name]
    assert experiment.name == name
    file = experiment.plan.__module__.rpartition(".")[2]
    kind, *numbers = re.match(r"(table|figure)s?(\d)_(\d)?", file).groups()
    assert {*re.findall(r"\d", experiment.label)} <= {*numbers}
    assert experiment.label.lower().startswith(kind)


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
