from __future__ import annotations

import re
from dataclasses import replace

import polars as pl
import pytest

from fairrec_paper.reproduction.figures_2_to_4 import correlations, outcome_of_correlation
from fairrec_paper.stills import to_svg
from tests.fairrec_paper.reproduction.trial_rows import chance


def test_correlations_are_over_models():
    gaps = pl.DataFrame(
        {
            "model": ["a", "b", "c"] * 3,
            "metric": ["auc"] * 3 + ["mrr@5"] * 3 + ["urd@5"] * 3,
            "gap": [0.1, 0.2, 0.3, 0.3, 0.2, 0.1, 0.5, 0.5, 0.5],
        }
    )
    values = {(row, column): value for row, column, value in correlations(gaps).iter_rows()}
    assert values["auc", "auc"] == pytest.approx(1)
    assert values["auc", "mrr@5"] == pytest.approx(-1)
    # what does not vary goes with nothing
    assert values["auc", "urd@5"] is None
    two = correlations(gaps.filter(pl.col("model") != "c"))
    assert two["correlation"].to_list() == [None] * 9


def drawn(setting, title: str) -> dict[str, str]:
    rows = [{**chance(metric, 0.4, []), "p_value": 0.5, "n_users": 240} for metric in ("auc",)]
    (source,) = setting.sources
    named = replace(setting, sources=(Named(source.name, title),))
    return {
        one.name: to_svg(one.chart)
        for one in outcome_of_correlation(named, {"chance": pl.DataFrame(rows)}).drawings
    }


class Named:
    def __init__(self, name: str, title: str) -> None:
        self.name, self.title = name, title


def width_of(svg: str) -> float:
    return float(re.search(r'width="([\d.]+)"', svg)[1])


def test_a_long_title_is_not_cut_off(setting):
    name = "correlation-movielens-1m"
    short, long = (width_of(drawn(setting, title)[name]) for title in ("ML", "M" * 90))
    assert long > short + 500


def test_the_published_map_has_all_metrics_of_the_paper(setting):
    svgs = drawn(setting, "ML")
    assert "urd@5" in svgs["correlation-movielens-1m-published"]
    assert "urd@5" not in svgs["correlation-movielens-1m"]
