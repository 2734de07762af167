"""A comparison in named parts."""

from __future__ import annotations

import polars as pl
import pytest

from fairrec.comparison import parts as comparison_parts
from fairrec.comparison.paired_audits import judged
from fairrec.comparison.parts import compared_audit, metric_comparison
from tests.compared_audits import audited, users_table
from tests.comparison.test_change_table import CONDITIONS
from tests.comparison.test_compared import DEPTH, ROWS, groups


@pytest.fixture(scope="module")
def result():
    return audited(users_table(), title="spring", model_name="als")


def test_groups_are_counted_and_the_worst_are_named(result):
    metric = result.metrics["clicks"]
    found = judged(groups(*ROWS), DEPTH, True, 0.1, is_conclusive=True)
    part = metric_comparison(found, CONDITIONS, None, (metric, metric))
    counts = (part.n_lost_by_more, part.n_lost, part.n_gained, part.n_ruled_out, part.n_open)
    assert counts == (1, 2, 1, 2, 1)
    assert (part.n_behind, [group.group for group in part.behind]) == (1, [{"who": "c"}])
    assert part.behind[0].is_behind and not part.lost[1].is_behind
    assert part.lost[1].difference_simultaneous is None
    assert (part.n_groups, part.n_unknown) == (5, 1)
    assert [group.group for group in part.lost] == [{"who": "c"}, {"who": "b"}]
    assert [group.group for group in part.gained] == [{"who": "a"}]
    assert part.lost[0].simultaneous == (-0.4, -0.2)
    assert part.gap.before == part.gap.after == metric.gap


def test_of_many_groups_some_are_named(result, monkeypatch):
    monkeypatch.setattr(comparison_parts, "MOST_GROUPS", 1)
    metric = result.metrics["clicks"]
    found = judged(groups(*ROWS), DEPTH, True, 0.1, is_conclusive=True)
    part = metric_comparison(found, CONDITIONS, None, (metric, metric))
    assert len(part.lost) == 1 and part.n_lost == 2


def test_an_empty_value_is_a_value(result):
    metric = result.metrics["clicks"]
    conditions = pl.DataFrame({"who": ["", "b", "", None, "e"], "depth": DEPTH})
    found = judged(groups(*ROWS), DEPTH, True, 0.1, is_conclusive=True)
    part = metric_comparison(found, conditions, None, (metric, metric))
    assert part.lost[0].group == {"who": ""}


def test_an_audit_is_named_as_its_auditor_did(result):
    part = compared_audit(result.summary, "v2")
    assert (part.name, part.title, part.model.name, part.n_users) == ("v2", "spring", "als", 600)
