"""The files of a saved audit, each checked against the summary that vouches for them."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from fairrec.core.errors import InputError, plain
from fairrec.core.folders import settle
from fairrec.result.schema import AuditSummary

_TOGETHER = "Audit again, or put back the file that was written beside result.json."


def load_summary(folder: str | Path) -> AuditSummary:
    """The summary of an audit saved in a folder."""
    settle(Path(folder))
    path = Path(folder) / "result.json"
    try:
        return AuditSummary.model_validate_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            f"{plain(path, 300)}: cannot be read ({error.strerror}). Is it an audit?"
        ) from error
    except ValueError as error:
        raise InputError(
            f"{plain(path, 300)}: is no result of this version of FairRec ({error})."
        ) from error


def load_groups(folder: str | Path) -> pl.DataFrame:
    """The table of groups of an audit saved in a folder."""
    return load_table(Path(folder) / "groups.parquet")


def load_per_user(folder: str | Path, summary: AuditSummary) -> pl.DataFrame | None:
    """The values of each user; None where the audit was saved without them."""
    path = Path(folder) / "per_user.parquet"
    if not path.exists():
        return None
    table = load_table(path)
    if table.height != summary.n_users:
        raise InputError(
            f"{plain(path, 300)}: has {table.height:,} users and result.json {summary.n_users:,}, "
            f"so they are of two audits. {_TOGETHER}"
        )
    return table


def load_table(path: Path) -> pl.DataFrame:
    """A table of ours."""
    settle(path.parent)
    where = plain(path, 300)
    try:
        # opened here, because Polars takes no path that is not Unicode
        with path.open("rb") as file:
            return pl.read_parquet(file)
    except OSError as error:
        raise InputError(f"{where}: cannot be read ({error.strerror}). Is it an audit?") from error
    except pl.exceptions.PolarsError as error:
        raise InputError(f"{where}: is no Parquet file ({error}). Audit again.") from error


def refuse_other_groups(groups: pl.DataFrame, summary: AuditSummary) -> None:
    """An error where a table of groups does not go with a summary; some groups may be hidden."""
    names = ["metric", *summary.attributes]
    if groups.columns[: len(names)] == names:
        n_groups = {name: about.n_groups for name, about in summary.metrics.items()}
        # a group without others to be compared with has a row and is not counted
        compared = groups.group_by("metric").agg(pl.col("difference").count()).iter_rows()
        if all(metric in n_groups and n <= n_groups[metric] for metric, n in compared):
            return
    raise InputError(f"groups.parquet does not belong to this result. {_TOGETHER}")
