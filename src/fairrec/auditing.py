"""The conductor: one audit from tables to result, in the order the data flows."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import polars as pl

from fairrec.arrays import FloatArray, IntArray
from fairrec.errors import InputError
from fairrec.files import file_sum
from fairrec.groups.cells import cells_of
from fairrec.groups.lattice import build_lattice
from fairrec.inputs.candidates import CandidateLists, read_candidates
from fairrec.inputs.columns import check_mapping, refuse_unused
from fairrec.inputs.side import SideData, read_categories, read_popularity
from fairrec.inputs.tables import Table
from fairrec.inputs.users import read_users
from fairrec.metrics import MetricAtK, parse_metric
from fairrec.options import AuditOptions, Progress
from fairrec.result.analysis import Analysis
from fairrec.result.audit_result import AuditResult
from fairrec.result.coverage import attribute_summaries, coverage
from fairrec.result.group_table import RESERVED, group_table
from fairrec.result.metric_result import metric_results
from fairrec.result.notes import reader_notes
from fairrec.result.per_user_table import per_user_table
from fairrec.result.pooled_result import pooled_results
from fairrec.result.schema import AuditSummary, InputSummary, SearchSummary
from fairrec.scoring.ranked import RankedLists
from fairrec.statistics.moments import group_moments
from fairrec.statistics.permutation import permutation_test
from fairrec.version import __version__


def audit(
    predictions: Any,
    *,
    users: Any,
    by: Sequence[str] | str,
    items: Any = None,
    history: Any = None,
    metrics: Sequence[str] | str | None = None,
    columns: Mapping[str, str] | None = None,
    depth: int | Literal["full"] = 3,
    min_support: float = 0.001,
    permutations: int = 1000,
    alpha: float = 0.05,
    correction: Literal["max", "bh"] = "max",
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
    command: str | None = None,
) -> AuditResult:
    """Which user groups are served best and worst, by how much, and whether it is chance.

    Tables are paths (Parquet, CSV, Arrow) or Polars, pandas or Arrow tables.

    Parameters
    ----------
    predictions : `user_id, item_id, score, label`, one row a candidate; or one row a user with
        lists in the last three
    users : `user_id` and attributes
    by : attributes that define the groups; numbers are binned on request: `age:10`, `income:q5`
    items : `item_id, categories`, for URD
    history : `user_id, item_id` of training, for URP
    metrics : names with an optional cut-off; by default those the tables allow
    columns : other names of columns, such as {"user_id": "uid"}
    depth : every combination of up to so many attributes, or "full" for full combinations only
    min_support : share of users below 1, number of users from 1
    permutations : how often attributes are dealt out anew; 0 for no tests
    alpha : where attributes have nothing to do with the values, an audit has findings with at
        most this probability
    correction : "max" bounds the chance of any false finding, "bh" the share of false ones
    progress : called with stage, steps done and steps in all
    command : how to run this again, kept in the result

    Examples
    --------
    >>> import fairrec, polars as pl
    >>> users = pl.DataFrame({"user_id": [1, 2, 3, 4], "gender": ["F", "F", "M", "M"]})
    >>> predictions = pl.DataFrame({
    ...     "user_id": [1, 2, 3, 4], "item_id": [[7, 8]] * 4, "label": [[1, 0]] * 4,
    ...     "score": [[0.2, 0.9], [0.3, 0.4], [0.9, 0.1], [0.8, 0.2]]})
    >>> result = fairrec.audit(predictions, users=users, by="gender", metrics="mrr@5")
    >>> result.gap("mrr@5").size
    0.5
    >>> result.gap("mrr@5").disadvantaged.group
    {'gender': 'F'}
    """
    started = time.perf_counter()
    options = AuditOptions(depth, min_support, permutations, alpha, correction, seed, threads)
    told = progress or (lambda stage, done, total: None)
    by, wanted = _names(by), _wanted_metrics(metrics, items, history)
    check_mapping(columns or {})
    for name, source in (("predictions", predictions), ("users", users)):
        if source is None:
            raise InputError(f"The {name} table is missing. Give a path or a table.")
    tables = {
        name: Table(source, name, columns)
        for name, source in (
            ("predictions", predictions),
            ("users", users),
            ("items", items),
            ("history", history),
        )
        if source is not None
    }

    refuse_unused(columns or {}, {name: table.columns for name, table in tables.items()})

    told("reading", 0, 0)
    everyone = read_users(tables["users"], by)
    _refuse_clash([spec.name for spec in everyone.specs], wanted)
    needs_labels = any("labels" in metric.metric.needs for metric in wanted)
    candidates, row_of_list = read_candidates(
        tables["predictions"], everyone.keys, everyone.where, needs_labels
    )
    side = _side_data(tables, wanted, candidates, everyone.keys[row_of_list])
    # from here on, users in the order of their ids
    list_of_user = np.argsort(row_of_list)
    rows = row_of_list[list_of_user]
    attributes = everyone.attributes(rows)

    told("measuring", 0, 0)
    per_user = [metric for metric in wanted if not metric.metric.pooled]
    values = _values_per_user(per_user, candidates, side, list_of_user, options.n_threads)

    told("grouping", 0, 0)
    cells = cells_of([a.codes for a in attributes], [len(a.values) for a in attributes])
    min_users = options.min_users(len(rows))
    lattice = build_lattice(
        cells, None if options.depth == "full" else options.depth, min_users, options.n_threads
    )
    if not len(lattice):
        raise InputError(
            f"No group has {min_users:,} users (--min-support {options.min_support:g} of "
            f"{len(rows):,} users). Lower --min-support or name fewer attributes in --by."
        )
    moments = group_moments(values, cells, lattice, options.n_threads)
    is_tested = moments.n >= min_users
    test = None
    if options.permutations and per_user:
        n_done = 0

        def advance() -> None:
            nonlocal n_done
            n_done += 1
            told("testing against chance", n_done, options.permutations)

        test = permutation_test(
            moments,
            cells,
            lattice,
            is_tested,
            options.permutations,
            seed,
            options.n_threads,
            advance,
        )

    told("reporting", 0, 0)
    analysis = Analysis(
        tuple(per_user), attributes, cells, lattice, moments, is_tested, test, options
    )
    pooled, pooled_groups = pooled_results(wanted, candidates, list_of_user, analysis)
    results = metric_results(analysis) | pooled
    n_without_predictions = len(everyone.ids) - len(rows)
    summary = AuditSummary(
        fairrec_version=__version__,
        seed=seed,
        command=_unicode(command or _as_call(by, wanted, options)),
        inputs={name: _input_summary(table) for name, table in tables.items()},
        n_users=len(rows),
        n_candidates=len(candidates.scores),
        attributes=attribute_summaries(analysis),
        depth=options.depth,
        alpha=alpha,
        correction=correction,
        permutations=permutations,
        coverage=coverage(analysis),
        warnings=reader_notes(n_without_predictions, attributes, side, results, pooled, analysis),
        search=SearchSummary(
            name="exact",
            users_scored=len(rows),
            users_total=len(rows),
            seconds=round(time.perf_counter() - started, 3),
        ),
        metrics={metric.name: results[metric.name] for metric in wanted},
    )
    return AuditResult(
        summary,
        group_table(analysis, pooled_groups),
        per_user_table(everyone.ids[rows], attributes, per_user, values),
    )


def _names(given: Sequence[str] | str) -> list[str]:
    """Names from a sequence or from text with commas."""
    parts = given.split(",") if isinstance(given, str) else given
    return [part.strip() for part in parts if part.strip()]


def _wanted_metrics(
    metrics: Sequence[str] | str | None, items: Any, history: Any
) -> list[MetricAtK]:
    if metrics is None:
        names = ["auc", "mrr", "ndcg"]
        names += ["urd"] if items is not None else []
        names += ["urp"] if history is not None else []
    else:
        names = _names(metrics)
    if not names:
        raise InputError("No metric is named. Example: --metrics auc,ndcg@5")
    wanted = list({metric.name: metric for metric in map(parse_metric, names)}.values())
    for metric in wanted:
        for need, table in (("items", items), ("history", history)):
            if need in metric.metric.needs and table is None:
                raise InputError(
                    f"Metric '{metric.name}' needs the {need} table. "
                    f"Give --{need} FILE or leave the metric out."
                )
    return wanted


def _refuse_clash(attributes: Sequence[str], metrics: Sequence[MetricAtK]) -> None:
    taken = {*RESERVED, "user_id", *(metric.name for metric in metrics)}
    for name in attributes:
        if name in taken:
            raise InputError(
                f"Attribute '{name}' has the name of a column of the result. "
                "Rename that column of the users table."
            )


def _side_data(
    tables: Mapping[str, Table],
    wanted: Sequence[MetricAtK],
    candidates: CandidateLists,
    user_ids: pl.Series,
) -> SideData:
    """The side data the metrics ask for."""
    needed = {need for metric in wanted for need in metric.metric.needs}
    categories, popularity, warnings = None, None, []
    if "items" in needed:
        categories, about_items = read_categories(tables["items"], candidates.item_ids)
        warnings += about_items
    if "history" in needed:
        popularity, about_history = read_popularity(
            tables["history"], candidates.item_ids, user_ids
        )
        warnings += about_history
    return SideData(categories, popularity, tuple(warnings))


def _values_per_user(
    metrics: Sequence[MetricAtK],
    candidates: CandidateLists,
    side: SideData,
    list_of_user: IntArray,
    threads: int,
) -> FloatArray:
    """(n_metrics, n_users), NaN where undefined; a metric undefined for all is an error."""
    max_k = max((metric.k or 0 for metric in metrics), default=0)
    lists = RankedLists(candidates, max_k, side, threads)
    values = np.empty((len(metrics), len(list_of_user)))
    for i, metric in enumerate(metrics):
        values[i] = metric.per_user(lists)[list_of_user]
        if np.isnan(values[i]).all():
            raise InputError(
                f"Metric '{metric.name}' is undefined for every user: "
                f"{_why_undefined(metric, lists)}. Mend the table or leave the metric out."
            )
    return values


def _why_undefined(metric: MetricAtK, lists: RankedLists) -> str:
    needs = metric.metric.needs
    if "labels" in needs and not (lists.n_relevant > 0).any():
        return "no candidate has a label above 0"
    if "items" in needs:
        return "no user has two candidates with categories in the items table"
    if "history" in needs:
        return "no user has candidates and a history in the history table"
    return "no user has both a relevant and another candidate"


def _input_summary(table: Table) -> InputSummary:
    return InputSummary(name=table.where, sha256=file_sum(table.path) if table.path else None)


def _unicode(text: str) -> str:
    """The text with what is not Unicode escaped: a path may be any bytes, a result may not."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _as_call(by: Sequence[str], wanted: Sequence[MetricAtK], options: AuditOptions) -> str:
    """The call that repeats an audit made from Python."""
    return (
        f"fairrec.audit(predictions, users=users, by={list(by)!r}, "
        f"metrics={[metric.name for metric in wanted]!r}, depth={options.depth!r}, "
        f"min_support={options.min_support!r}, permutations={options.permutations!r}, "
        f"alpha={options.alpha!r}, correction={options.correction!r}, seed={options.seed!r})"
    )
