"""What a change is called, and whom a re-ranking harmed."""

from __future__ import annotations

import numpy as np
import pytest

from fairrec.core.audit_options import AuditOptions
from fairrec.groups.grouping import Grouping
from fairrec.inputs.users import Attribute
from fairrec.metrics import parse_metric
from fairrec.mitigation.effect import RESERVED, change_of, group_changes, verdict
from fairrec.result.group_table import conditions_of

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
    assert verdict(change, p_value, higher_is_better, 0.05) == word


def test_change_of_one_user_or_none_claims_nothing():
    one = change_of(np.array([0.1]), np.array([0.9]), True, 0.05)
    assert (one.n_users, one.interval, one.p_value, one.verdict) == (
        1,
        None,
        None,
        "not significant",
    )
    none = change_of(np.array([NAN]), np.array([0.9]), True, 0.05)
    assert (none.n_users, none.before, none.change, none.verdict) == (0, None, None, "unchanged")


def three_groups():
    """Few users who all lose much, many who lose little, and some whom nothing happens to."""
    sizes = {"few": 12, "many": 400, "same": 50}
    rng = np.random.default_rng(0)
    lost = {
        "few": 0.3 + 0.001 * np.arange(12),
        "many": 0.05 + 0.1 * rng.normal(size=400),
        "same": np.zeros(50),
    }
    values = (*sizes,)
    codes = np.repeat(np.arange(3), [*sizes.values()])
    attribute = Attribute("who", codes.astype(np.int32), values)
    before = np.full((1, len(codes)), 0.8)
    after = before - np.concatenate([lost[name] for name in sizes])
    grouping = Grouping.of((attribute,), AuditOptions(depth=1, min_support=1, threads=1))
    metrics = (parse_metric("ndcg@5"),)
    pool = np.zeros(len(codes), dtype=np.int64)
    return group_changes(metrics, before, after, pool, grouping, 0.05)


def test_harmed_by_most_standard_errors_come_first():
    changes = three_groups()
    harmed = changes.harmed()
    # with few users a p-value cannot be as small, however far they fell
    few, many = (changes.p_adjusted[0][at] for at in (0, 1))
    assert few > many
    assert [harm.group for harm in harmed] == [{"who": "few"}, {"who": "many"}]


def test_no_attribute_can_have_the_name_of_a_column_beside_it():
    changes = three_groups()
    table = changes.table(conditions_of(changes.grouping))
    assert {*table.columns} - {"who"} == {*RESERVED}
