"""The result of a counterfactual: what changes for all users, and the audit of the changes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

from pydantic import Field

from fairrec.core.errors import plain
from fairrec.report.audit_result import AuditResult, put_audit
from fairrec.result.folder import (
    COUNTERFACTUAL,
    load_saved,
    names_to_replace,
    result_kind,
    write_with_page,
)
from fairrec.result.parts import Part, ResultFile, load_part, result_id, save_part
from fairrec.statistics.verdict import Outcome


class MeanChange(Part):
    """The mean over users of a change, with its confidence interval."""

    n: int = Field(description="users with a value")
    mean: float | None
    low: float | None = Field(
        description="one at a time, at 1 - alpha; null where all users are alike"
    )
    high: float | None
    p_value: float | None = Field(
        description="of no change on average; null for a comparison of two lists, which is 0 only "
        "where nothing changes"
    )


class Affected(Part):
    """The share of users who get another list by the change alone: Themis' causal score."""

    metric: str
    n: int
    n_affected: int
    share: float
    low: float = Field(
        description="of the interval at 1 - alpha; the share itself where every user was scored"
    )
    high: float


class ValueChange(Part):
    """Users with one value, scored as having another one."""

    of: str
    to: str
    n: int
    changes: dict[str, MeanChange]


class Paid(Part):
    """What was paid for: a user under one value is scored once."""

    users: int = Field(description="users under one value each, in this process")
    users_before: int = Field(description="those whose scores were found in ledgers")
    rows: int
    calls: int


class AsTheyAre(Part):
    """The audit of a metric of the same users' lists, as they are."""

    outcome: Outcome | None
    n_findings: int
    means: dict[str, float | None] = Field(
        description="of users with each value, where at least 10 have it"
    )


class CounterfactualSummary(ResultFile):
    """The content of `counterfactual.json`."""

    schema_version: Literal["1"] = "1"
    fairrec_version: str
    command: str
    attribute: tuple[str, ...]
    reference: str | None
    model: str
    alpha: float
    seed: int
    n_users: int = Field(description="users that were scored twice or more")
    n_users_to_score: int = Field(description="users with candidates and a value to change")
    n_left_out: int = Field(
        description="users with candidates and an unknown value, or with the reference already"
    )
    affected: Affected
    changes: dict[str, MeanChange] = Field(description="over the other values of each user")
    pairs: tuple[ValueChange, ...] = Field(description="of at least 10 users each")
    as_they_are: dict[str, AsTheyAre]
    paid: Paid


@dataclass(frozen=True, slots=True)
class CounterfactualResult:
    """The same users with another value of an attribute.

    Parameters
    ----------
    summary : the content of `counterfactual.json`
    audit : of the change of each user: which groups are affected most
    """

    summary: CounterfactualSummary
    audit: AuditResult

    def __repr__(self) -> str:
        """The attributes that are changed, and the audit of the changes, titled by their share."""
        return (
            f"counterfactual of {' and '.join(map(plain, self.summary.attribute))}\n{self.audit!r}"
        )

    def save(self, folder: str | Path, report: bool = True, force: bool = False) -> Path:
        """Write `counterfactual.json` and the audit of the changes into a folder, with a page.

        Parameters
        ----------
        report : whether to write the page
        force : replace an audit there, and files of these names that are of no result; what was
            read and a trained run stay
        """
        from fairrec.counterfactuals.page import counterfactual_page

        folder, audit = Path(folder), self.audit
        make_page = partial(
            counterfactual_page, self.summary, audit.summary, audit.group_table, run=audit.run
        )
        names = names_to_replace(
            COUNTERFACTUAL, folder, force, audit.run.paths() if audit.run else ()
        )
        id = result_id(self.summary, audit.summary, audit.group_table)
        write = partial(self._write_files, folder=folder, id=id)
        write_with_page(folder, names, id, write, make_page if report else None)
        return folder

    def of_run(self, folder: Path) -> CounterfactualResult:
        """The same, with the trained run among its inputs."""
        return replace(self, audit=self.audit.of_run(folder))

    def to_json(self) -> str:
        """The content of `counterfactual.json`."""
        return self.summary.model_dump_json(indent=2)

    def _write_files(self, part: Path, folder: Path, id: str) -> None:
        save_part(self.summary, part / COUNTERFACTUAL.known_by, id)
        put_audit(self.audit, part, folder, id)


def load_counterfactual(folder: str | Path, id: str) -> CounterfactualSummary | None:
    """The counterfactual saved in a folder; None where there is none."""
    path = Path(folder) / COUNTERFACTUAL.known_by
    if not path.exists():
        return None
    return load_part(path, CounterfactualSummary, "counterfactual", id)


def load_counterfactual_summary(given: object) -> CounterfactualSummary | None:
    """The summary of a counterfactual; None for any other result."""
    if isinstance(given, CounterfactualResult):
        return given.summary
    if isinstance(given, str | Path) and result_kind(Path(given)) is COUNTERFACTUAL:
        return load_counterfactual(given, load_saved(given)[1])
    return None
