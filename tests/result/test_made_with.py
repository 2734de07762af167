from __future__ import annotations

from fairrec.auditing.options import NOT_PLANNED
from fairrec.core.audit_options import AuditOptions
from fairrec.core.options import declared
from fairrec.result.summary import options_of
from tests.result.test_schema import RESULT


def test_every_option_that_changes_what_is_found_is_told():
    """What is not planned changes no number, and `top` is how many groups are named."""
    told = {*options_of(RESULT.summary)} - {"relevant", "gain", "missing_lists", "side", "unit"}
    assert told == {*declared(AuditOptions)} - {
        *NOT_PLANNED,
        "top",
    }
