"""The call that repeats an audit made from Python."""

from __future__ import annotations

from collections.abc import Sequence

from fairrec.core.audit_options import AboutOptions, AuditOptions
from fairrec.core.options import declared


def audit_call(
    tables: Sequence[str], options: AuditOptions, about: AboutOptions, how: Sequence[str] = ()
) -> str:
    """The call with these arguments about tables and about how users are scored.

    >>> audit_call(["predictions", "users=users"], AuditOptions(), AboutOptions())[:36]
    'fairrec.audit(predictions, users=use'
    """
    parts = [*tables]
    parts += [
        f"{name}={getattr(options, name)!r}"
        for name in declared(AuditOptions)
        if name not in ("threads", "max_memory", "matters")
    ]
    if options.matters is not None:
        parts.append(f"matters={str(options.matters)!r}")
    parts += how
    parts += [f"{name}={value!r}" for name, value in vars(about).items() if value]
    return f"fairrec.audit({', '.join(parts)})"
