"""A saved result back in Python, the same as when it was made."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from fairrec.comparison.page import comparison_card, comparison_page
from fairrec.comparison.result import Comparison, load_comparison
from fairrec.core.errors import InputError, errors_of_libraries, plain
from fairrec.core.files import errors_of_reading
from fairrec.core.options import invalid, spelled
from fairrec.counterfactuals.result import (
    CounterfactualResult,
    CounterfactualSummary,
    load_counterfactual,
)
from fairrec.mitigation.result import MitigationResult, RerankerRecord, load_mitigation
from fairrec.report.page.html import card_html, page_html
from fairrec.result.audit_result import AuditResult
from fairrec.result.folder import (
    COMPARISON,
    COUNTERFACTUAL,
    TREND,
    kind_in,
    refuse_no_audit,
)
from fairrec.result.parts import load_part
from fairrec.result.saved import (
    load_audit_run,
    load_groups,
    load_per_user,
    load_saved,
    load_table,
)
from fairrec.trends.page import trend_page
from fairrec.trends.result import TrendResult, load_trend

Audited = AuditResult | MitigationResult | CounterfactualResult | str | Path
"""What stands for an audit: of a mitigation it is that of the re-ranked lists, of a counterfactual
that of what changes."""


@errors_of_libraries()
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
    folder = _folder_of("folder", folder)
    kind = kind_in(folder)
    if kind is COMPARISON:
        return Comparison(*load_comparison(folder), comparison_page, comparison_card)
    if kind is TREND:
        return TrendResult(load_trend(folder), trend_page)
    audit, id = _load_audit(folder)
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


def load_audit(folder: str | Path) -> AuditResult:
    """The audit in a folder; that of the re-ranked lists where it holds a mitigation."""
    return _load_audit(folder)[0]


def _load_audit(folder: str | Path) -> tuple[AuditResult, str]:
    """The audit in a folder, and the id of its files."""
    folder = _folder_of("folder", folder)
    refuse_no_audit(folder)
    if not folder.is_dir():
        raise InputError(
            f"{plain(folder, 300)}: is no folder. Name the one that an audit wrote: its --out."
        )
    summary, id = load_saved(folder)
    groups, per_user = load_groups(folder, id), load_per_user(folder, id)
    run = load_audit_run(folder, id)
    return AuditResult(summary, groups, per_user, run, page_html, card_html), id


def audit_of(name: str, given: Audited) -> tuple[AuditResult, Path | None]:
    """The audit that is meant, and its folder where it is saved.

    Parameters
    ----------
    name : what the caller calls it, for errors
    """
    if isinstance(given, AuditResult):
        return given.with_users(), None
    if isinstance(given, MitigationResult | CounterfactualResult):
        return given.audit, None
    if not isinstance(given, str | Path):
        raise invalid(name, "a result, or the folder of one", given)
    return load_audit(given), Path(given)


def counterfactual_of(given: Audited) -> CounterfactualSummary | None:
    """What a counterfactual says of all users; None where a result is none."""
    if isinstance(given, CounterfactualResult):
        return given.summary
    if isinstance(given, str | Path) and kind_in(Path(given)) is COUNTERFACTUAL:
        return load_counterfactual(given, load_saved(given)[1])
    return None


def _folder_of(name: str, given: object) -> Path:
    """A path that may be that of a folder; one that is not there may be on its way."""
    if not isinstance(given, str | Path):
        raise invalid(name, "the folder of a result", given)
    folder = Path(given)
    fix = "Name the folder that an audit wrote: its --out."
    with errors_of_reading(folder, fix), suppress(FileNotFoundError, NotADirectoryError):
        folder.lstat()
    return folder


def refuse_hidden(name: str, result: AuditResult) -> None:
    """An error where groups are left out, of which one may be what is asked about.

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
            f"{spelled('min_shown')} is for what is passed on."
        )
