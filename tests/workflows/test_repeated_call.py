from __future__ import annotations

from fairrec.core.audit_options import AboutOptions, AuditOptions
from fairrec.workflows.repeated_call import audit_call


def test_everything_that_changes_a_number_is_told():
    options = AuditOptions.of(depth=2, matters="5%", threads=1)
    said = audit_call(["predictions"], options, AboutOptions(title="Spring"), ["search='random'"])
    assert said.startswith("fairrec.audit(predictions, depth=2, ")
    assert "matters='5%', search='random', title='Spring')" in said
    assert "threads" not in said
