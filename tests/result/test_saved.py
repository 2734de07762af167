"""The files of a saved audit."""

from __future__ import annotations

import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec.result.saved import load_per_user, refuse_other_groups
from tests.builders import audit, two_groups


def test_groups_may_be_hidden_and_none_added():
    result = audit(*two_groups(), by="group")
    table = result.group_table
    refuse_other_groups(table, result.summary)
    refuse_other_groups(table.head(1), result.summary)
    for other in (table.vstack(table), table.drop("group"), table.drop("metric")):
        with pytest.raises(InputError, match="does not belong to this result"):
            refuse_other_groups(other, result.summary)


def test_a_group_of_everyone_has_a_row_though_it_is_compared_with_nobody():
    predictions, users = two_groups()
    result = audit(predictions, users.with_columns(land=pl.lit("x")), by="group,land")
    assert result.group_table["difference"].null_count() > 0
    refuse_other_groups(result.group_table, result.summary)


def test_users_that_were_not_saved_are_none(tmp_path):
    result = audit(*two_groups(), by="group")
    assert load_per_user(tmp_path, result.summary) is None
