"""The options that a result was made with."""

from __future__ import annotations

from typing import Any

from fairrec.result.schema import AuditSummary


def options_of(summary: AuditSummary) -> dict[str, Any]:
    """Those that change what is found, by name; attributes and metrics stand by themselves."""
    return {
        "depth": summary.depth,
        "permutations": summary.permutations,
        "alpha": summary.alpha,
        "matters": summary.matters,
        "max_undefined": summary.max_undefined,
        "seed": summary.seed,
        "relevant": summary.relevant,
        "gain": summary.gain,
        "missing_lists": summary.missing_lists,
        "side": summary.unit.side,
        "unit": summary.unit_column,
        "min_support": summary.coverage.min_support,
    }
