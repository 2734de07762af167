"""Test whether a recommender system serves some groups of people worse than others.

>>> import fairrec
>>> "audit" in fairrec.__all__
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fairrec.core.version import __version__

if TYPE_CHECKING:
    from fairrec.auditing.audit import audit
    from fairrec.auditing.count import count
    from fairrec.auditing.plan_file import AuditPlan
    from fairrec.comparison.compare import compare
    from fairrec.comparison.result import Comparison
    from fairrec.core.errors import FairRecError
    from fairrec.counterfactuals.counterfactual import counterfactual
    from fairrec.counterfactuals.result import CounterfactualResult
    from fairrec.counts.table import Counts
    from fairrec.gating.gate import gate
    from fairrec.groups.group import Group
    from fairrec.integrations.card import card
    from fairrec.loading import load
    from fairrec.metrics import metric
    from fairrec.mitigation.mitigate import mitigate, rerank
    from fairrec.mitigation.mitigation_result import MitigationResult
    from fairrec.planning.plan import plan
    from fairrec.result.audit_result import AuditResult
    from fairrec.schemas import schema
    from fairrec.scoring.endpoint import Endpoint
    from fairrec.scoring.onnx_model import OnnxModel
    from fairrec.search.options import SearchOptions
    from fairrec.trends.result import TrendResult
    from fairrec.trends.trend import trend

__all__ = [
    "AuditPlan",
    "AuditResult",
    "Comparison",
    "CounterfactualResult",
    "Counts",
    "Endpoint",
    "FairRecError",
    "Group",
    "MitigationResult",
    "OnnxModel",
    "SearchOptions",
    "TrendResult",
    "__version__",
    "audit",
    "card",
    "compare",
    "count",
    "counterfactual",
    "gate",
    "load",
    "metric",
    "mitigate",
    "plan",
    "rerank",
    "schema",
    "trend",
]

_HOMES = {
    "AuditPlan": "fairrec.auditing.plan_file",
    "AuditResult": "fairrec.result.audit_result",
    "Comparison": "fairrec.comparison.result",
    "CounterfactualResult": "fairrec.counterfactuals.result",
    "Endpoint": "fairrec.scoring.endpoint",
    "FairRecError": "fairrec.core.errors",
    "Group": "fairrec.groups.group",
    "MitigationResult": "fairrec.mitigation.mitigation_result",
    "OnnxModel": "fairrec.scoring.onnx_model",
    "SearchOptions": "fairrec.search.options",
    "TrendResult": "fairrec.trends.result",
    "audit": "fairrec.auditing.audit",
    "card": "fairrec.integrations.card",
    "Counts": "fairrec.counts.table",
    "compare": "fairrec.comparison.compare",
    "count": "fairrec.auditing.count",
    "counterfactual": "fairrec.counterfactuals.counterfactual",
    "gate": "fairrec.gating.gate",
    "load": "fairrec.loading",
    "metric": "fairrec.metrics",
    "mitigate": "fairrec.mitigation.mitigate",
    "plan": "fairrec.planning.plan",
    "rerank": "fairrec.mitigation.mitigate",
    "schema": "fairrec.schemas",
    "trend": "fairrec.trends.trend",
}
"""Modules that take long to load, by the names that are loaded from them on use."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
