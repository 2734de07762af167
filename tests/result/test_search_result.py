from __future__ import annotations

import numpy as np

from fairrec import Search
from fairrec.result.summary import _points, search_summary
from fairrec.search.evidence import GapHistory
from tests.builders import audit, make_tables


def test_without_a_search_everyone_was_at_hand():
    found = search_summary(None, 48)
    assert (found.name, found.users_scored, found.users_total) == ("exact", 48, 48)
    assert (found.ending, found.users_paid, found.metrics) == ("finished", 0, {})


def test_the_history_has_the_points_at_which_the_gap_grew_and_the_last_one():
    history = GapHistory(2)
    for users, gaps in ((5, (0.0, 0.1)), (9, (0.2, 0.1)), (12, (0.2, 0.1)), (20, (0.3, 0.1))):
        history.add(users, 0.0, np.array(gaps), 1)
    first, second = ([(p.users, p.gap) for p in _points(history, metric)] for metric in (0, 1))
    assert first == [(5, 0.0), (9, 0.2), (20, 0.3)]
    # the last one says how far the search has come
    assert second == [(5, 0.1), (20, 0.1)]
    assert _points(GapHistory(1), 0) == ()


def test_options_and_costs_are_told_as_they_were():
    tables = make_tables()
    options = Search("testsgd", budget_users=30, reference=0.2, hyper={"theta": 0.05})
    found = audit(tables.predictions, tables.users, "gender,member", search=options).summary.search
    assert (found.name, found.budget_users, found.budget_seconds) == ("testsgd", 30, None)
    assert found.hyper_parameters == {"theta": 0.05}
    assert found.users_reference == 6
    assert found.users_scored == found.users_paid == 30
    assert found.ending == "users spent"
    # no ledger is kept in a file, and the scores are in the table
    assert (found.spent_in_all, found.model_identity, found.faults) == (None, "", {})
    assert found.n_fully_scored + found.n_not_fully_scored == 6
