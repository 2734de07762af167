"""The result of a mitigation, its files and tables: the schema of `mitigation.json`."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl
from pydantic import Field

from fairrec.core.arrays import FloatArray
from fairrec.core.atomic_io import put_table
from fairrec.core.files import load_json
from fairrec.groups.group import Group
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.inputs.users import Value
from fairrec.report.audit_result import AuditResult, put_audit
from fairrec.result.folder import MITIGATION, names_to_replace, write_with_page
from fairrec.result.metric_schema import Change, GapChange
from fairrec.result.parts import ID, Part, ResultFile, load_part, result_id, save_part
from fairrec.result.tables import group_conditions
from fairrec.statistics.paired import ChangeVerdict, GroupChanges

Outcome = Literal[ChangeVerdict, "turned round", "gap grew"]
"""The verdict on the change of the chosen groups, unless it took them away from all others."""


class GapToOthers(Part):
    """How far the chosen groups are behind all others in the target metric, on held-out targets.

    Negative where they are ahead, or where a distance is on the other side than where a group was
    chosen.
    """

    before: float | None = Field(description="null where there are none of either")
    p_before: float | None = Field(description="of no difference, two-sided (Welch's t)")
    after: float | None
    p_after: float | None


class MetricEffect(Part):
    """What the re-ranking did to one metric."""

    higher_is_better: bool | None
    is_distance: bool = Field(
        description="the values of the chosen groups are distances from the mean of all others, as "
        "neither end of the metric is better: positive on the side where a group was chosen, "
        "negative beyond the others"
    )
    chosen: Change = Field(description="users of the chosen groups")
    others: Change = Field(description="users whose lists are not touched")
    everyone: Change
    gap: GapChange
    n_groups_worse: int = Field(
        description="groups of all depths that became significantly worse: family-wise error rate "
        "alpha over all groups and metrics (Holm)"
    )


class MitigatedGroup(Part):
    """A group whose lists were re-ranked."""

    group: dict[str, Value]
    chosen_by: float | None = Field(description="its value on the targets it was chosen by")
    change: Change


class HarmedGroup(Part):
    """A group that became significantly worse in a metric."""

    metric: str
    group: dict[str, Value]
    change: Change


class TradeOffPoint(Part):
    """The chosen groups at one strength, on the targets it was tuned on."""

    strength: float
    target: float | None
    cost: float | None = Field(description="NDCG")


class Regression(Part):
    """What happens to the chosen groups without any re-ranking."""

    chosen_by: float | None = Field(description="their mean on the targets they were chosen by")
    fresh: float | None = Field(description="their mean on other targets, lists as they were")
    others_chosen_by: float | None = Field(description="mean of all others on the first")
    others_fresh: float | None = Field(description="mean of all others on the second")


class MitigationSummary(ResultFile):
    """The content of `mitigation.json`."""

    schema_version: Literal["1"] = "1"
    fairrec_version: str
    command: str
    seed: int
    metric: str
    cost_metric: str | None = Field(description="accuracy that the strength must not cost")
    reranker: str
    about: str
    strength: float
    is_tuned: bool = Field(description="the strength was chosen here, not given")
    max_loss: float = Field(description="largest relative loss of the cost metric when tuned")
    k: int = Field(description="places that are re-ranked")
    protocol: Literal["validation targets", "halves of the users"]
    n_users_choosing: int
    n_users_tuning: int
    n_users_reported: int
    rule: str
    groups: tuple[MitigatedGroup, ...]
    alpha: float
    effects: dict[str, MetricEffect]
    to_others: GapToOthers
    outcome: Outcome = Field(
        description="turned round where the chosen groups were behind all others and are "
        "significantly ahead; gap grew where they are further from them than before; else the "
        "verdict on their change"
    )
    regression: Regression
    trade_off: tuple[TradeOffPoint, ...]
    n_shared_targets: int = Field(
        description="targets both chosen by and reported on, so not held out: should be 0"
    )
    n_group_tests: int = Field(description="groups and metrics in which a user changed")
    harmed: tuple[HarmedGroup, ...] = Field(description="worst first, at most 20")
    notes: tuple[str, ...]


class RerankerRecord(ResultFile):
    """The content of `reranker.json`. What a re-ranker learns it learns anew from the history."""

    schema_version: Literal["1"] = "1"
    fairrec_version: str
    reranker: str
    strength: float = Field(ge=0, le=1)
    metric: str = Field(description="what it was tuned for")
    k: int = Field(ge=1, description="places that are re-ranked")
    by: tuple[str, ...] = Field(description="attributes that define the groups, with their binning")
    groups: tuple[dict[str, Value], ...] = Field(description="whose lists are re-ranked")
    rest: float | None = Field(
        default=None, description="mean of the metric over all others, where a re-ranker aims at it"
    )

    @property
    def parsed_groups(self) -> tuple[Group, ...]:
        """The groups whose lists are re-ranked."""
        return tuple(Group.of(group) for group in self.groups)


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
        # which lays out what is defined here
        from fairrec.mitigation.page import mitigation_page

        folder, audit = Path(folder), self.audit
        make_page = partial(
            mitigation_page, self.summary, audit.summary, audit.group_table, run=audit.run
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
            save_part(content, part / f"{name}.json", id)
        put_audit(self.audit, part, folder, id)


def load_reranker(file: str | Path) -> RerankerRecord:
    """The re-ranker in a file."""
    path = Path(file)
    fix = "Give the reranker.json that fairrec mitigate wrote."
    return load_json(path, RerankerRecord, "re-ranker", fix).model_copy(update={"id": ""})


def load_mitigation(folder: str | Path, id: str) -> MitigationSummary | None:
    """The mitigation saved in a folder with an audit that has this id; None where there is none."""
    path = Path(folder) / MITIGATION.known_by
    return load_part(path, MitigationSummary, "mitigation", id) if path.exists() else None


NUMBERS = ("before", "after", "change", "change_low", "change_high", "p_value", "p_adjusted")
CHANGE_COLUMNS = ("metric", "depth", "support", *NUMBERS, "verdict")
"""Names an attribute cannot have beside them in the table of changes."""


def predictions_table(
    inputs: AuditInputs, scores: FloatArray, with_model_score: bool = False
) -> pl.DataFrame:
    """`user_id, item_id, score, label`, one row a candidate, in the order they came."""
    candidates = inputs.candidates
    users = np.repeat(inputs.user_of_list, np.diff(candidates.offsets))
    columns = {
        "user_id": inputs.user_ids.gather(users),
        "item_id": candidates.item_ids.gather(candidates.items),
        "score": pl.Series(scores),
    }
    if candidates.labels is not None:
        columns["label"] = pl.Series(candidates.labels)
    if with_model_score:
        columns["model_score"] = pl.Series(candidates.scores)
    return pl.DataFrame(columns)


def change_table(changes: GroupChanges) -> pl.DataFrame:
    """One row for each metric and group."""
    conditions, tables = group_conditions(changes.grouping), []
    for m, (metric, part) in enumerate(zip(changes.metrics, changes.changes, strict=True)):
        change = (part.change, part.low, part.high)
        tests = (part.p_value, changes.p_adjusted[m])
        numbers = zip(NUMBERS, (part.before, part.after, *change, *tests), strict=True)
        tables.append(
            conditions.select(
                pl.lit(metric).alias("metric"),
                pl.all(),
                pl.Series("support", part.n.astype(np.int64)),
                *(pl.Series(name, column).fill_nan(None) for name, column in numbers),
                pl.Series("verdict", changes.verdicts(m).tolist()),
            ).filter(pl.col("support") > 0)
        )
    return pl.concat(tables)
