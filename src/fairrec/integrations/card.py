"""A section of a model card in its file, between two marks."""

from __future__ import annotations

from pathlib import Path

from fairrec.core.atomic_io import write_text
from fairrec.core.errors import plain
from fairrec.core.files import file_bytes
from fairrec.core.options import invalid
from fairrec.mitigation.result import MitigationResult
from fairrec.report.audit_result import AuditResult
from fairrec.report.text import model_card

BEGIN = "<!-- fairrec card: begin; what stands up to the end mark is replaced -->"
END = "<!-- fairrec card: end -->"


def refuse_no_result(given: object) -> None:
    """An error for all but an audit or a mitigation, also for the folder of one."""
    if not isinstance(given, AuditResult | MitigationResult):
        raise invalid("result", "an audit or a mitigation; of a folder, fairrec.load it", given)


def card(result: AuditResult | MitigationResult) -> str:
    """A section for a model card, as of Hugging Face, in Markdown.

    Who was audited, the verdict, findings, what is ruled out, impact ratios, limits, and the
    command. Of a mitigation it is about the re-ranked lists.

    Examples
    --------
    >>> import fairrec, polars as pl
    >>> values = pl.DataFrame({"user_id": range(40), "clicks": [0, 1] * 20})
    >>> users = pl.DataFrame({"user_id": range(40), "plan": ["free", "paid"] * 20})
    >>> print(fairrec.card(fairrec.audit(values=values, users=users, by="plan")).splitlines()[0])
    ## Fairness evaluation
    """
    refuse_no_result(result)
    if isinstance(result, MitigationResult):
        about = (
            f"The lists were re-ranked by {plain(result.summary.reranker)} before, for "
            f"{plain(result.summary.metric)}: this is about what users get then"
        )
        return model_card(result.audit.summary, result.audit.group_table, about)
    return model_card(result.summary, result.group_table)


def put_card(file: Path, section: str) -> None:
    """Write a section between the marks of a file, or at its end; the rest stays as it is."""
    section = f"{BEGIN}\n{section}{END}"
    # newlines as they are, so that the rest is the same to the byte
    old = file_bytes(file).decode("utf-8") if file.exists() else ""
    start, end = old.find(BEGIN), old.find(END)
    if 0 <= start < end:
        write_text(file, f"{old[:start]}{section}{old[end + len(END) :]}")
    else:
        gap = "" if not old else "\n" if old.endswith("\n") else "\n\n"
        write_text(file, f"{old}{gap}{section}\n")
