"""Audits of one recommender over time: read, named, put in order, and what differs among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import polars as pl

from fairrec.auditing.saved_audits import Audited, resolve_audit
from fairrec.core.errors import InputError, listed, plain
from fairrec.core.options import spell
from fairrec.result.folder import folder_name
from fairrec.result.schema import AuditSummary
from fairrec.result.summary import result_options
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
    """The releases, their order, and what is to be said about it.

    Parameters
    ----------
    audits : the oldest first; newer than those of the history
    history : a folder with audits, of which those named are left out
    """
    if not audits and history is None:
        raise InputError(
            "Name the audits to look at one by one, or the folder they are in with "
            f"{spell('history')}."
        )
    folders: set[Path] = set()
    for audit in audits:
        if isinstance(audit, str | Path):
            if Path(audit).resolve() in folders:
                raise InputError(
                    f"{plain(audit, 300)}: is named twice. An audit is one release: name each once."
                )
            folders.add(Path(audit).resolve())
    releases = [_release(audit) for audit in audits]
    order: Order = "as given"
    notes: list[str] = []
    if history is not None:
        before, order, notes = _history(Path(history), folders)
        releases = [*before, *releases]
    if len(releases) < 2:
        raise InputError(
            f"{len(releases)} audit: a trend needs two releases at least. Name more folders, or "
            f"with {spell('history')} the folder that holds one for each release."
        )
    releases = _name_apart(releases)
    if history is None:
        notes = _other_order(releases)
    return releases, order, notes


def _history(folder: Path, left_out: Set[Path]) -> tuple[list[Release], Order, list[str]]:
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
    if without := [release.folder for release in releases if release.made_at is None]:
        names = listed(without)
        notes.append(f"Releases are ordered by the names of their folders: no run.json in {names}")
        return releases, "name", notes
    return sorted(releases, key=_when), "made_at", notes


def _when(release: Release) -> tuple[datetime, str]:
    assert release.made_at is not None
    return release.made_at, release.folder


def _other_order(releases: Sequence[Release]) -> list[str]:
    """Audits that were made in another order than they are named in."""
    for before, after in pairwise(releases):
        if before.made_at and after.made_at and after.made_at < before.made_at:
            return [
                f"Releases are in the order given, though {plain(after.name)} was audited before "
                f"{plain(before.name)}"
            ]
    return []


def _release(given: Audited) -> Release:
    audit, folder = resolve_audit("audits", given)
    return Release(
        name="",
        folder="" if folder is None else folder_name(folder.resolve()),
        made_at=audit.run.made_at if audit.run else None,
        summary=audit.summary,
        groups=audit.group_table,
        users=_judged(audit.per_user, audit.summary),
    )


def _judged(per_user: pl.DataFrame | None, summary: AuditSummary) -> pl.DataFrame | None:
    """The users who have a value; who has none tells nothing of a release."""
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
    """Releases with names that tell them apart: of the model, the audit or the folder."""
    names = []
    for number, release in enumerate(releases, start=1):
        model, title = release.summary.model, release.summary.title
        named = (model and model.version) or title or release.folder
        names.append(named or f"release {number}")
    folders = [
        one.folder if one.folder != name else "" for one, name in zip(releases, names, strict=True)
    ]
    for parts in (folders, map(str, range(1, len(names) + 1))):
        n_named = Counter(names)
        names = [
            f"{name} ({part})" if n_named[name] > 1 and part else name
            for name, part in zip(names, parts, strict=True)
        ]
    return [replace(release, name=name) for release, name in zip(releases, names, strict=True)]


def differing_settings(releases: Sequence[Release]) -> list[str]:
    """What the releases were audited by in different ways, one sentence each."""
    notes = []
    told = [_settings(release.summary) for release in releases]
    for what in dict.fromkeys(name for settings in told for name in settings):
        found: dict[str, list[str]] = {}
        for release, settings in zip(releases, told, strict=True):
            if what in settings:
                found.setdefault(settings[what], []).append(release.name)
        if len(found) > 1:
            ways = (f"{plain(text)} in {listed(names)}" for text, names in found.items())
            notes.append(f"Releases differ in {what}: {'; '.join(ways)}")
    return notes


def _settings(summary: AuditSummary) -> dict[str, str]:
    """What harms depend on besides model and data, in words."""
    attributes, metrics = summary.attributes, summary.metrics
    options = result_options(summary).items()
    return {
        "attributes": ", ".join(sorted(attributes)),
        **{f"the bins of {plain(name)}": one.binning or "none" for name, one in attributes.items()},
        "metrics": ", ".join(sorted(metrics)),
        **{f"the definition of {plain(name)}": one.definition for name, one in metrics.items()},
        **{
            name: "not given"
            if value is None
            else f"{value:g}"
            if isinstance(value, float)
            else str(value)
            for name, value in options
            if name not in ("permutations", "seed", "tolerance")
        },
        "adjust_for": ", ".join(summary.adjustment.named) if summary.adjustment else "none",
        "search": summary.search.name,
    }
