"""Tables in files, and a plan for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fairrec
from fairrec.auditing.plan_file import AuditPlan
from fairrec.result.audit_result import AuditResult
from tests.builders import make_tables
from tests.end_to_end.command_line import write_tables

N_USERS = 80


def write_world(folder: Path) -> Path:
    """The tables of 80 users."""
    write_tables(folder, make_tables(N_USERS))
    return folder


def make_plan(folder: Path, **options: Any) -> AuditPlan:
    """A small plan for them."""
    given = {"by": ["gender", "member"], "metrics": "ndcg@5", "permutations": 19, **options}
    return fairrec.plan(**{"users": folder / "users.parquet", **given})


def audit_by(plan: Path | None, folder: Path, **options: Any) -> AuditResult:
    """An audit of their predictions by a plan."""
    return fairrec.audit(folder / "predictions.parquet", plan=plan, **options)
