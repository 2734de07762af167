"""Fairness among the tests of a recommender: `assert_within`, and a fixture for pytest."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairrec.core.settings import SETTINGS_FILE

if TYPE_CHECKING:
    from fairrec.auditing.saved_audits import Audited
    from fairrec.gating.options import Inconclusive
    from fairrec.gating.policy import GateResult, Policy


__all__ = ["assert_within"]


def assert_within(
    result: Audited,
    policy: Policy | Mapping[str, Any] | str | Path = SETTINGS_FILE,
    *,
    max_worse: Mapping[str, float | str] | None = None,
    baseline: Audited | None = None,
    releases: str | Path | None = None,
    inconclusive: Inconclusive = "fail",
) -> GateResult:
    """Fail with the gate's table unless a result passes; what is inconclusive fails unless it may.

    Parameters
    ----------
    result, policy, baseline, releases : as of `fairrec.gate`
    max_worse : in place of a policy, metric -> the harm that no group of one attribute may exceed,
        such as {"ndcg@10": 0.02} or {"ndcg@10": "5%"}
    inconclusive : what an inconclusive rule counts as
    """
    __tracebackhide__ = True
    from fairrec.core.errors import InputError, plain
    from fairrec.gating.gate import gate
    from fairrec.gating.reports import headline, to_text

    if max_worse is not None:
        if not isinstance(max_worse, Mapping):
            raise InputError(
                f"max_worse: {plain(max_worse)} names no metric. Give a limit for each, such as "
                'max_worse={"ndcg@10": 0.02}.'
            )
        rules = [{"metric": name, "max_worse": limit} for name, limit in max_worse.items()]
        policy = {"rule": rules}
    found = gate(result, policy, baseline=baseline, releases=releases, inconclusive=inconclusive)
    if not found.has_passed:
        # the first line is all that a summary of pytest shows
        raise AssertionError(f"{headline(found)}\n{to_text(found, explain=True)}")
    return found
