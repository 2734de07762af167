"""A first policy from an audit: commented, so that people read it before they rely on it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fairrec.core.atomic_io import errors_of_disk, write_text
from fairrec.core.audit_options import AuditOptions
from fairrec.core.errors import InputError, OutputError, plain
from fairrec.core.matters import Amount, Matters
from fairrec.core.options import defaults
from fairrec.core.toml_text import to_toml
from fairrec.inputs.table_options import TableOptions
from fairrec.metrics.value_columns import metric_named
from fairrec.policy.judging import Measurements, judge
from fairrec.policy.schema import Policy
from fairrec.result.audit_result import AuditResult
from fairrec.result.metric_schema import MetricResult
from fairrec.result.schema import AuditSummary
from fairrec.result.summary import options_of
from fairrec.workflows.load import audit_of, refuse_hidden

USUAL_SHARE, USUAL_SPREAD = 0.05, 0.1
"""Of the mean, and of the standard deviation among users where a share of the mean says nothing:
a start for those who have not said what matters, not a judgement."""

_ABOUT = """\
# A policy, written by fairrec init from an audit{of}. Its limits are a start: change them to
# what matters where you work. `fairrec audit` takes its options from [audit], `fairrec gate`
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
    write_text(out, policy_text(audit_of("audit", audit)[0]))
    return out


def policy_text(result: AuditResult) -> str:
    """The content of the file."""
    summary = result.summary
    require = {"max_undefined": summary.max_undefined}
    of = f' "{plain(summary.title)}"' if summary.title else ""
    parts = [
        _ABOUT.format(of=of),
        to_toml({"audit": _audit_options(summary)}),
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
        kind = "what matters in the audit" if _matters(rule.metric, summary) else "a start"
        yield (
            "\n[[rule]]\n"
            f"# now {found.outcome}: {found.measured}\n" + to_toml(given).rstrip() + f"  # {kind}\n"
        )


def _is_judged(about: MetricResult) -> bool:
    return about.is_tested and about.sd is not None and about.sd > 0


def _rule(name: str, about: MetricResult, summary: AuditSummary) -> dict[str, Any]:
    limit = "max_difference" if about.higher_is_better is None else "max_worse"
    if (matters := _matters(name, summary)) is not None:
        return {"metric": name, limit: str(matters) if matters.is_share else matters.size}
    if about.is_ratio_scale and about.mean > 0:
        return {"metric": name, limit: f"{100 * USUAL_SHARE:g}%"}
    assert about.sd is not None
    return {"metric": name, limit: float(f"{USUAL_SPREAD * about.sd:.2g}")}


def _matters(name: str, summary: AuditSummary) -> Amount | None:
    """As it was given, so that a share stays one."""
    return None if summary.matters is None else Matters.parsed(summary.matters).amount(name)


def _audit_options(summary: AuditSummary) -> dict[str, Any]:
    """All that a result knows of how it was made, without what is so by itself."""
    usual = {**defaults(AuditOptions), **defaults(TableOptions)}
    options: dict[str, Any] = {"by": [*summary.by], "metrics": [*summary.metrics]}
    options |= {
        name: value
        for name, value in options_of(summary).items()
        if value is not None and str(value) != str(usual[name])
    }
    if summary.given is not None:
        options["given"] = [*summary.given.named]
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
    known = metric_named(metric)
    is_without = known is not None and known.higher_is_better is None
    return "values" in summary.inputs or ("predictions" in summary.inputs and is_without)


def _required(require: dict[str, Any], many: str) -> Iterator[str]:
    yield "\n[require]\n"
    yield f"# the largest share of {many} without a value\n"
    yield to_toml(require)
    yield "# every group of a single attribute must be ruled out; with a size, every group of at\n"
    yield f"# least so many {many} must be instead:\n"
    yield "# certify_from = 200\n"
