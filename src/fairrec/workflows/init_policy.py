"""A first policy from an audit: commented, so that people read it before they rely on it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fairrec.core.errors import InputError, OutputError, plain
from fairrec.core.files import write_text
from fairrec.core.toml_text import to_toml
from fairrec.policy.judging import Measurements, judge
from fairrec.policy.rules import Policy
from fairrec.result.audit_result import AuditResult
from fairrec.result.schema import MetricResult
from fairrec.workflows.load import load_audit

USUAL_SHARE, USUAL_SPREAD = 0.05, 0.1
"""Of the mean, and of the standard deviation among users where a share of the mean says nothing:
a start for those who have not said what matters, not a judgement."""

_ABOUT = """\
# A policy, written by fairrec init from an audit{of}. Its limits are a start: change them to
# what matters where you work. `fairrec audit` takes its options from [audit], `fairrec gate`
# judges an audit by [[rule]] and [require].
"""


def init_policy(audit: str | Path, out: str | Path) -> Path:
    """Write a policy for the metrics and groups of a saved audit; an existing file stays."""
    out = Path(out)
    if out.exists() or out.is_symlink():
        raise OutputError(f"{plain(out, 300)}: exists already. Remove it, or name another file.")
    write_text(out, policy_text(load_audit(audit)))
    return out


def policy_text(result: AuditResult) -> str:
    """The content of the file."""
    summary = result.summary
    judged = {name: about for name, about in summary.metrics.items() if _is_judged(about)}
    rules = {name: _rule(name, about) for name, about in judged.items()}
    if not rules:
        raise InputError(
            "This audit compares no groups of users one by one, so there is nothing to limit. "
            "Audit a metric per user, with at least two groups."
        )
    require = {"max_undefined": summary.max_undefined, "certify_from": _certify_from(result)}
    policy = Policy.model_validate({"rule": [*rules.values()], "require": require})
    measured = Measurements(summary, result.group_table)
    of = f' "{plain(summary.title)}"' if summary.title else ""
    parts = [
        _ABOUT.format(of=of),
        to_toml({"audit": _audit_options(result)}),
        *_required(require),
    ]
    for number, (rule, given) in enumerate(zip(policy.rule, rules.values(), strict=True), start=1):
        found = judge(rule, policy.require, measured, number)
        kind = "what matters in the audit" if _matters(judged[rule.metric]) else "a start"
        parts.append(
            "\n[[rule]]\n"
            f"# now {found.outcome}: {found.measured}\n" + to_toml(given).rstrip() + f"  # {kind}\n"
        )
    return "".join(parts)


def _is_judged(about: MetricResult) -> bool:
    return about.is_tested and about.sd is not None and about.sd > 0


def _rule(name: str, about: MetricResult) -> dict[str, Any]:
    limit = "max_difference" if about.higher_is_better is None else "max_worse"
    if (matters := _matters(about)) is not None:
        return {"metric": name, limit: matters}
    if about.is_ratio_scale and about.mean > 0:
        return {"metric": name, limit: f"{100 * USUAL_SHARE:g}%"}
    assert about.sd is not None
    return {"metric": name, limit: float(f"{USUAL_SPREAD * about.sd:.2g}")}


def _matters(about: MetricResult) -> float | None:
    return None if about.verdict is None else about.verdict.matters


def _certify_from(result: AuditResult) -> int:
    """The size of the smallest group of the fewest attributes, so that all of these count."""
    groups = result.group_table
    sizes = groups.filter(groups["depth"] == groups["depth"].min())["support"].to_numpy()
    return max(int(sizes.min()), result.summary.coverage.min_users)


def _audit_options(result: AuditResult) -> dict[str, Any]:
    summary = result.summary
    options: dict[str, Any] = {"by": [*summary.by], "metrics": [*summary.metrics]}
    if summary.matters is not None:
        options["matters"] = summary.matters
    if "values" in summary.inputs:
        better = {
            name: "higher" if about.higher_is_better else "lower"
            for name, about in summary.metrics.items()
            if about.higher_is_better is not None
        }
        options |= {"better": better} if better else {}
    return options


def _required(require: dict[str, Any]) -> Iterator[str]:
    yield "\n[require]\n"
    yield "# the largest share of users without a value\n"
    yield to_toml({"max_undefined": require["max_undefined"]})
    yield "# groups of at least so many users must be ruled out, smaller ones may stay open\n"
    yield to_toml({"certify_from": require["certify_from"]})
