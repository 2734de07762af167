"""The result of a mitigation: before and after, the re-ranker, and the re-ranked lists."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import polars as pl

from fairrec.core.files import put_table
from fairrec.core.folders import settle
from fairrec.core.json_file import load_json
from fairrec.mitigation.remedy import RerankerRecord
from fairrec.result.audit_result import AuditResult, put_audit
from fairrec.result.file_sums import NO_SUMS, FileSums
from fairrec.result.mitigation_schema import MetricEffect, MitigationSummary
from fairrec.result.own_folder import MITIGATION, names_to_replace
from fairrec.result.page import write_with_page


@dataclass(frozen=True, slots=True)
class MitigationResult:
    """What a mitigation did.

    Parameters
    ----------
    summary : the content of `mitigation.json`
    reranker : the content of `reranker.json`; `fairrec.rerank` applies it to new lists
    audit : of the re-ranked lists, on the users that are reported on
    changes : one row for each metric and group, before and after
    predictions : the lists of all users, those of the chosen groups re-ranked
    """

    summary: MitigationSummary
    reranker: RerankerRecord
    audit: AuditResult = field(repr=False)
    changes: pl.DataFrame = field(repr=False)
    predictions: pl.DataFrame = field(repr=False)

    @property
    def effect(self) -> MetricEffect:
        """What it did to the target metric."""
        return self.summary.effects[self.summary.metric]

    def save(self, folder: str | Path, report: bool = True, force: bool = False) -> Path:
        """Write the result into a folder, with the audit of the re-ranked lists and a page.

        Parameters
        ----------
        report : whether to write the page
        force : replace an audit there, and files of these names that are of no mitigation; what was
            read and a trained run stay
        """
        folder = Path(folder)
        audit = self.audit
        make_page = partial(
            audit.page, audit.summary, audit.group_table, mitigation=self.summary, run=audit.run
        )
        read = audit.run.paths() if audit.run else ()
        names = names_to_replace(MITIGATION, folder, force, read)
        write = partial(self._write_files, folder=folder)
        write_with_page(folder, names, write, make_page if report else None)
        return folder

    def _write_files(self, part: Path, folder: Path) -> None:
        put_table(self.predictions, part / "predictions.parquet", compression_level=1)
        put_table(self.changes, part / "changes.parquet", compression_level=1)
        for name, content in (("mitigation", self.summary), ("reranker", self.reranker)):
            text = content.model_dump_json(indent=2)
            (part / f"{name}.json").write_text(text + "\n", encoding="utf-8")
        # the audit comes last, because it vouches for what is there
        put_audit(self.audit, part, folder)


def load_mitigation(folder: str | Path, sums: FileSums = NO_SUMS) -> MitigationSummary | None:
    """The mitigation saved in a folder; None where there is none.

    Parameters
    ----------
    sums : of the audit that it must go with
    """
    settle(Path(folder))
    path = Path(folder) / "mitigation.json"
    if not path.exists():
        return None
    mitigation = load_json(path, MitigationSummary, "mitigation")
    sums.refuse_other(path)
    return mitigation
