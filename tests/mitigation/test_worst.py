"""The rule `worst:10%`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairrec.mitigation.splitting import WorstRule, harm_per_cell, parse_worst, worst_cells
from tests.mitigation.cell_attributes import attributes_of, full_grouping

NAN = np.nan


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("worst:10%", WorstRule(share=0.1)),
        ("worst:2.5%", WorstRule(share=0.025)),
        ("worst:100%", WorstRule(share=1.0)),
        ("worst:5", WorstRule(number=5)),
        ("findings", None),
        ("groups.csv", None),
        ("worst.csv", None),
        ("worst groups.parquet", None),
    ],
)
def test_rule_is_read(text, rule):
    assert parse_worst(text) == rule


@pytest.mark.parametrize(
    "text",
    [
        "worst",
        "worst:",
        "worst:0",
        "worst:0%",
        "worst:101%",
        "worst:-1",
        "worst:1.5",
        "worst:x",
        "worst10%",
        "worst:5 ",
        "worst:1e3",
        "worst:9999999999",
    ],
)
def test_rule_that_cannot_be_is_refused(text):
    with pytest.raises(ValueError, match="worst"):
        parse_worst(text)


@pytest.mark.parametrize(
    ("rule", "n_eligible", "n_groups"),
    [("10%", 152, 15), ("10%", 3, 1), ("10%", 1, 1), ("100%", 7, 7), ("5", 3, 3), ("2", 9, 2)],
)
def test_number_of_groups(rule, n_eligible, n_groups):
    assert parse_worst(f"worst:{rule}").n_of(n_eligible) == n_groups


@given(st.integers(0, 1000), st.sampled_from([True, False, None]))
def test_harm_equals_a_loop_over_combinations(seed, higher_is_better):
    rng = np.random.default_rng(seed)
    attributes = attributes_of([rng.integers(0, 2, 40), rng.integers(0, 3, 40)])
    values = np.where(rng.random(40) < 0.3, NAN, rng.normal(size=40))
    cells = full_grouping(attributes).cells
    harm = harm_per_cell(values, cells, higher_is_better, 3)
    for cell in range(len(cells)):
        mine = values[(cells.of_user == cell) & ~np.isnan(values)]
        others = values[(cells.of_user != cell) & ~np.isnan(values)]
        if len(mine) < 3:
            assert np.isnan(harm[cell])
            continue
        expected = {
            True: -mine.mean(),
            False: mine.mean(),
            None: abs(mine.mean() - others.mean()) if len(others) else NAN,
        }[higher_is_better]
        assert harm[cell] == pytest.approx(expected, nan_ok=True)
    worst = worst_cells(harm, WorstRule(number=2))
    known = np.flatnonzero(~np.isnan(harm))
    assert worst.tolist() == sorted(known, key=lambda c: -harm[c])[:2]
