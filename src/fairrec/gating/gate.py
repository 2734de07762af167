"""The conductor of a gate: a result and a policy -> passed, failed or inconclusive."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli_w

from fairrec.auditing.harms import GroupHarms, read_harms
from fairrec.auditing.options import SETTINGS
from fairrec.auditing.saved_audits import Audited, refuse_hidden, resolve_audit
from fairrec.auditing.saved_settings import audit_options
from fairrec.comparison.compare import compare
from fairrec.core.atomic_io import errors_of_disk, write_text
from fairrec.core.audit_options import AuditOptions
from fairrec.core.errors import (
    InputError,
    OutputError,
    listed,
    plain,
    unknown_name,
)
from fairrec.core.options import Blank, invalid, list_defaults, public_function, spell
from fairrec.core.redact_paths import redact_path
from fairrec.core.settings import SETTINGS_FILE, read_settings
from fairrec.core.tolerance import Tolerance
from fairrec.counterfactuals.result import load_counterfactual_summary
from fairrec.gating.judging import Measurements, judge_policy, not_given
from fairrec.gating.options import Inconclusive
from fairrec.gating.policy import GateResult, Policy, Rule, combine_outcomes, parse_policy
from fairrec.inputs.table_options import TableOptions
from fairrec.metrics.tolerance import by_name
from fairrec.report.audit_result import AuditResult
from fairrec.report.view import about_model
from fairrec.result.metric_schema import MetricResult
from fairrec.result.schema import AuditSummary
from fairrec.result.summary import result_options
from fairrec.trends.options import TrendOptions
from fairrec.trends.result import TrendSummary
from fairrec.trends.trend import trend


@public_function
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
    >>> tables = fairrec.Tables(better="rating=higher")
    >>> result = fairrec.audit(values=values, users=users, by="plan", tables=tables)
    >>> rule = {"metric": "rating", "max_worse": 0.8}
    >>> print(fairrec.gate(result, {"rule": [rule]}).outcome)
    passed
    """
    if inconclusive not in (None, "fail", "pass"):
        raise invalid("inconclusive", "'fail' or 'pass'", inconclusive)
    policy_file = read_policy(policy)
    refuse_own_baseline(audit, baseline)
    result, place = resolve_audit("audit", audit)
    policy_file.refuse_other_audit(result.summary)
    refuse_hidden("audit", result)
    base = None if baseline is None else resolve_audit("baseline", baseline)[0]
    if base is not None:
        refuse_hidden("baseline", base)
    policy_file.refuse_unused("baseline", baseline)
    policy_file.refuse_unused("releases", releases)
    found = load_counterfactual_summary(audit)
    measured = Measurements(
        result.summary,
        result.group_table,
        None if base is None else _changes(base, result),
        None if releases is None else _trend(policy_file.policy, place or result, releases),
        None if found is None else found.affected,
    )
    judged = judge_policy(policy_file.policy, measured, policy_file.where)
    outcome, exit_code = combine_outcomes(judged, inconclusive)
    name = None
    if isinstance(baseline, str | Path):
        name = redact_path(baseline)
    elif base is not None:
        name = plain(base.summary.title) or "a result in memory"
    return GateResult(
        title=plain(result.summary.title),
        model=about_model(result.summary),
        baseline=name,
        inconclusive=inconclusive,
        outcome=outcome,
        exit_code=exit_code,
        look="" if place is None else _where_to_look(place),
        policy=policy_file.policy,
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
        is_same = os.path.realpath(audit) == os.path.realpath(baseline)
    if is_same:
        raise InputError(
            "baseline: is the audit itself, than which no group can be worse. Keep the earlier "
            "audit in a folder of its own, and name that."
        )


def check_baseline(file: str | Path, baseline: str | Path | None) -> None:
    """Refuse a policy that asks for a baseline where there is none, before any work is done."""
    policy_file = read_policy(file)
    policy_file.refuse_unused("baseline", baseline)
    if baseline is not None:
        resolve_audit("baseline", baseline)
        return
    for number, rule in enumerate(policy_file.policy.rule, start=1):
        if rule.kind == "baseline":
            raise InputError(f"{policy_file.where}: rule {number}: {not_given('baseline')}")


def _where_to_look(place: Path) -> str:
    page = place / "report.html"
    return plain(page if page.exists() else f"fairrec report {shlex.quote(str(place))}", 300)


def _changes(base: AuditResult, candidate: AuditResult) -> Callable[[str], GroupHarms]:
    """Metric -> how much worse each group is than in a baseline."""
    compared = compare(base, candidate)

    def of_metric(metric: str) -> GroupHarms:
        if metric not in compared.metrics:
            raise unknown_name("metric in the baseline", metric, compared.metrics)
        about = compared.metrics[metric]
        return read_harms(
            compared.changes,
            [*compared.attributes],
            metric,
            about.higher_is_better,
            "change",
            is_conclusive=about.is_conclusive,
        )

    return of_metric


def _trend(
    policy: Policy, audit: AuditResult | Path, releases: str | Path
) -> Callable[[Rule], TrendSummary]:
    """The releases in the metric and groups of a rule; rules with trend share one level."""
    alpha = TrendOptions().alpha / sum(rule.kind == "trend" for rule in policy.rule)

    def of_rule(rule: Rule) -> TrendSummary:
        groups, metrics = list(rule.groups), [rule.metric]
        return trend([audit], history=releases, group=groups, metric=metrics, alpha=alpha).summary

    return of_rule


@dataclass(frozen=True, slots=True)
class PolicyFile:
    """A policy, the options of audits beside it, and where it stands, for errors."""

    policy: Policy
    options: Mapping[str, Any]
    where: str

    def refuse_unused(self, name: str, given: object) -> None:
        """An error where audits are named that no rule would look at."""
        kind = {"baseline": "baseline", "releases": "trend"}[name]
        if given is not None and all(rule.kind != kind for rule in self.policy.rule):
            raise InputError(
                f"{spell(name)}: no rule of {self.where} has {kind}. Add one, or leave "
                f"{spell(name)} out."
            )

    def refuse_other_audit(self, summary: AuditSummary) -> None:
        """An error where an audit was made otherwise than the options ask for.

        An audit by fewer attributes would pass without a look at groups that are worse off.
        """
        asked = {**self.options}
        if asked.get("tolerance") is not None:
            asked["tolerance"] = by_name(asked["tolerance"], [*summary.metrics])
        differing = []
        if missing := [name for name in asked.get("by", ()) if name not in summary.by]:
            differing.append(f"it is not by {listed(missing)}")
        given = summary.adjustment.named if summary.adjustment else ()
        if "adjust_for" in asked and {*asked["adjust_for"]} != {*given}:
            wanted = listed(asked["adjust_for"])
            differing.append(f"adjust_for is {listed(given) or 'nothing'}, not {wanted}")
        for name, found in result_options(summary).items():
            # other permutations and another seed ask the same
            is_asked = asked.get(name) is not None and name not in ("permutations", "seed")
            if is_asked and str(asked[name]) != str(found):
                now = f"no {name} was set" if found is None else f"{name} is {plain(found)}"
                differing.append(f"{now}, not {plain(asked[name])}")
        if differing:
            raise InputError(
                f"{self.where}: asks for another audit than this one: {'; '.join(differing)}. "
                "Audit as in [audit], or change it there."
            )


def read_policy(given: Policy | Mapping[str, Any] | str | Path) -> PolicyFile:
    """A policy: of a settings file, or as it is."""
    if isinstance(given, Policy):
        return PolicyFile(given, {}, "policy")
    if isinstance(given, Mapping):
        if unknown := [name for name in given if name not in Policy.model_fields]:
            raise InputError(f"policy: {unknown_name('key', unknown[0], Policy.model_fields)}")
        return PolicyFile(parse_policy(given, "policy"), {}, "policy")
    if not isinstance(given, str | Path):
        raise invalid("policy", "a file or a mapping with rule and require", given)
    file = Path(given)
    if file.name == SETTINGS_FILE and not file.exists():
        raise InputError(
            f"There is no {plain(file, 300)}, and no other policy was named. Let fairrec init "
            f"AUDIT write one, or name it: {spell('policy', Blank('FILE'))}"
        )
    settings = read_settings(file, SETTINGS)
    policy = parse_policy(settings.content, settings.where)
    return PolicyFile(policy, settings.values, settings.where)


USUAL_SHARE, USUAL_SPREAD = 0.05, 0.1
"""Of the mean, and of the standard deviation among users where a share of the mean is not defined:
a start for those who have set no tolerance, not a judgement."""

_POLICY = """\
# A policy, written by fairrec init from an audit{of}. Its limits are a start: change them to
# the limits where you work. `fairrec audit` takes its options from [audit], `fairrec gate`
# judges an audit by [[rule]] and [require].
{audit}
[require]
# the largest share of {many} without a value
max_undefined = {max_undefined}
# the limits of the rules must be ruled out for every group of a single attribute; with a
# size, for every group of at least that many {many} instead:
# certify_from = 200
"""


def init_policy(audit: str | Path, out: str | Path) -> Path:
    """Write a policy for the metrics and groups of a saved audit.

    An existing file stays.
    """
    out = Path(out)
    with errors_of_disk(out):
        if out.exists() or out.is_symlink():
            raise OutputError(
                f"{plain(out, 300)}: exists already. Remove it, or name another file."
            )
    write_text(out, policy_text(resolve_audit("audit", audit)[0]))
    return out


def policy_text(result: AuditResult) -> str:
    """The content of the file: a rule for each metric, with its outcome now."""
    summary = result.summary
    refuse_hidden("audit", result)
    tested = {name: one for name, one in summary.metrics.items() if one.is_tested and one.sd}
    if not tested:
        raise InputError(
            f"This audit compares no groups of {summary.unit.many} one by one, so there is nothing "
            f"to limit. Audit a metric per {summary.unit.one}, with at least two groups."
        )
    rules = [_start(name, about, summary.tolerance) for name, about in tested.items()]
    text = _POLICY.format(
        of=f' "{plain(summary.title)}"' if summary.title else "",
        audit=tomli_w.dumps({"audit": _chosen_options(summary)}),
        many=summary.unit.many,
        max_undefined=summary.max_undefined,
    )
    policy = Policy.model_validate({"rule": rules})
    judged = judge_policy(policy, Measurements(summary, result.group_table), "policy")
    for rule, found in zip(rules, judged, strict=True):
        now = f"# now {found.outcome}: {found.measured}"
        text += f"\n[[rule]]\n{now}\n{tomli_w.dumps(rule)}"
    return text


def _start(name: str, about: MetricResult, tolerance: str | None) -> dict[str, Any]:
    """A rule to start with: the tolerance of the audit, else a usual share or spread."""
    amount = None if tolerance is None else Tolerance.parse(tolerance).amount(name)
    if amount is not None:
        limit: str | float = str(amount) if amount.is_share else amount.size
    elif about.is_ratio_scale and about.mean > 0:
        limit = f"{100 * USUAL_SHARE:g}%"
    else:
        limit = float(f"{USUAL_SPREAD * (about.sd or 0.0):.2g}")
    return {
        "metric": name,
        "max_difference" if about.higher_is_better is None else "max_worse": limit,
    }


def _chosen_options(summary: AuditSummary) -> dict[str, Any]:
    """The options of an audit, without those that have their defaults."""
    usual = {**list_defaults(AuditOptions), **list_defaults(TableOptions)}
    options = audit_options(summary).items()
    return {name: value for name, value in options if str(value) != str(usual[name])}
