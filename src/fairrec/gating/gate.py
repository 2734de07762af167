"""The conductor of a gate: a result and a policy -> passed, failed or inconclusive."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import tomli_w

from fairrec.auditing.options import SETTINGS
from fairrec.auditing.saved_audits import Audited, refuse_hidden, resolve_audit
from fairrec.comparison.compare import compare
from fairrec.core.atomic_io import errors_of_disk, write_text
from fairrec.core.audit_options import AuditOptions
from fairrec.core.errors import (
    InputError,
    OutputError,
    errors_of_libraries,
    listed,
    plain,
    unknown_name,
)
from fairrec.core.options import Blank, invalid, list_defaults, spell
from fairrec.core.redact_paths import redact_path
from fairrec.core.settings import SETTINGS_FILE, read_settings
from fairrec.core.tolerance import Amount, Tolerance
from fairrec.counterfactuals.result import load_counterfactual_summary
from fairrec.gating.harms import GroupHarms, read_harms
from fairrec.gating.judging import Changes, Measurements, Trends, judge, judge_policy, no_baseline
from fairrec.gating.options import Inconclusive
from fairrec.gating.policy import GateResult, Policy, Rule, combine_outcomes, parse_policy
from fairrec.inputs.table_options import TableOptions
from fairrec.metrics.tolerance import by_name
from fairrec.metrics.value_columns import find_metric
from fairrec.report.audit_result import AuditResult
from fairrec.report.view import about_model
from fairrec.result.metric_schema import MetricResult
from fairrec.result.schema import AuditSummary
from fairrec.result.summary import result_options
from fairrec.trends.options import TrendOptions
from fairrec.trends.result import TrendSummary
from fairrec.trends.trend import trend


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
    >>> tables = fairrec.Tables(better="rating=higher")
    >>> result = fairrec.audit(values=values, users=users, by="plan", tables=tables)
    >>> rule = {"metric": "rating", "max_worse": 0.8}
    >>> print(fairrec.gate(result, {"rule": [rule]}).outcome)
    passed
    """
    if inconclusive not in (None, "fail", "pass"):
        raise invalid("inconclusive", "'fail' or 'pass'", inconclusive)
    asked = _policy(policy)
    refuse_own_baseline(audit, baseline)
    result, place = resolve_audit("audit", audit)
    asked.refuse_other_audit(result.summary)
    refuse_hidden("audit", result)
    base = None if baseline is None else resolve_audit("baseline", baseline)[0]
    if base is not None:
        refuse_hidden("baseline", base)
    _refuse_unused(asked, baseline, releases)
    found = load_counterfactual_summary(audit)
    measured = Measurements(
        result.summary,
        result.group_table,
        None if base is None else _changes(base, result),
        None if releases is None else _trends(asked.policy, place or result, releases),
        None if found is None else found.affected,
    )
    judged = judge_policy(asked.policy, measured, asked.where)
    outcome, exit_code = combine_outcomes(judged, inconclusive)
    return GateResult(
        title=plain(result.summary.title),
        model=about_model(result.summary),
        baseline=None if baseline is None else _name_baseline(baseline),
        inconclusive=inconclusive,
        outcome=outcome,
        exit_code=exit_code,
        look=_find_page(place),
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
        return PolicyFile(parse_policy(given, "policy"), {}, "policy")
    if not isinstance(given, str | Path):
        raise invalid("policy", "a file or a mapping with rule and require", given)
    return read_policy(given)


def check_baseline(file: str | Path, baseline: str | Path | None) -> None:
    """Refuse a policy that asks for a baseline where there is none, before any work is done."""
    asked = read_policy(file)
    if baseline is not None:
        resolve_audit("baseline", baseline)
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
                f"{spell(name)}: no rule of {asked.where} has {kind}, so nothing would be "
                f"compared with it. Add a rule with {limit}, or leave {spell(name)} out."
            )


def _name_baseline(given: Audited) -> str:
    if isinstance(given, str | Path):
        return redact_path(given)
    return plain(resolve_audit("baseline", given)[0].summary.title) or "a result in memory"


def _find_page(place: Path | None) -> str:
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
        return read_harms(
            compared.changes,
            [*compared.attributes],
            metric,
            about.higher_is_better,
            "change",
            is_conclusive=about.is_conclusive,
        )

    return of_metric


@dataclass(frozen=True, slots=True)
class PolicyFile:
    """A policy, the options of audits beside it, and where it stands, for errors."""

    policy: Policy
    options: Mapping[str, Any]
    where: str

    def refuse_other_audit(self, summary: AuditSummary) -> None:
        """An error where an audit was made otherwise than the options ask for.

        An audit by fewer attributes would pass without a look at those who are worse off.
        """
        if differing := [*_differing(self.options, summary)]:
            raise InputError(
                f"{self.where}: asks for another audit than this one: {'; '.join(differing)}. "
                "Audit as [audit] says, or change it there."
            )


def read_policy(file: str | Path) -> PolicyFile:
    """The policy in a settings file."""
    file = Path(file)
    if file.name == SETTINGS_FILE and not file.exists():
        raise InputError(
            f"There is no {plain(file, 300)}, and no other policy was named. Let fairrec init "
            f"AUDIT write one, or name it: {spell('policy', Blank('FILE'))}"
        )
    settings = read_settings(file, SETTINGS)
    policy = parse_policy(settings.content, settings.where)
    return PolicyFile(policy, settings.values, settings.where)


def _differing(asked: Mapping[str, Any], summary: AuditSummary) -> Iterator[str]:
    """What is otherwise in an audit, as far as its result tells."""
    if missing := [name for name in asked.get("by", ()) if name not in summary.by]:
        yield f"it is not by {listed(missing)}"
    given = summary.given.named if summary.given else ()
    if "adjust_for" in asked and {*asked["adjust_for"]} != {*given}:
        yield f"adjust_for is {listed(given) or 'nothing'}, not {listed(asked['adjust_for'])}"
    if asked.get("tolerance") is not None:
        tolerance = str(by_name(asked["tolerance"], [*summary.metrics]))
        if tolerance != summary.tolerance:
            yield f"tolerance is {plain(summary.tolerance)}, not {plain(tolerance)}"
    for name, found in result_options(summary).items():
        if name in ("tolerance", "permutations", "seed"):
            continue  # more permutations and another seed ask the same
        wanted = asked.get(name)
        if wanted is not None and str(wanted) != str(found):
            yield f"{name} is {plain(found)}, not {plain(wanted)}"


USUAL_SHARE, USUAL_SPREAD = 0.05, 0.1
"""Of the mean, and of the standard deviation among users where a share of the mean says nothing:
a start for those who have set no tolerance, not a judgement."""

_ABOUT = """\
# A policy, written by fairrec init from an audit{of}. Its limits are a start: change them to
# the limits where you work. `fairrec audit` takes its options from [audit], `fairrec gate`
# judges an audit by [[rule]] and [require].
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
    """The content of the file."""
    summary = result.summary
    require = {"max_undefined": summary.max_undefined}
    of = f' "{plain(summary.title)}"' if summary.title else ""
    parts = [
        _ABOUT.format(of=of),
        tomli_w.dumps({"audit": _audit_options(summary)}),
        *_required(require, summary.unit.many),
        *_rules(result, require),
    ]
    return "".join(parts)


def _rules(result: AuditResult, require: dict[str, Any]) -> Iterator[str]:
    """A rule for each metric, with what it says of it now."""
    summary = result.summary
    refuse_hidden("audit", result)
    judged = {name: about for name, about in summary.metrics.items() if _is_judged(about)}
    rules = [_rule(name, about, summary) for name, about in judged.items()]
    if not rules:
        raise InputError(
            f"This audit compares no groups of {summary.unit.many} one by one, so there is nothing "
            f"to limit. Audit a metric per {summary.unit.one}, with at least two groups."
        )
    policy = Policy.model_validate({"rule": rules, "require": require})
    measured = Measurements(summary, result.group_table)
    for number, (rule, given) in enumerate(zip(policy.rule, rules, strict=True), start=1):
        found = judge(rule, policy.require, measured, number)
        kind = "the tolerance of the audit" if _tolerance(rule.metric, summary) else "a start"
        yield (
            "\n[[rule]]\n"
            f"# now {found.outcome}: {found.measured}\n"
            + tomli_w.dumps(given).rstrip()
            + f"  # {kind}\n"
        )


def _is_judged(about: MetricResult) -> bool:
    return about.is_tested and about.sd is not None and about.sd > 0


def _rule(name: str, about: MetricResult, summary: AuditSummary) -> dict[str, Any]:
    limit = "max_difference" if about.higher_is_better is None else "max_worse"
    if (tolerance := _tolerance(name, summary)) is not None:
        return {"metric": name, limit: str(tolerance) if tolerance.is_share else tolerance.size}
    if about.is_ratio_scale and about.mean > 0:
        return {"metric": name, limit: f"{100 * USUAL_SHARE:g}%"}
    assert about.sd is not None
    return {"metric": name, limit: float(f"{USUAL_SPREAD * about.sd:.2g}")}


def _tolerance(name: str, summary: AuditSummary) -> Amount | None:
    """As it was given, so that a share stays one."""
    return None if summary.tolerance is None else Tolerance.parse(summary.tolerance).amount(name)


def _audit_options(summary: AuditSummary) -> dict[str, Any]:
    """All that a result knows of how it was made, without what is so by itself."""
    usual = {**list_defaults(AuditOptions), **list_defaults(TableOptions)}
    options: dict[str, Any] = {"by": [*summary.by], "metrics": [*summary.metrics]}
    options |= {
        name: value
        for name, value in result_options(summary).items()
        if value is not None and str(value) != str(usual[name])
    }
    if summary.given is not None:
        options["adjust_for"] = [*summary.given.named]
    if summary.columns:
        options["columns"] = dict(summary.columns)
    better = {
        name: "higher" if about.higher_is_better else "lower"
        for name, about in summary.metrics.items()
        if about.higher_is_better is not None and _may_be_said(name, summary)
    }
    return options | ({"better": better} if better else {})


def _may_be_said(metric: str, summary: AuditSummary) -> bool:
    """Whether somebody has to say which end is the better one."""
    known = find_metric(metric)
    is_without = known is not None and known.higher_is_better is None
    return "values" in summary.inputs or ("predictions" in summary.inputs and is_without)


def _required(require: dict[str, Any], many: str) -> Iterator[str]:
    yield "\n[require]\n"
    yield f"# the largest share of {many} without a value\n"
    yield tomli_w.dumps(require)
    yield "# every group of a single attribute must be ruled out; with a size, every group of at\n"
    yield f"# least so many {many} must be instead:\n"
    yield "# certify_from = 200\n"
