"""Audits of one recommender over time: read, named, put in order, and what differs among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import polars as pl

from fairrec.auditing.saved_audits import Audited, describe_settings, resolve_audit
from fairrec.core.errors import InputError, listed, plain
from fairrec.core.options import spell
from fairrec.result.folder import folder_name
from fairrec.result.schema import AuditSummary
from fairrec.trends.result import Order


@dataclass(frozen=True, slots=True)
class Release:
    """One audit.

    Parameters
    ----------
    groups : the table of groups
    users : those with a value: user_id, the value of each attribute, and whether a metric has a
        value, by its name; None where the audit was saved without them
    """

    name: str
    folder: str
    made_at: datetime | None
    summary: AuditSummary
    groups: pl.DataFrame
    users: pl.DataFrame | None


def read_releases(
    audits: Sequence[Audited], history: str | Path | None
) -> tuple[list[Release], Order, list[str]]:
    """The releases, their order, and what to know of it.

    Parameters
    ----------
    audits : the oldest first; newer than those of the history
    history : a folder with audits, of which those named are left out
    """
    folders = [Path(one).resolve() for one in audits if isinstance(one, str | Path)]
    keys = [*map(str, folders), *(id(one) for one in audits if not isinstance(one, str | Path))]
    if twice := [key for key, n in Counter(keys).items() if n > 1]:
        which = plain(twice[0], 300) if isinstance(twice[0], str) else "an audit"
        raise InputError(f"{which}: is named twice. An audit is one release: name each once.")
    releases = [_release(audit) for audit in audits]
    order: Order = "as given"
    notes: list[str] = []
    if history is not None:
        before, order, notes = _history(Path(history), folders)
        releases = [*before, *releases]
    if len(releases) < 2:
        raise InputError(
            f"A trend needs two releases at least, not {len(releases)}. Name the audit of each, or "
            f"with {spell('history')} the folder that holds them."
        )
    releases = _name_apart(releases)
    for one, later in pairwise(releases):
        if history is None and one.made_at and later.made_at and later.made_at < one.made_at:
            notes.append(
                f"Releases are in the order given, though {plain(later.name)} was audited before "
                f"{plain(one.name)}"
            )
            break
    return releases, order, notes


def _history(folder: Path, left_out: Sequence[Path]) -> tuple[list[Release], Order, list[str]]:
    if not folder.is_dir():
        raise InputError(
            f"{plain(folder, 300)}: is no folder. Name one with an audit in each sub-folder."
        )
    found = sorted(file.parent for file in folder.rglob("result.json") if file.parent != folder)
    found = [place for place in found if place.resolve() not in left_out]
    mitigated = [place for place in found if (place / "mitigation.json").exists()]
    releases = [_release(place) for place in found if place not in mitigated]
    notes = []
    if mitigated:
        names = listed(place.name for place in mitigated)
        notes.append(f"Left out, because they are mitigations and no releases: {names}")
    if unknown := [release.folder for release in releases if release.made_at is None]:
        names = listed(unknown)
        notes.append(f"Releases are ordered by the names of their folders: no run.json in {names}")
        return releases, "name", notes
    in_time = sorted(
        releases, key=lambda one: (one.made_at and one.made_at.timestamp(), one.folder)
    )
    return in_time, "made_at", notes


def _release(given: Audited) -> Release:
    audit, folder = resolve_audit("audits", given)
    return Release(
        name="",
        folder="" if folder is None else folder_name(folder.resolve()),
        made_at=audit.run.made_at if audit.run else None,
        summary=audit.summary,
        groups=audit.group_table,
        users=_users_with_values(audit.per_user, audit.summary),
    )


def _users_with_values(per_user: pl.DataFrame | None, summary: AuditSummary) -> pl.DataFrame | None:
    """The users with a value in any metric; the others are no part of a release."""
    if per_user is None:
        return None
    metrics = [name for name in summary.metrics if name in per_user.columns]
    table = per_user.select(
        pl.col(summary.unit.id_column(summary.unit_column)).cast(pl.String).alias("user_id"),
        pl.col(list(summary.attributes)).cast(pl.String),
        pl.col(metrics).is_not_null(),
    )
    return table.filter(pl.any_horizontal(metrics))


def _name_apart(releases: Sequence[Release]) -> list[Release]:
    """Releases named by the version of the model, the title or the folder, else numbered."""
    names = []
    for number, release in enumerate(releases, start=1):
        model, title = release.summary.model, release.summary.title
        name = (model and model.version) or title or release.folder
        names.append(name or f"release {number}")
    n_named = Counter(names)
    return [
        replace(one, name=name if n_named[name] == 1 else f"{name} ({number})")
        for number, (one, name) in enumerate(zip(releases, names, strict=True), start=1)
    ]


def differing_settings(releases: Sequence[Release]) -> list[str]:
    """Settings in which the audits differ, one sentence each."""
    notes = []
    settings = [describe_settings(release.summary) for release in releases]
    for name in dict.fromkeys(name for one in settings for name in one):
        ways: dict[str, list[str]] = {}
        for release, one in zip(releases, settings, strict=True):
            if name in one:
                ways.setdefault(one[name], []).append(release.name)
        if len(ways) > 1 and name not in ("permutations", "seed", "tolerance"):
            texts = (f"{text} in {listed(names)}" for text, names in ways.items())
            notes.append(f"Releases differ in {name}: {'; '.join(texts)}")
    return notes
