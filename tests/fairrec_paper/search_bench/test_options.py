from __future__ import annotations

import pytest

from fairrec.core.errors import FairRecError
from fairrec_paper.bench_options import SearchBenchOptions


def test_lists_may_be_text():
    options = SearchBenchOptions(
        searchers="adaptive,dpso,adaptive",
        budgets="10%,2%",
        hyper="dpso.alpha=0.1,adaptive.steps=3,dpso.c1=2",
    )
    assert options.searchers == ("adaptive", "dpso")
    assert options.budgets == (0.02, 0.1)
    assert options.hyper == {"dpso": {"alpha": 0.1, "c1": 2.0}, "adaptive": {"steps": 3.0}}


def test_budgets_are_shares_or_percentages_alike_as_text_and_from_python():
    for given in ("0.5, 2%", ["0.5", "2%"], [0.5, "2%"], [0.5, 0.02]):
        assert SearchBenchOptions(budgets=given).budgets == (0.02, 0.5)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"searchers": ("adptive",)}, "Did you mean 'adaptive'"),
        ({"searchers": ()}, "No searcher is named"),
        ({"n_seeds": 0}, "invalid n_seeds: expected"),
        ({"budgets": ()}, "No budget is named"),
        ({"budgets": (0.1, 0.0)}, "invalid budgets: expected"),
        ({"budgets": (1.5,)}, "invalid budgets: expected"),
        ({"hyper": [5]}, "invalid hyper: expected searcher.name=number.*, got 5"),
        ({"hyper": {"testsgd": 5}}, "invalid hyper: expected searcher.name=number.*, got 5"),
        ({"hyper": {"dpso": {"alpha": 1}}}, "dpso is not among the searchers compared"),
        ({"hyper": {"testsgd": {"teta": 1}}}, "Did you mean 'theta'"),
        ({"min_support": -1}, "invalid min_support: expected"),
        ({"seed": -1}, "invalid seed: expected"),
    ],
)
def test_options_that_cannot_be_are_refused(options, says):
    with pytest.raises(FairRecError, match=says):
        SearchBenchOptions(**{"searchers": ("testsgd",), **options})
