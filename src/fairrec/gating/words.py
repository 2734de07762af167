"""What a rule asks for, what was measured, and what would have to be true, in words."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fairrec.core.errors import plain
from fairrec.core.options import spelled
from fairrec.gating.policy import GateResult, JudgedGroup, Passing, Rule, RuleOutcome
from fairrec.report.words import interval, number, percent, plural
from fairrec.result.metric_schema import MetricResult
from fairrec.result.schema import AuditSummary

MARKS = {"failed": "FAIL", "inconclusive": "OPEN", "passed": "PASS"}
_MANY = 100
"""Times the users, beyond which more of them are no way out."""


@dataclass(frozen=True, slots=True)
class Said:
    """A judged rule in words.

    Parameters
    ----------
    decided_by : the group that decides; None where no group is looked at
    n_must_pass : groups that had to be ruled out
    is_conclusive : whether the users with a value speak for all
    least_limit : with which all of them would be
    ruled_out_from : the size from which groups are; None where the largest is not
    at_worst : the group that may be furthest beyond the limit where attributes are unknown, and by
        how much it may be worse; None where none may
    """

    rule: Rule
    limit: float
    about: MetricResult
    summary: AuditSummary
    certify_from: int | None
    outcome: Passing
    decided_by: JudgedGroup | None
    n_failed: int
    n_open: int
    n_must_pass: int
    is_conclusive: bool
    least_limit: float
    ruled_out_from: int | None
    at_worst: tuple[str, float] | None

    @property
    def what(self) -> str:
        """What the rule asks for."""
        who = who_is_asked(self.rule)
        if self.rule.kind == "min_ratio":
            asked = f"{who} has less than {self.rule.min_ratio:g} {self._of_others}"
        elif self.rule.kind == "max_difference":
            asked = f"{who} differs by more than {self._limit}{self._whatever}"
        elif self.rule.kind == "baseline":
            asked = f"{who} is worse than in the baseline by more than {self._limit}"
        else:
            asked = f"{who} is worse by more than {self._limit}{self._whatever}"
        return f"{plain(self.rule.metric)}: {asked}"

    @property
    def measured(self) -> str:
        """What was measured, of the group that decides."""
        group = self.decided_by
        if group is None:
            return self._nothing
        who = f"{group.label} ({self.summary.unit.count(group.support)})"
        if self.outcome == "failed":
            n_others = self.n_failed - 1
            verb = "fails" if n_others == 1 else "fail"
            more = f"; {plural(n_others, 'other group')} {verb} too" if n_others else ""
            return f"{who} {self._is(group)}{more}"
        if self.outcome == "passed":
            return (
                f"ruled out for {self._scope}{self._if_like_others}; closest is {who}, which "
                f"{self._is(group)}"
            )
        if not self.is_conclusive:
            return (
                f"too many {self._many} have no value to rule anything out; {who} {self._is(group)}"
            )
        return f"open for {self.n_open:,} of {self._scope}; {who} {self._is(group)}"

    @property
    def explanation(self) -> str:
        """What would have to be true for it to pass."""
        if self.outcome == "passed":
            return "passes"
        if self.decided_by is None:
            return (
                "certify_from would have to be a size that groups have"
                if self.certify_from is not None
                else "at least two groups would have to be audited"
            )
        if self.outcome == "failed":
            return self._within
        if not self.is_conclusive:
            return (
                f"fewer {self._many} without a value ({percent(self.about.undefined_share)} now), "
                "in all groups alike"
            )
        return "; or ".join(self._ways_out)

    @property
    def _whatever(self) -> str:
        is_worst = self.rule.unknown == "worst"
        return f", whichever {self._many} of unknown attributes belong to it" if is_worst else ""

    @property
    def _if_like_others(self) -> str:
        """On what it rests that a rule passes, where attributes are unknown."""
        if self.at_worst is None or self.rule.kind not in ("max_worse", "max_difference"):
            return ""
        label, size = self.at_worst
        return (
            f", if {self._many} of unknown attributes are like the others (at worst {label} by "
            f"{number(size)})"
        )

    @property
    def _many(self) -> str:
        return self.summary.unit.many

    @property
    def _nothing(self) -> str:
        if self.certify_from is not None and not self.rule.groups:
            return f"no group has {self.certify_from:,} {self._many}, so nothing is ruled out"
        return "no group has others to be compared with"

    @property
    def _within(self) -> str:
        assert self.decided_by is not None
        limit = f"{self.rule.min_ratio or self.limit:.3g}"
        n_others = (self.n_failed if self.outcome == "failed" else self.n_open) - 1
        others = f" and of {plural(n_others, 'other group')}" if n_others > 0 else ""
        return f"the interval of {self.decided_by.label}{others} would have to stay within {limit}"

    @property
    def _ways_out(self) -> list[str]:
        group = self.decided_by
        assert group is not None
        if self.summary.permutations == 0:
            return [f"groups would have to be tested: audit with {spelled('permutations', 1000)}"]
        if group.measured is None:
            beside = "both audits" if self.rule.kind == "baseline" else "circumstances of others"
            return [f"{group.label} would have to have values in {beside}"]
        high = group.interval[1]
        if high is None:
            return [f"an interval of {group.label} that ends: more {self._many} of it"]
        ways = [self._within]
        size = max(0.0, group.measured)
        if self.rule.unknown is not None:
            ways.append(f"fewer {self._many} of unknown attributes")
        elif size < self.limit:
            # the width of an interval falls with the root of the number of users
            times = ((high - size) / (self.limit - size)) ** 2
            if 1 < times <= _MANY:
                ways.append(f"about {number(times)} times as many {self._many}, were it no worse")
        if self.limit < self.least_limit < math.inf:
            name = "tolerance" if self.rule.kind == "baseline" else self.rule.kind
            ways.append(f"{name} = {self._limit_as_given(self.least_limit)}")
        if self.certify_from is not None and self.ruled_out_from is not None:
            ways.append(f"certify_from = {self.ruled_out_from}")
        return ways

    @property
    def _scope(self) -> str:
        groups = plural(self.n_must_pass, "group")
        if self.rule.groups:
            return f"{groups} named"
        if self.certify_from is not None:
            return f"{groups} of {self.certify_from:,} {self._many} or more"
        return (
            f"{groups} of {'all attributes' if self.summary.depth == 'full' else 'one attribute'}"
        )

    @property
    def _limit(self) -> str:
        """As it was given, and in units of the metric where it is a share."""
        given = self.rule.limit
        if given is None:
            return f"what matters, {self.limit:.6g}"
        return f"{given} of the mean ({number(self.limit)})" if given.is_share else str(given)

    @property
    def _of_others(self) -> str:
        return "of all others'" if self.about.higher_is_better else "as all others have, of its own"

    def _is(self, group: JudgedGroup) -> str:
        """What was measured of a group, with its interval."""
        if group.measured is None:
            nobody = self.summary.unit.nobody
            return (
                "has values in only one of the two audits, so it is not compared"
                if self.rule.kind == "baseline"
                else f"has {nobody} to be compared with, as too few others are in its circumstances"
            )
        low, high = group.interval
        if self.rule.kind == "min_ratio":
            ends = (None if end is None else 1 - end for end in (high, low))
            return f"has {number(1 - group.measured)} {self._of_others} ({_ends(*ends)})"
        worst = ", at worst" if self.rule.unknown == "worst" else ""
        if self.rule.kind == "max_difference":
            return f"differs by {number(group.measured)} ({_ends(low, high)}{worst})"
        than = " than in the baseline" if self.rule.kind == "baseline" else ""
        if group.measured >= 0:
            return f"is worse{than} by {number(group.measured)} ({_ends(low, high)}{worst})"
        least, most = (None if end is None else -end for end in (high, low))
        return f"is better{than} by {number(-group.measured)} ({_ends(least, most)}{worst})"

    def _limit_as_given(self, size: float) -> str:
        """A limit in the rule's own terms, rounded to where it still holds."""
        if self.rule.kind == "min_ratio":
            return f"{math.floor(round((1 - size) * 1000, 6)) / 1000:g}"
        # of the smallest numbers there are, a hundredth is none
        step = (10.0 ** (math.floor(math.log10(size)) - 2) or size) if size > 0 else 1.0
        return f"{math.ceil(round(size / step, 6)) * step:.12g}"


def who_is_asked(rule: Rule) -> str:
    """The groups of a rule, as what it asks for begins."""
    n_named = len({tuple(sorted(group.items())) for group in rule.groups})
    return f"none of {plural(n_named, 'named group')}" if n_named else "no group"


def _ends(low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return interval(low, high)
    return " to ".join("no limit" if end is None else number(end) for end in (low, high))


def line_of(rule: RuleOutcome) -> str:
    """A rule and its outcome on one line."""
    warns = " (warning only)" if rule.severity == "warn" and rule.outcome != "passed" else ""
    return f"{rule.what}{warns} | {rule.measured}"


def headline(gate: GateResult) -> str:
    """The outcome of all rules in one sentence."""
    deciding = [rule for rule in gate.rules if rule.severity == "fail"]
    n = sum(rule.outcome == gate.outcome for rule in deciding)
    checks = plural(len(deciding), "check")
    said = {
        "failed": f"Failed: {n:,} of {checks}",
        "inconclusive": f"Inconclusive: {n:,} of {checks}, none failed",
        "passed": f"Passed: {checks}",
    }[gate.outcome]
    warned = sum(rule.outcome == "failed" for rule in gate.rules if rule.severity == "warn")
    if gate.outcome == "inconclusive" and gate.inconclusive is not None:
        said += f", which counts as {'failed' if gate.inconclusive == 'fail' else 'passed'}"
    warning = f"; {plural(warned, 'warning')}" if warned else ""
    return f"{said}{warning}."
