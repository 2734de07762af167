"""What a change is called, and tests that count all groups and metrics."""

from __future__ import annotations

import numpy as np
import pytest

from fairrec import Engine
from fairrec.core.audit_options import AuditOptions
from fairrec.groups.grouping import Grouping
from fairrec.inputs.users import Attribute
from fairrec.statistics.paired import (
    adjusted_for_all,
    change_verdict,
    group_changes,
    group_sums,
)

NAN = np.nan


@pytest.mark.parametrize(
    ("change", "p_value", "higher_is_better", "word"),
    [
        (0.1, 0.01, True, "improved"),
        (-0.1, 0.01, True, "worse"),
        (0.1, 0.01, False, "worse"),
        (-0.1, 0.05, False, "improved"),
        (0.1, 0.01, None, "changed"),
        (0.1, 0.0501, True, "not significant"),
        (0.1, NAN, True, "not significant"),
        (0.0, 0.01, True, "unchanged"),
    ],
)
def test_change_in_a_word(change, p_value, higher_is_better, word):
    assert change_verdict(change, p_value, higher_is_better, 0.05) == word


def test_what_is_not_tested_costs_nothing_and_is_never_shown():
    p_values = np.array([[0.01, 0.04], [NAN, 0.001]])
    is_tested = np.array([[True, True], [False, False]])
    adjusted = adjusted_for_all(p_values, is_tested)
    assert adjusted[0].tolist() == [0.02, 0.04]
    assert np.isnan(adjusted[1, 0]) and adjusted[1, 1] == 1


def test_sums_over_groups_are_those_of_their_users():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 90).astype(np.int32)
    options = AuditOptions(depth=1, min_support=1, engine=Engine(threads=1))
    grouping = Grouping.of((Attribute("who", codes, ("a", "b", "c")),), options)
    before, after = rng.random((2, 90))
    before[::7] = NAN
    sums = group_sums(before, after, grouping)
    known = ~np.isnan(before)
    for code in range(3):
        mine = known & (codes == code)
        assert sums.n[code] == mine.sum()
        assert sums.squares[code] == pytest.approx(((after - before)[mine] ** 2).sum())
    found = group_changes({"a": None}, before[None], after[None], grouping, 0.05)
    assert found.changes[0].change == pytest.approx(sums.changes(0.05).change)
    assert found.n_tests == 3
    assert {*found.verdicts(0)} == {"not significant"}
