"""Audits of one recommender over time: read, named, put in order, and what differs among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl

from fairrec.auditing.saved_audits import Audited, resolve_audit
from fairrec.core.arrays import FloatArray
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
    given = [_release(audit) for audit in audits]
    releases = given
    order: Order = "as given"
    notes: list[str] = []
    if history is not None:
        left_out = {Path(audit).resolve() for audit in audits if isinstance(audit, str | Path)}
        before, order, notes = _history(Path(history), left_out)
        releases = [*before, *given]
    if len(releases) < 2:
        raise InputError(
            f"{len(releases)} audit: a trend needs two releases at least. Name more folders, or "
            f"with {spell('history')} the folder that holds one for each release."
        )
    named = _apart(releases)
    return named, order, [*notes, *(_other_order(named) if history is None else [])]


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
    if all(release.made_at for release in releases):
        return sorted(releases, key=_when), "made_at", notes
    without = listed(release.folder for release in releases if not release.made_at)
    notes.append(f"Releases are ordered by the names of their folders: no run.json in {without}")
    return releases, "name", notes


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


def _apart(releases: Sequence[Release]) -> list[Release]:
    """Releases with names that tell them apart."""
    names = []
    for number, release in enumerate(releases, start=1):
        model, title = release.summary.model, release.summary.title
        named = (model and model.version) or title or release.folder
        names.append(named or f"release {number}")
    folders = [
        "" if one.folder == name else one.folder for one, name in zip(releases, names, strict=True)
    ]
    for more in (folders, map(str, range(1, len(names) + 1))):
        n_named = Counter(names)
        names = [
            f"{name} ({part})" if part and n_named[name] > 1 else name
            for name, part in zip(names, more, strict=True)
        ]
    return [replace(release, name=name) for release, name in zip(releases, names, strict=True)]


def held_out_in_common(releases: Sequence[Release]) -> FloatArray:
    """1 for each two releases that are judged by one table of held-out interactions."""
    tables = [release.summary.inputs.get("test") for release in releases]
    sums = [at if table is None else table.sha256 or at for at, table in enumerate(tables)]
    return np.array([[float(a == b) for b in sums] for a in sums])


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
    """What harms depend on besides model and data, in words.

    The smallest group is as given: what follows from a share of users is no setting.
    """
    support = summary.coverage.min_support
    return {
        "attributes": ", ".join(sorted(summary.attributes)),
        **{
            f"the bins of {plain(name)}": about.binning or "none"
            for name, about in summary.attributes.items()
        },
        "metrics": ", ".join(sorted(summary.metrics)),
        **{
            f"the definition of {plain(name)}": about.definition
            for name, about in summary.metrics.items()
        },
        "significance level": f"{summary.alpha:g}",
        "smallest group": "as usual" if support is None else f"{support:g}",
        "combined attributes": str(summary.depth),
        "what is relevant": summary.relevant or "as the tables say",
        "gain of held-out items": summary.gain or "none",
        **(
            {"what counts for users without a list": summary.missing_lists}
            if summary.unit.is_users
            else {}
        ),
        "circumstances given": ", ".join(summary.given.named) if summary.given else "none",
        f"how {summary.unit.many} were chosen": summary.search.name,
    }
