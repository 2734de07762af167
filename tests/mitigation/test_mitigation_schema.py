from __future__ import annotations

from typing import get_args

from fairrec.mitigation.schema import GroupCounts
from fairrec.statistics.paired import ChangeVerdict


def test_groups_are_counted_by_every_verdict():
    assert set(GroupCounts.model_fields) == {
        name.replace(" ", "_") for name in get_args(ChangeVerdict)
    }
