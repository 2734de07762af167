"""What a run tracker is told of an audit: numbers, settings and the verdict, by name."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

import numpy as np

from fairrec.core.errors import plain
from fairrec.core.options import invalid
from fairrec.gating.harms import difference_harms
from fairrec.mitigation.mitigation_result import MitigationResult
from fairrec.report.text.view import about_model, build_view
from fairrec.result.audit_result import AuditResult
from fairrec.result.metric_schema import MetricResult, MetricVerdict
from fairrec.result.schema import AuditSummary
from fairrec.statistics.verdict import is_shown_worse

PREFIX = "fairrec"
LIMITED = {
    "max_worse": "harm_shown",
    "max_difference": "difference_shown",
    "max_undefined": "undefined_share",
}
"""Kind of rule -> the number that its limit is about."""
SIZES_CERTIFIED = (100, 1000)
_LONGEST_NAME, _LONGEST_VALUE = 100, 500
"""Trackers refuse longer ones."""
_UNFIT = re.compile(r"[^\w.\- ]")


def refuse_no_result(given: object) -> None:
    """An error for all but an audit or a mitigation, also for the folder of one."""
    if not isinstance(given, AuditResult | MitigationResult):
        raise invalid("result", "an audit or a mitigation; of a folder, fairrec.load it", given)


def keys_of(metrics: Iterable[str]) -> dict[str, str]:
    """Metric -> a name of letters that trackers take, each its own.

    >>> keys_of(["ndcg@10", "time (s)", "time [s]"])
    {'ndcg@10': 'ndcg_at_10', 'time (s)': 'time _s_', 'time [s]': 'time _s_2'}
    """
    keys: dict[str, str] = {}
    for metric in metrics:
        fit = _UNFIT.sub("_", metric.replace("@", "_at_"))[:_LONGEST_NAME].strip(". ") or "_"
        key, n = fit, 1
        while key in keys.values():
            n += 1
            key = f"{fit}{n}" if fit.endswith("_") else f"{fit}_{n}"
        keys[metric] = key
    return keys


def metric_key(key: str, quantity: str) -> str:
    """The full name of a number."""
    return f"{PREFIX}/{key}/{quantity}"


def numbers_of(result: AuditResult) -> dict[str, float]:
    """All numbers, by full name; what is not known has none."""
    found: dict[str, float | None] = {f"{PREFIX}/n_users": result.summary.n_users}
    keys = keys_of(result.metrics)
    for metric, about in result.metrics.items():
        numbers = {
            **_of_metric(about),
            **({} if about.verdict is None else _of_verdict(about.verdict)),
            LIMITED["max_worse"]: None
            if about.higher_is_better is None
            else _shown(metric, result, either_way=False),
            LIMITED["max_difference"]: _shown(metric, result, either_way=True),
        }
        found |= {metric_key(keys[metric], name): value for name, value in numbers.items()}
    return {
        name: float(value)
        for name, value in found.items()
        if value is not None and math.isfinite(value)
    }


def _of_metric(about: MetricResult) -> dict[str, float | None]:
    return {
        "mean": about.mean,
        "sd": about.sd,
        "gap": about.gap,
        "n_groups": about.n_groups,
        "n_findings": len(about.findings),
        "n_defined": about.n_defined,
        "undefined_share": about.undefined_share,
    }


def _of_verdict(verdict: MetricVerdict) -> dict[str, float | None]:
    counted = (
        *("tolerance", "n_worse_by_more", "n_worse", "n_better", "n_ruled_out", "n_open"),
        *("n_not_compared", "open_share", "ruled_out_from"),
    )
    numbers: dict[str, float | None] = {name: getattr(verdict, name) for name in counted}
    sizes = {"harm_not_ruled_out": 0}
    sizes |= {f"harm_not_ruled_out_from_{size}": size for size in SIZES_CERTIFIED}
    for name, size in sizes.items():
        points = (point.harm for point in verdict.certificate if point.support >= size)
        numbers[name] = next(points, None)
    return numbers


def _shown(metric: str, result: AuditResult, *, either_way: bool) -> float | None:
    """The largest harm that some group is shown to have at least; 0 where none is shown worse.

    It exceeds a limit where a group is worse by more than the limit, in the sense of the verdict
    and of the gate. None where nothing was tested, and where groups are hidden.

    Parameters
    ----------
    either_way : whether a difference counts in both directions, whatever is better
    """
    if result.metrics[metric].verdict is None or result.summary.hidden:
        return None
    harms = difference_harms(result.group_table, result.summary, metric, either_way=either_way)
    is_worse = is_shown_worse(harms.size, harms.is_beyond_chance, harms.is_known)
    return float(np.max(harms.interval.low[is_worse], initial=0.0))


def settings_of(summary: AuditSummary) -> dict[str, str]:
    """What was asked for and of which data: the same for the same audit."""
    asked = {
        "by": ", ".join(summary.by),
        "metrics": ", ".join(summary.metrics),
        "depth": summary.depth,
        "min_users": summary.coverage.min_users,
        "alpha": summary.alpha,
        "permutations": summary.permutations,
        "tolerance": summary.tolerance,
        "given": None if summary.given is None else ", ".join(summary.given.named),
        "seed": summary.seed,
        "version": summary.fairrec_version,
        **{f"sha256.{name}": table.sha256 for name, table in summary.inputs.items()},
    }
    return {
        f"{PREFIX}.{name}": plain(value, _LONGEST_VALUE)
        for name, value in asked.items()
        if value not in (None, "")
    }


def verdict_of(summary: AuditSummary) -> dict[str, str]:
    """The verdict in words: of the audit, of each metric, and the headline of its page."""
    keys = keys_of(summary.metrics)
    said = {
        "outcome": summary.outcome or "not tested",
        "headline": build_view(summary).overview.headline,
        "title": summary.title,
        "model": about_model(summary),
        **{
            f"outcome.{keys[metric]}": about.verdict.outcome
            for metric, about in summary.metrics.items()
            if about.verdict is not None
        },
    }
    return {f"{PREFIX}.{name}": plain(text, _LONGEST_VALUE) for name, text in said.items() if text}
