"""The result of a mitigation: before and after, the re-ranker, and the re-ranked lists."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from fairrec.core.errors import InputError, OutputError
from fairrec.core.files import check_writable, put_in_place
from fairrec.mitigation.record import RerankerRecord
from fairrec.result.audit_result import AuditResult
from fairrec.result.mitigation_schema import MetricEffect, MitigationSummary


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

    def save(self, folder: str | Path, report: bool = True) -> Path:
        """Write the result into a folder, with the audit of the re-ranked lists and a page."""
        folder = Path(folder)
        check_writable(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self.audit.save(folder, report=False)
            with tempfile.TemporaryDirectory(dir=folder, prefix=".writing-") as scratch:
                part = Path(scratch)
                for name, text in (
                    ("mitigation", self.summary.model_dump_json(indent=2)),
                    ("reranker", self.reranker.model_dump_json(indent=2)),
                ):
                    (part / f"{name}.json").write_text(text + "\n", encoding="utf-8")
                for name, table in (("predictions", self.predictions), ("changes", self.changes)):
                    with (part / f"{name}.parquet").open("wb") as file:
                        table.write_parquet(file, compression_level=1)
                put_in_place(part, folder)
        except OSError as error:
            raise OutputError(
                f"{folder}: cannot be written ({error}). Choose another --out."
            ) from error
        if report:
            self.audit.save_page(folder, self.summary)
        return folder


def load_mitigation(folder: str | Path) -> MitigationSummary | None:
    """The mitigation saved in a folder; None where there is none."""
    path = Path(folder) / "mitigation.json"
    if not path.exists():
        return None
    try:
        return MitigationSummary.model_validate_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}).") from error
    except ValueError as error:
        raise InputError(
            f"{path}: is no mitigation of this version of FairRec ({error})."
        ) from error
