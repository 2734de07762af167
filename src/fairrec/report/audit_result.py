"""The result of an audit: frozen, and all that anything printed or drawn needs."""

from __future__ import annotations

import html
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl

from fairrec.core.atomic_io import put_table
from fairrec.core.audit_options import SharingOptions
from fairrec.core.errors import InputError, as_unicode, listed, plain, unknown_name
from fairrec.core.files import file_sum
from fairrec.core.options import documented, spell
from fairrec.report.by_group import add_ratios, by_group, overall, single_groups
from fairrec.report.page.audit import page_html
from fairrec.report.page.html import card_html
from fairrec.report.plots import Plots
from fairrec.report.view import build_view
from fairrec.result.folder import (
    AUDIT,
    GROUPS,
    PER_USER,
    RESULT,
    AuditRun,
    as_place,
    names_to_replace,
    put_run,
    write_with_page,
)
from fairrec.result.metric_schema import Gap, MetricResult
from fairrec.result.min_shown import without_small
from fairrec.result.parts import ID, result_id, save_part
from fairrec.result.schema import AuditSummary, InputSummary
from fairrec.result.tables import as_pandas, finding_table, ratio_table, sort_by_id
from fairrec.statistics.verdict import MetricVerdict, Outcome

HEIGHT = 900


def show_page(page: str) -> Path | None:
    """Display a page in a notebook; elsewhere write it to a temporary file and give its path."""
    if _in_notebook():
        notebook: Any = import_module("IPython.display")
        # a frame of its own keeps the page's styles and scripts from the notebook's; IPython warns
        # of one that does not stand in something else
        notebook.display(
            notebook.HTML(
                f'<div><iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts" '
                f'style="width:100%;height:{HEIGHT}px;border:0"></iframe></div>'
            )
        )
        return None
    folder = tempfile.mkdtemp(prefix="fairrec-")
    file = Path(folder) / "report.html"
    file.write_text(page, encoding="utf-8", newline="\n")
    return file


def _in_notebook() -> bool:
    """Whether a notebook runs this; a terminal, with IPython or without, is none."""
    ipython: Any = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


@dataclass(frozen=True, slots=True)
class AuditVerdict:
    """The outcome of an audit, and of each metric that was tested.

    Parameters
    ----------
    outcome : the worst of the metrics: "worse beyond tolerance", "worse", "inconclusive" or "within
        tolerance". Metrics of which neither end is better decide only where there are no others:
        "differs beyond tolerance", "differs", "inconclusive" or "within tolerance". None where
        nothing was tested
    metrics : metric -> how many groups are worse, ruled out and open, and the certificate
    """

    outcome: Outcome | None
    metrics: Mapping[str, MetricVerdict]

    def __repr__(self) -> str:
        """The outcome, and a line for each metric."""
        lines = []
        for name, one in self.metrics.items():
            worse = "different" if one.outcome.startswith("differs") else "worse"
            counts = {
                f"{worse} beyond tolerance": one.n_worse_beyond_tolerance,
                worse: one.n_worse,
                "within tolerance": one.n_within_tolerance,
                "inconclusive": one.n_inconclusive,
            }
            shown = ", ".join(f"{n:,} {what}" for what, n in counts.items() if n) or "no group"
            better = f"; {one.n_better:,} of these better" if one.n_better else ""
            lines.append(f"  {plain(name)}: {one.outcome} (groups: {shown}{better})")
        return "\n".join([self.outcome or "not tested", *lines])


MOST_LINES = 8
"""Metrics that `repr` lists."""
_PUBLIC = (
    *("by_group", "overall", "difference", "ratio", "findings", "groups", "ratios", "per_user"),
    *("metrics", "metric", "gap", "verdict", "warnings", "summary", "plot"),
    *("show", "page", "save", "shown", "to_json"),
)
"""What completion in a notebook lists."""


@dataclass(frozen=True, slots=True)
class AuditResult:
    """What an audit found.

    Parameters
    ----------
    summary : the content of `result.json`
    group_table : one row for each metric and eligible group
    per_user : one row per user: id, attributes and per-user values; None where the audit was saved
        without them, of counts, and where users are too many
    run : the content of `run.json`: when, how long, and with which paths; None where a result was
        saved without it
    is_pandas : whether the tables came as frames of pandas, and so go out as such
    per_user_parts : the same as `per_user` where users are too many to be in memory at once
    """

    summary: AuditSummary
    group_table: pl.DataFrame
    per_user: pl.DataFrame | None
    run: AuditRun | None = field(compare=False)
    is_pandas: bool = False
    per_user_parts: pl.LazyFrame | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        """What was audited, and a line for each metric."""
        summary = self.summary
        title = f"{plain(summary.title)}: " if summary.title else ""
        outcome = summary.outcome or "not tested"
        audited = f"{summary.unit.count(summary.n_users)} by {listed(summary.by)}"
        lines = [f"{title}audit of {audited}, {outcome}"]
        lines += [
            f"  {plain(name)}: mean {found.mean:.4g}, findings: {len(found.findings):,} of "
            f"{found.n_groups:,} groups"
            for name, found in [*self.metrics.items()][:MOST_LINES]
        ]
        n_more = len(self.metrics) - MOST_LINES
        return "\n".join([*lines, *([f"  and {n_more:,} more metrics"] if n_more > 0 else [])])

    def _repr_html_(self) -> str:
        return card_html(build_view(self.summary, self.group_table).answer)

    def __getitem__(self, metric: str) -> MetricResult:
        """The result of one metric; `ndcg` finds `ndcg@5` where there is only one."""
        return self.metric(metric)

    def __dir__(self) -> list[str]:
        return [*_PUBLIC]

    def by_group(self, *attributes: str, metric: str | None = None) -> Any:
        """Numbers of every group of one attribute, or of several together: one row each.

        Parameters
        ----------
        attributes : such as "gender", or "gender", "age" for their intersections
        metric : None for all, with a column `metric`

        Returns
        -------
        a frame of pandas where the tables came as such, else of Polars: the attributes, with values
        as in the table of users and bins as ordered labels; users; value; difference from all other
        users; `low` and `high`, the simultaneous interval of that difference (`groups` has that
        of the value); harm, positive where the group is worse off, null where no end of the metric
        is better; verdict. Groups with fewer users than an audit looks at have no row
        """
        names = self._names(metric)
        return self._handed_out(by_group(self.summary, self.group_table, attributes, names), metric)

    @property
    def overall(self) -> Any:
        """One row a metric: users with a value, their mean, and the verdict."""
        table = overall(self.summary)
        return as_pandas(table) if self.is_pandas else table

    def difference(self, metric: str | None = None) -> Any:
        """How far each group of one attribute is from all other users: one row each.

        Each with its simultaneous interval, so the largest may be picked out.
        """
        table = single_groups(self.summary, self.group_table, self._names(metric))
        return self._handed_out(table.drop("value"), metric)

    def ratio(self, metric: str | None = None) -> Any:
        """The value of each group of one attribute over that of all other users, as `difference`.

        Null for metrics without a zero that means none of it.
        """
        table = single_groups(self.summary, self.group_table, self._names(metric))
        return self._handed_out(add_ratios(table, self.summary), metric)

    @property
    def plot(self) -> Plots:
        """Charts of Altair: `plot.groups()`, `.ruled_out()`, `.intersections("gender", "age")`."""
        return Plots(self)

    @property
    def metrics(self) -> dict[str, MetricResult]:
        """Results by metric."""
        return self.summary.metrics

    @property
    def verdict(self) -> AuditVerdict:
        """The outcome of the audit and of each metric."""
        verdicts = {name: about.verdict for name, about in self.metrics.items()}
        known = {name: verdict for name, verdict in verdicts.items() if verdict is not None}
        return AuditVerdict(self.summary.outcome, known)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the reader should know about the data."""
        return self.summary.warnings

    def metric(self, name: str) -> MetricResult:
        """The result of one metric; `ndcg` finds `ndcg@5` where there is only one."""
        return self.metrics[self.find_metric(name)]

    def gap(self, metric: str) -> Gap:
        """The gap between full intersections, with its null distribution."""
        key = self.find_metric(metric)
        found, summary = self.metrics[key], self.summary
        if found.gap is None:
            raise InputError(
                f"{key}: no gap, as fewer than two intersections of all attributes have "
                f"{summary.coverage.min_users} {summary.unit.many} that are scored and may be "
                f"shown. Name fewer attributes, lower {spell('min_support')}, or score more "
                f"{summary.unit.many}; groups() has groups of fewer attributes."
            )
        return Gap(
            metric=key,
            size=found.gap,
            advantaged=found.advantaged,
            disadvantaged=found.disadvantaged,
            chance=found.chance,
        )

    def findings(self, metric: str | None = None) -> Any:
        """The groups that are significant by themselves, worst first: one row each.

        Groups that only overlap one of these are left out; `groups` has them.

        `metric(name).findings` has all that is known of each.

        Parameters
        ----------
        metric : None for all, with a column `metric`

        Returns
        -------
        a frame of pandas where the tables came as such, else of Polars
        """
        return self._handed_out(finding_table(self.summary, self.group_table), metric)

    def groups(self, metric: str | None = None) -> Any:
        """One row per group, lowest adjusted p-value first, in a frame as of `findings`.

        `value_low` and `value_high` are the interval of the group's own value.

        Parameters
        ----------
        metric : None for all, with a column `metric`
        """
        return self._handed_out(self.group_table, metric)

    @property
    def ratios(self) -> pl.DataFrame:
        """One row for each metric and group of one or two attributes: ratios to best and rest."""
        return ratio_table(self.summary)

    @documented(SharingOptions)
    def shown(self, min_shown: int | None = None) -> AuditResult:
        """The same without groups and values of fewer users, to be passed on.

        Verdicts and numbers of groups are those of the whole audit. The table of users is too.

        Parameters
        ----------
        min_shown : see SharingOptions
        """
        least = SharingOptions(min_shown=min_shown).min_shown
        if least is None:
            return self
        summary, groups = without_small(self.summary, self.group_table, least)
        return replace(self, summary=summary, group_table=groups)

    @documented(SharingOptions)
    def save(
        self,
        folder: str | Path,
        report: bool = True,
        force: bool = False,
        min_shown: int | None = None,
        aggregates_only: bool = False,
    ) -> Path:
        """Write the result into a folder.

        `result.json`, `run.json`, `groups.parquet`, `per_user.parquet` and the page,
        `report.html`; they appear under their names only when all are written. An audit there is
        replaced as a whole, and other files stay. Files of these names that are of no audit are
        not overwritten, nor is a mitigation.

        Parameters
        ----------
        report : whether to write the page
        force : replace them all the same; what this audit has read and a trained run stay
        min_shown, aggregates_only : see SharingOptions
        """
        folder = Path(folder)
        shown = self.shown(min_shown)
        has_users = self.per_user is not None or self.per_user_parts is not None
        summary = shown.summary.model_copy(
            update={"is_aggregates_only": aggregates_only or not has_users}
        )
        shown = replace(shown, summary=summary)
        names = names_to_replace(AUDIT, folder, force, self.run.paths() if self.run else [])
        id = result_id(summary, shown.group_table)
        write = partial(put_audit, shown, folder=folder, id=id)
        write_with_page(folder, names, id, write, shown.page if report else None)
        return folder

    def page(self, group_file: str = "groups.parquet") -> str:
        """Its page as HTML, with a link to the file of groups; none where that is empty."""
        return page_html(self.summary, self.group_table, group_file, self.run)

    def show(self) -> Path | None:
        """Show the page below a cell of a notebook; elsewhere write a file and give its path."""
        return show_page(self.page(group_file=""))

    def with_users(self) -> AuditResult:
        """The same with all users in memory, where they are anywhere."""
        if self.per_user is not None or self.per_user_parts is None:
            return self
        return replace(self, per_user=sort_by_id(self.per_user_parts.collect()))

    def of_run(self, folder: Path) -> AuditResult:
        """The same, with the trained run its predictions come from among its inputs."""
        trained = InputSummary(
            name=as_unicode(folder.name), sha256=file_sum(folder / "model.safetensors")
        )
        inputs = {"run": trained, **self.summary.inputs}
        return replace(
            self,
            summary=self.summary.model_copy(update={"inputs": inputs}),
            run=self.run and self.run.with_inputs({"run": as_place(folder)}),
        )

    def to_json(self) -> str:
        """The content of `result.json`, its id left empty."""
        return self.summary.model_dump_json(indent=2)

    def _handed_out(self, table: pl.DataFrame, metric: str | None) -> Any:
        if metric is not None:
            table = table.filter(pl.col("metric") == self.find_metric(metric)).drop("metric")
        return as_pandas(table) if self.is_pandas else table

    def _names(self, metric: str | None) -> list[str]:
        return [*self.metrics] if metric is None else [self.find_metric(metric)]

    def find_metric(self, name: str) -> str:
        """The full name of a metric of this result, found by its name without a cut-off too."""
        if name in self.metrics:
            return name
        with_cutoff = [key for key in self.metrics if key.partition("@")[0] == name]
        if len(with_cutoff) == 1:
            return with_cutoff[0]
        raise unknown_name("metric in this result", name, self.metrics)


def put_audit(result: AuditResult, part: Path, folder: Path, id: str) -> None:
    """Write all but the page of a result that is for a folder into one on its way.

    Parameters
    ----------
    id : of the result that it is a part of
    """
    named = {ID: id}
    put_table(result.group_table, part / GROUPS, compression_level=1, metadata=named)
    users = result.per_user if result.per_user_parts is None else result.per_user_parts
    if users is not None and not result.summary.is_aggregates_only:
        put_table(users, part / PER_USER, compression_level=1, metadata=named)
    save_part(result.summary, part / RESULT, id)
    if result.run is not None:
        put_run(result.run, part, folder, id)
