"""The files of a saved audit, each checked against the summary that vouches for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import polars as pl

from fairrec.core.errors import InputError, plain
from fairrec.core.folders import settle
from fairrec.core.json_file import load_json
from fairrec.core.matters import Matters
from fairrec.core.parquet import read_parquet
from fairrec.inputs.tables import LARGEST
from fairrec.result.file_sums import NO_SUMS, RESULT, FileSums, sum_of
from fairrec.result.group_table import ADJUSTED, BOUNDED, JUDGED, NUMBERS, OF_ITEMS
from fairrec.result.metric_schema import Finding
from fairrec.result.parts import GroupValue
from fairrec.result.schema import AuditSummary

GROUPS, PER_USER = "groups.parquet", "per_user.parquet"
_WHOLE = ("depth", "support")
_LARGEST = 1000 * LARGEST
"""Of differences and their bounds, which are some times as large as values can be."""
_ROUNDING = 1e-9
_SAME_MEAN = 1e-6
_TOGETHER = "Audit again, or put back the file that was written beside result.json."


def load_summary(folder: str | Path) -> AuditSummary:
    """The summary of an audit saved in a folder."""
    return load_saved(folder)[0]


def load_saved(folder: str | Path) -> tuple[AuditSummary, FileSums]:
    """The summary of an audit saved in a folder, and what vouches for the other files."""
    settle(Path(folder))
    path = Path(folder) / RESULT
    # before it is read: where it is replaced in between, what is read after it is not believed
    result = sum_of(path) if path.is_file() else ""
    summary = load_json(path, AuditSummary, "result", fix="Is it an audit?")
    limits = [one.verdict.matters or 0 for one in summary.metrics.values() if one.verdict]
    is_some = summary.attributes and summary.metrics
    if not (is_some and _is_amount(summary.matters)) or min(limits, default=0) < 0:
        raise InputError(
            f"{plain(path, 300)}: is no result of FairRec: it has no attributes, no metrics, or "
            "an amount that matters which is none. Audit again."
        )
    return summary.model_copy(update={"files": {}}), FileSums(result, summary.files)


def _is_amount(matters: str | None) -> bool:
    with suppress(ValueError):
        return matters is None or bool(Matters.parsed(matters))
    return False


def load_groups(folder: str | Path, sums: FileSums = NO_SUMS) -> pl.DataFrame:
    """The table of groups of an audit saved in a folder."""
    return load_table(Path(folder) / GROUPS, sums)


def load_per_user(
    folder: str | Path, summary: AuditSummary, sums: FileSums = NO_SUMS
) -> pl.DataFrame | None:
    """The values of each user, or item; None where the audit was saved without them."""
    path = Path(folder) / PER_USER
    if not path.exists():
        return None
    # of one that was written in parts only the run has a checksum, which may not be there
    table = load_table(path, sums if path.name in sums.beside else NO_SUMS)
    ids = summary.unit.id_column(summary.unit_column)
    if ids not in table.columns and "user_id" in table.columns:
        table = table.rename({"user_id": ids})  # as they were all called before
    if reason := next(_unlike(table, summary), ""):
        raise InputError(f"{plain(path, 300)}: {reason}. {_TOGETHER}")
    return table


def _unlike(users: pl.DataFrame, summary: AuditSummary) -> Iterator[str]:
    """What a table of users has otherwise than a summary says."""
    two, many = "so they are of two audits", summary.unit.many
    ids = summary.unit.id_column(summary.unit_column)
    means = {
        name: about
        for name, about in summary.metrics.items()
        # no column where it is no mean over users
        if about.sd is not None or name in users.columns
    }
    for name in (ids, *summary.attributes, *means):
        if name not in users.columns:
            yield f"has no column {plain(name)}"
    if users.height != summary.n_users:
        yield f"has {users.height:,} {many} and result.json {summary.n_users:,}, {two}"
    if users[ids].null_count() or users[ids].n_unique() < users.height:
        yield f"has {many} without an id, or one more than once"
    for name in summary.attributes:
        if users[name].dtype != pl.String or users[name].null_count():
            yield f"has {many} without a text in column {plain(name)}"
    for name, about in means.items():
        values = users[name]
        if not are_numbers(users, name):
            yield f"has no numbers in column {plain(name)}"
        known = values.drop_nulls().to_numpy()
        if _is_ratio_of_sums(name, summary) and len(known) <= about.n_defined:
            continue  # to which some add that have no ratio of their own
        if len(known) != about.n_defined:
            yield (
                f"has {len(known):,} values of {plain(name)} and result.json "
                f"{about.n_defined:,}, {two}"
            )
        # of a search it is that of users drawn at random
        if about.n_compared == about.n_defined > 0 and about.sd is not None:
            mean, size = float(known.mean()), max(abs(about.mean), about.sd)
            if not abs(mean - about.mean) <= _SAME_MEAN * size:
                yield f"has a mean {plain(name)} of {mean} and result.json of {about.mean}, {two}"


def _is_ratio_of_sums(metric: str, summary: AuditSummary) -> bool:
    """Whether the value of a group is no mean of those of its users or items."""
    told = summary.ratios.metrics.get(metric)
    return told is not None and told.why_no_inequality == "it is no mean over users"


def load_table(path: Path, sums: FileSums = NO_SUMS) -> pl.DataFrame:
    """A table of ours, which must be that of the result with these checksums."""
    settle(path.parent)
    table = read_parquet(path, "Is it an audit? Then audit again.")
    sums.refuse_other(path)
    return table


def are_numbers(table: pl.DataFrame, *names: str) -> bool:
    """Whether columns have numbers that an audit can give; what is not known is null."""
    return all(
        name in table.columns
        and table[name].dtype.is_float()
        and table[name].is_between(-_LARGEST, _LARGEST).all()
        for name in names
    )


def refuse_other_groups(groups: pl.DataFrame, summary: AuditSummary) -> None:
    """An error where a table of groups does not go with a summary; some groups may be hidden."""
    names = ["metric", *summary.attributes]
    if groups.columns[: len(names)] == names and _has_its_types(groups, names):
        counts = groups.group_by("metric").agg(pl.len(), pl.col("difference").count())
        n_rows = {metric: (n, n_compared) for metric, n, n_compared in counts.iter_rows()}
        if n_rows.keys() <= summary.metrics.keys() and all(
            _has_all(*n_rows.get(name, (0, 0)), summary, name) and _tells(groups, summary, name)
            for name in summary.metrics
        ):
            return
    raise InputError(f"groups.parquet does not belong to this result. {_TOGETHER}")


def _has_all(n_rows: int, n_compared: int, summary: AuditSummary, metric: str) -> bool:
    """Whether no group is missing that is not hidden.

    A group without others has a row and is not counted; one without others in its circumstances
    is counted and not compared.
    """
    n_groups = summary.metrics[metric].n_groups
    return n_compared <= n_groups and (summary.hidden is not None or n_groups <= n_rows)


def _has_its_types(groups: pl.DataFrame, texts: list[str]) -> bool:
    types = groups.schema
    return (
        all(types[name] == pl.String for name in texts)
        and all(name in types and types[name].is_integer() for name in _WHOLE)
        and are_numbers(groups, *NUMBERS)
        and not any(groups[name].null_count() for name in ("metric", *_WHOLE))
        # some circumstances have none
        and all(types.get(name, pl.Boolean) == pl.Boolean for name in ("is_fully_scored", *JUDGED))
        and are_numbers(
            groups, *(name for name in (*ADJUSTED, *BOUNDED[:2], *OF_ITEMS) if name in types)
        )
        and types.get(BOUNDED[2], pl.Int64).is_integer()
        and types.get("outcome", pl.String) in (pl.String, pl.Categorical, pl.Enum, pl.Null)
    )


def _tells(groups: pl.DataFrame, summary: AuditSummary, metric: str) -> bool:
    """Whether the groups that a summary names have the users and the values it says."""
    about = summary.metrics[metric]
    # intersections of more attributes than are tested are there for the gap alone, without a row
    deepest = len(summary.attributes) if summary.depth == "full" else summary.depth
    ends = (*about.most_advantaged, *about.most_disadvantaged)
    told: list[GroupValue | Finding] = [
        *(end for end in ends if len(end.group) <= deepest),
        *about.findings,
    ]
    rows = groups.filter(pl.col("metric") == metric)
    axes = {name: f"a{at}" for at, name in enumerate(summary.attributes)}
    if not told:
        return True
    named = pl.DataFrame(
        [[*(_text(one.group.get(name)) for name in axes), one.support, one.value] for one in told],
        schema={
            **dict.fromkeys(axes.values(), pl.String),
            "told_support": pl.Int64,
            "told_value": pl.Float64,
        },
        orient="row",
    )
    found = rows.select(
        *(pl.col(name).alias(axis) for name, axis in axes.items()),
        pl.col("support").cast(pl.Int64),
        pl.col("value").cast(pl.Float64),
    ).join(named, on=[*axes.values()], nulls_equal=True)
    is_same = (found["support"] == found["told_support"]) & (
        (found["value"] - found["told_value"]).abs() <= _ROUNDING * found["told_value"].abs()
    )
    return found.height == named.height and bool(is_same.all())


def _text(value: object) -> str | None:
    return None if value is None else str(value)
