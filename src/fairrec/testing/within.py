"""A result that must be within a policy, or the test fails with the gate's table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairrec.core.settings import SETTINGS_FILE

if TYPE_CHECKING:
    from fairrec.auditing.saved_audits import Audited
    from fairrec.gating.options import Inconclusive
    from fairrec.gating.policy import GateResult, Policy


def assert_within(
    result: Audited,
    policy: Policy | Mapping[str, Any] | str | Path = SETTINGS_FILE,
    *,
    baseline: Audited | None = None,
    releases: str | Path | None = None,
    inconclusive: Inconclusive = "fail",
) -> GateResult:
    """Fail unless a result passes the gate; what is inconclusive fails too, unless it may pass.

    Parameters
    ----------
    result, policy, baseline, releases : as of `fairrec.gate`
    inconclusive : what an inconclusive rule counts as
    """
    __tracebackhide__ = True
    from fairrec.gating.formats import to_text
    from fairrec.gating.gate import gate
    from fairrec.gating.words import headline

    found = gate(result, policy, baseline=baseline, releases=releases, inconclusive=inconclusive)
    if not found.has_passed:
        # the first line is all that a summary of pytest shows
        raise AssertionError(f"{headline(found)}\n{to_text(found, explain=True)}")
    return found
