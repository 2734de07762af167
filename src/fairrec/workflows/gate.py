"""The conductor of a gate: a result and a policy -> passed, failed or inconclusive."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from fairrec.core.errors import InputError, errors_of_libraries, plain, unknown_name
from fairrec.core.options import invalid, spelled
from fairrec.core.settings import SETTINGS_FILE
from fairrec.core.told import told_path
from fairrec.policy.gate_options import Inconclusive
from fairrec.policy.harms import GroupHarms, harms_in
from fairrec.policy.judging import Changes, Measurements, judge_policy, no_baseline
from fairrec.policy.over_releases import Trends
from fairrec.policy.schema import GateResult, Policy, Rule, outcome_of_rules, policy_in
from fairrec.report.text.view import about_model
from fairrec.result.audit_result import AuditResult
from fairrec.result.trend import TrendSummary
from fairrec.workflows.compare import compare
from fairrec.workflows.load import Audited, audit_of, counterfactual_of, refuse_hidden
from fairrec.workflows.policy_file import PolicyFile, read_policy
from fairrec.workflows.trend import trend
from fairrec.workflows.trend_options import TrendOptions


@errors_of_libraries()
def gate(
    audit: Audited,
    policy: Policy | Mapping[str, Any] | str | Path = SETTINGS_FILE,
    *,
    baseline: Audited | None = None,
    releases: str | Path | None = None,
    inconclusive: Inconclusive | None = None,
) -> GateResult:
    """Whether a result is within a policy.

    Parameters
    ----------
    audit : a result, or the folder of one; of a mitigation that of the re-ranked lists
    policy : a file with `[[rule]]` and `[require]`, or the same as a mapping
    baseline : a result to be no worse than, where a rule asks for it
    releases : a folder with audits of earlier releases, where a rule asks for their trend
    inconclusive : what an inconclusive rule counts as, "fail" or "pass"; None for neither, which is
        an exit code of its own

    Examples
    --------
    >>> import fairrec, numpy as np, polars as pl
    >>> rng = np.random.default_rng(0)
    >>> values = pl.DataFrame({"user_id": range(400), "rating": rng.normal(3, 1, 400)})
    >>> users = pl.DataFrame({"user_id": range(400), "plan": ["free", "paid"] * 200})
    >>> result = fairrec.audit(values=values, users=users, by="plan", better="rating=higher")
    >>> rule = {"metric": "rating", "max_worse": 0.8}
    >>> print(fairrec.gate(result, {"rule": [rule]}).outcome)
    passed
    """
    if inconclusive not in (None, "fail", "pass"):
        raise invalid("inconclusive", "'fail' or 'pass'", inconclusive)
    asked = _policy(policy)
    refuse_own_baseline(audit, baseline)
    result, place = audit_of("audit", audit)
    asked.refuse_other_audit(result.summary)
    refuse_hidden("audit", result)
    base = None if baseline is None else audit_of("baseline", baseline)[0]
    if base is not None:
        refuse_hidden("baseline", base)
    _refuse_unused(asked, baseline, releases)
    found = counterfactual_of(audit)
    measured = Measurements(
        result.summary,
        result.group_table,
        None if base is None else _changes(base, result),
        None if releases is None else _trends(asked.policy, place or result, releases),
        None if found is None else found.affected,
    )
    judged = judge_policy(asked.policy, measured, asked.where)
    outcome, exit_code = outcome_of_rules(judged, inconclusive)
    return GateResult(
        title=plain(result.summary.title),
        model=about_model(result.summary),
        baseline=None if baseline is None else _called(baseline),
        inconclusive=inconclusive,
        outcome=outcome,
        exit_code=exit_code,
        look=_look(place),
        policy=asked.policy,
        rules=judged,
    )


def refuse_own_baseline(audit: object, baseline: object) -> None:
    """An error where a result is its own baseline, than which no group can be worse.

    Parameters
    ----------
    audit : a result or its folder, also one that is yet to be written
    """
    is_same = audit is baseline and audit is not None
    if isinstance(audit, str | Path) and isinstance(baseline, str | Path):
        # a path with a zero byte is told when it is read
        with suppress(ValueError):
            is_same = os.path.realpath(audit) == os.path.realpath(baseline)
    if is_same:
        raise InputError(
            "baseline: is the audit itself, than which no group can be worse. Keep the earlier "
            "audit in a folder of its own, and name that."
        )


def _policy(given: Policy | Mapping[str, Any] | str | Path) -> PolicyFile:
    if isinstance(given, Policy):
        return PolicyFile(given, {}, "policy")
    if isinstance(given, Mapping):
        if unknown := [name for name in given if name not in Policy.model_fields]:
            raise InputError(
                f"policy: has {plain(unknown[0])}, and holds rule and require alone. Leave it out."
            )
        return PolicyFile(policy_in(given, "policy"), {}, "policy")
    if not isinstance(given, str | Path):
        raise invalid("policy", "a file or a mapping with rule and require", given)
    return read_policy(given)


def check_baseline(file: str | Path, baseline: str | Path | None) -> None:
    """Refuse a policy that asks for a baseline where there is none, before any work is done."""
    asked = read_policy(file)
    if baseline is not None:
        audit_of("baseline", baseline)
        _refuse_unused(asked, baseline)
        return
    for number, rule in enumerate(asked.policy.rule, start=1):
        if rule.kind == "baseline":
            raise InputError(f"{asked.where}: rule {number}: {no_baseline()}")


def _refuse_unused(
    asked: PolicyFile, baseline: object | None, releases: str | Path | None = None
) -> None:
    """An error where audits are named that no rule would look at."""
    kinds = {rule.kind for rule in asked.policy.rule}
    for name, given, kind, limit in (
        ("baseline", baseline, "baseline", 'baseline = "no_group_worse"'),
        ("releases", releases, "trend", 'trend = "not_worse"'),
    ):
        if given is not None and kind not in kinds:
            raise InputError(
                f"{spelled(name)}: no rule of {asked.where} has {kind}, so nothing would be "
                f"compared with it. Add a rule with {limit}, or leave {spelled(name)} out."
            )


def _called(given: Audited) -> str:
    if isinstance(given, str | Path):
        return told_path(given)
    return plain(audit_of("baseline", given)[0].summary.title) or "a result in memory"


def _look(place: Path | None) -> str:
    """Where a saved result can be looked at."""
    if place is None:
        return ""
    page, command = place / "report.html", f"fairrec report {shlex.quote(str(place))}"
    return plain(page if page.exists() else command, 300)


def _trends(policy: Policy, audit: AuditResult | Path, releases: str | Path) -> Trends:
    """Releases by rule: rules about the same groups share a level, and all sets of groups one."""
    rules = [rule for rule in policy.rule if rule.kind == "trend"]
    sets = {_key(rule): rule.groups for rule in rules}

    @cache
    def of_groups(key: str) -> TrendSummary:
        metrics = dict.fromkeys(rule.metric for rule in rules if _key(rule) == key)
        alpha = TrendOptions.alpha / len(sets)
        return trend(
            [audit], history=releases, group=sets[key], metric=[*metrics], alpha=alpha
        ).summary

    return lambda rule: of_groups(_key(rule))


def _key(rule: Rule) -> str:
    return repr(sorted(sorted(group.items()) for group in rule.groups))


def _changes(base: AuditResult, candidate: AuditResult) -> Changes:
    """How much worse each group is than in a baseline."""
    compared = compare(base, candidate)

    def of_metric(metric: str) -> GroupHarms:
        if metric not in compared.metrics:
            raise unknown_name("metric in the baseline", metric, compared.metrics)
        about = compared.metrics[metric]
        return harms_in(
            compared.changes,
            [*compared.attributes],
            metric,
            about.higher_is_better,
            "change",
            is_conclusive=about.is_conclusive,
        )

    return of_metric
