"""A result with a planted gap."""

from __future__ import annotations

import fairrec
from fairrec.result.audit_result import AuditResult
from tests.worlds import ATTRIBUTES, random_world


def planted_result(**options) -> AuditResult:
    """Old women are served worse."""
    users, predictions = random_world(2000, {"gender": "F", "age": "65+"}, effect=2.5, seed=1)
    return fairrec.audit(
        predictions,
        users=users,
        by=list(ATTRIBUTES),
        metrics=["auc", "mrr@5"],
        permutations=199,
        min_support=10,
        command="fairrec audit predictions.parquet",
        **options,
    )
