"""Saved audits, read again."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Protocol

from fairrec.core.errors import InputError, listed, plain
from fairrec.core.files import errors_of_reading
from fairrec.core.options import invalid, spell
from fairrec.report.audit_result import AuditResult
from fairrec.result.folder import (
    load_audit_run,
    load_groups,
    load_per_user,
    load_saved,
    refuse_no_audit,
)
from fairrec.result.schema import AuditSummary
from fairrec.result.summary import result_options


class HasAudit(Protocol):
    """A result that has an audit: of re-ranked lists, or of counterfactual changes."""

    @property
    def audit(self) -> AuditResult:
        """The audit."""


Audited = AuditResult | HasAudit | str | Path
"""What stands for an audit."""


def load_audit(folder: str | Path) -> AuditResult:
    """The audit in a folder; that of the re-ranked lists where it holds a mitigation."""
    return load_audit_and_id(folder)[0]


def load_audit_and_id(folder: str | Path) -> tuple[AuditResult, str]:
    """The audit in a folder, and the id of its files."""
    folder = folder_path("folder", folder)
    refuse_no_audit(folder)
    if not folder.is_dir():
        raise InputError(
            f"{plain(folder, 300)}: is no folder. Name the one that an audit wrote: its --out."
        )
    summary, id = load_saved(folder)
    groups, per_user = load_groups(folder, id), load_per_user(folder, id)
    run = load_audit_run(folder, id)
    return AuditResult(summary, groups, per_user, run), id


def resolve_audit(name: str, given: Audited) -> tuple[AuditResult, Path | None]:
    """The audit that is meant, and its folder where it is saved.

    Parameters
    ----------
    name : what the caller calls it, for errors
    """
    if isinstance(given, AuditResult):
        return given.with_users(), None
    audit = getattr(given, "audit", None)
    if isinstance(audit, AuditResult):
        return audit, None
    if not isinstance(given, str | Path):
        raise invalid(name, "a result, or the folder of one", given)
    return load_audit(given), Path(given)


def folder_path(name: str, given: object) -> Path:
    """A path that may be that of a folder; one that is not there may be on its way."""
    if not isinstance(given, str | Path):
        raise invalid(name, "the folder of a result", given)
    folder = Path(given)
    fix = "Name the folder that an audit wrote: its --out."
    with errors_of_reading(folder, fix), suppress(FileNotFoundError, NotADirectoryError):
        folder.lstat()
    return folder


def refuse_hidden(name: str, result: AuditResult) -> None:
    """An error where groups are left out, of which one may be concerned.

    Parameters
    ----------
    name : what the caller calls it
    """
    hidden = result.summary.hidden
    if hidden is not None and hidden.n_groups:
        many = result.summary.unit.many
        raise InputError(
            f"{name}: its groups of fewer than {hidden.min_shown:,} {many} are hidden "
            f"({hidden.n_groups:,} of them), and any of them may be worse. Take the whole audit; "
            f"{spell('min_shown')} is for what is passed on."
        )


def describe_settings(summary: AuditSummary) -> dict[str, str]:
    """How an audit was made, by what it is called: what may differ between two audits."""
    settings = {
        "by": listed(summary.by),
        "metrics": listed(sorted(summary.metrics)),
        **{
            f"definition of {plain(name)}": plain(one.definition)
            for name, one in summary.metrics.items()
        },
        **{
            f"binning of {plain(name)}": plain(one.binning)
            for name, one in summary.attributes.items()
            if one.binning is not None
        },
    }
    for name, value in result_options(summary).items():
        short = f"{value:g}" if isinstance(value, float) else value
        settings[name] = "not given" if value is None else plain(short)
    settings["adjust_for"] = listed(summary.adjustment.named) if summary.adjustment else "none"
    return settings | {"search": summary.search.name}
