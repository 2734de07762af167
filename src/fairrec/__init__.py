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
    from fairrec.core.errors import FairRecError
    from fairrec.counts.table import Counts
    from fairrec.groups.group import Group
    from fairrec.metrics import metric
    from fairrec.mitigation.mitigation_result import MitigationResult
    from fairrec.result.audit_result import AuditResult
    from fairrec.result.comparison import Comparison
    from fairrec.result.counterfactual import CounterfactualResult
    from fairrec.result.trend import TrendResult
    from fairrec.scoring.endpoint import Endpoint
    from fairrec.scoring.onnx_model import OnnxModel
    from fairrec.search.options import SearchOptions
    from fairrec.stores.card_file import card
    from fairrec.workflows.audit import audit
    from fairrec.workflows.compare import compare
    from fairrec.workflows.count import count
    from fairrec.workflows.counterfactual import counterfactual
    from fairrec.workflows.gate import gate
    from fairrec.workflows.load import load
    from fairrec.workflows.mitigate import mitigate, rerank
    from fairrec.workflows.plan import plan
    from fairrec.workflows.plan_file import AuditPlan
    from fairrec.workflows.schemas import schema
    from fairrec.workflows.trend import trend

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
    "AuditPlan": "fairrec.workflows.plan_file",
    "AuditResult": "fairrec.result.audit_result",
    "Comparison": "fairrec.result.comparison",
    "CounterfactualResult": "fairrec.result.counterfactual",
    "Endpoint": "fairrec.scoring.endpoint",
    "FairRecError": "fairrec.core.errors",
    "Group": "fairrec.groups.group",
    "MitigationResult": "fairrec.mitigation.mitigation_result",
    "OnnxModel": "fairrec.scoring.onnx_model",
    "SearchOptions": "fairrec.search.options",
    "TrendResult": "fairrec.result.trend",
    "audit": "fairrec.workflows.audit",
    "card": "fairrec.stores.card_file",
    "Counts": "fairrec.counts.table",
    "compare": "fairrec.workflows.compare",
    "count": "fairrec.workflows.count",
    "counterfactual": "fairrec.workflows.counterfactual",
    "gate": "fairrec.workflows.gate",
    "load": "fairrec.workflows.load",
    "metric": "fairrec.metrics",
    "mitigate": "fairrec.workflows.mitigate",
    "plan": "fairrec.workflows.plan",
    "rerank": "fairrec.workflows.mitigate",
    "schema": "fairrec.workflows.schemas",
    "trend": "fairrec.workflows.trend",
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
