"""A saved result back in Python, the same as when it was made."""

from __future__ import annotations

from pathlib import Path

from fairrec.auditing.saved_audits import folder_path, load_audit_and_id
from fairrec.comparison.result import Comparison, load_comparison
from fairrec.core.options import public_function
from fairrec.counterfactuals.result import (
    CounterfactualResult,
    load_counterfactual,
)
from fairrec.mitigation.result import MitigationResult, RerankerRecord, load_mitigation
from fairrec.report.audit_result import AuditResult
from fairrec.result.folder import (
    COMPARISON,
    TREND,
    load_table,
    result_kind,
)
from fairrec.result.parts import load_part
from fairrec.trends.result import TrendResult, load_trend


@public_function
def load(
    folder: str | Path,
) -> AuditResult | MitigationResult | CounterfactualResult | Comparison | TrendResult:
    """The result that was saved in a folder, of whatever kind it is.

    Parameters
    ----------
    folder : what `save` or `--out` wrote

    Examples
    --------
    >>> import fairrec, polars as pl, tempfile
    >>> values = pl.DataFrame({"user_id": range(40), "clicks": [0, 1] * 20})
    >>> users = pl.DataFrame({"user_id": range(40), "plan": ["free", "paid"] * 20})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     saved = fairrec.audit(values=values, users=users, by="plan").save(folder, report=False)
    ...     fairrec.load(folder).gap("clicks").size
    1.0
    """
    folder = folder_path("folder", folder)
    kind = result_kind(folder)
    if kind is COMPARISON:
        return Comparison(*load_comparison(folder))
    if kind is TREND:
        return TrendResult(load_trend(folder))
    audit, id = load_audit_and_id(folder)
    counterfactual = load_counterfactual(folder, id)
    if counterfactual is not None:
        return CounterfactualResult(counterfactual, audit)
    mitigation = load_mitigation(folder, id)
    if mitigation is None:
        return audit
    return MitigationResult(
        summary=mitigation,
        reranker=load_part(folder / "reranker.json", RerankerRecord, "re-ranker", id),
        audit=audit,
        changes=load_table(folder / "changes.parquet", id),
        predictions=load_table(folder / "predictions.parquet", id),
    )
