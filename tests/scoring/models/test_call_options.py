from __future__ import annotations

import pytest

from fairrec.core.errors import InputError
from fairrec.scoring.model import FunctionModel
from fairrec.scoring.options import CallOptions


@pytest.mark.parametrize(
    "options", [{"concurrency": 0}, {"concurrency": 257}, {"rows_per_call": 0}]
)
def test_a_function_is_asked_in_a_way_that_can_be(options):
    with pytest.raises(InputError, match=f"invalid {next(iter(options))}: expected"):
        FunctionModel(lambda users, items: users, **options)


def test_a_function_is_asked_one_call_after_another_unless_told_otherwise():
    model = FunctionModel(lambda users, items: users)
    assert (model.concurrency, model.rows_per_call) == (1, CallOptions.rows_per_call)
