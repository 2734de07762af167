"""The result of a mitigation: before and after, the re-ranker, and the re-ranked lists."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import polars as pl

from fairrec.core.atomic_io import put_table
from fairrec.mitigation.remedy import RerankerRecord
from fairrec.mitigation.schema import MetricEffect, MitigationSummary
from fairrec.result.audit_result import AuditResult, put_audit
from fairrec.result.folder import MITIGATION, names_to_replace, write_with_page
from fairrec.result.parts import ID, load_part, result_id


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
        id = result_id(self.summary, self.reranker, audit.summary, audit.group_table)
        write = partial(self._write_files, folder=folder, id=id)
        write_with_page(folder, names, id, write, make_page if report else None)
        return folder

    def _write_files(self, part: Path, folder: Path, id: str) -> None:
        for name, table in (("predictions", self.predictions), ("changes", self.changes)):
            put_table(table, part / f"{name}.parquet", compression_level=1, metadata={ID: id})
        for name, content in (("mitigation", self.summary), ("reranker", self.reranker)):
            text = content.model_copy(update={"id": id}).model_dump_json(indent=2)
            (part / f"{name}.json").write_text(text + "\n", encoding="utf-8")
        put_audit(self.audit, part, folder, id)


def load_mitigation(folder: str | Path, id: str) -> MitigationSummary | None:
    """The mitigation saved in a folder with an audit that has this id; None where there is none."""
    path = Path(folder) / MITIGATION.known_by
    return load_part(path, MitigationSummary, "mitigation", id) if path.exists() else None
