from __future__ import annotations

import polars as pl
import pytest

from fairrec_paper.reproduction.comparison import compared_gaps, costs
from fairrec_paper.reproduction.gaps import cost_table, gap_table, paper_table
from fairrec_paper.reproduction.methods import DPSO, THEMIS
from tests.fairrec_paper.reproduction.trial_rows import chance, found

SEARCH = pl.DataFrame(
    [found(THEMIS.title, 0.4, users=90), found(DPSO.title, 0.4), found(DPSO.title, 0.2, 1)]
)
SIZES = {"n_users": 100, "n_groups": 12, "min_users": 1, "n_combinations": 1800}
CHANCE = pl.DataFrame(
    [
        {**chance("auc", 0.4, [0.1, 0.2, 0.3, 0.4]), "p_value": 0.4, **SIZES},
        {**chance("pooled_auc", 0.5, []), "p_value": None, **SIZES},
    ]
)
GAPS = compared_gaps(SEARCH, CHANCE, [THEMIS, DPSO], "table2")


def test_a_row_has_the_exact_gap_the_published_one_chance_and_what_methods_found():
    table = gap_table("gaps", "Gaps", GAPS, CHANCE, [THEMIS, DPSO])
    assert table.view.columns[-1] == DPSO.title
    assert THEMIS.title not in table.view.columns
    first, pooled = table.view.rows
    assert first[:3] == ("Wide&Deep", "auc", "0.400")
    assert first[-1] == "0.300 \u00b10.141 (0.244)"
    assert pooled[-1] == "-"
    assert table.view.note.startswith("100 users, 12 groups of at least 1 among 1,800 combinations")
    assert table.data is GAPS


def test_costs_are_shown_for_each_method():
    table = cost_table("costs", "Costs", costs(SEARCH, GAPS, [THEMIS, DPSO]))
    rows = {row[1]: row for row in table.view.rows}
    assert rows[THEMIS.title][2:6] == ("100.0%", "100.0%", "90", "90%")
    assert rows[DPSO.title][2] == "75.0% \u00b135.4"


def test_the_papers_arrangement_has_a_row_for_each_method_and_a_column_for_each_metric():
    spent = costs(SEARCH, GAPS, [THEMIS, DPSO])
    table = paper_table("paper", "As in the paper", GAPS, spent)
    assert table.view.columns == ("model", "method", "auc", "pooled_auc", "time (s)")
    themis, dpso = table.view.rows
    assert themis[:2] == ("Wide&Deep", THEMIS.title)
    assert themis[2:] == ("0.400 (0.254)", "0.500 (0.254)", "2.00 (141)")
    assert dpso[2:] == ("0.300 \u00b10.141 (0.244)", "-", "2.00 (87.0)")
    assert table.data["auc"].to_list() == pytest.approx([0.4, 0.3])
