"""Several audits of one recommender -> what became of groups, release after release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fairrec.auditing.saved_audits import Audited
from fairrec.core.arrays import ROUNDING, BoolArray, FloatArray
from fairrec.core.errors import InputError, listed, plain, unknown_name
from fairrec.core.options import documented, public_function
from fairrec.core.redact_paths import redact_command
from fairrec.core.version import __version__
from fairrec.trends.e_process import (
    Detection,
    evidence_of_change,
    evidence_of_harm,
    shares_of_level,
)
from fairrec.trends.group_lines import Lines, build_lines, metric_directions
from fairrec.trends.options import Conditions, TrendOptions
from fairrec.trends.release_overlap import (
    held_out_in_common,
    members_in_common,
    users_in_common,
)
from fairrec.trends.releases import Release, differing_settings, read_releases
from fairrec.trends.result import (
    TrendLine,
    TrendMetric,
    TrendRelease,
    TrendResult,
    TrendSummary,
    Why,
    WorseSince,
    WorseTogether,
)

MOST_FINDINGS = 10


@public_function
@documented(TrendOptions)
def trend(
    audits: Sequence[Audited] = (),
    *,
    history: str | Path | None = None,
    command: str | None = None,
    **options: Any,
) -> TrendResult:
    """What became of groups over releases: value, harm and verdict, and since when one is worse.

    Parameters
    ----------
    audits : results or their folders, the oldest release first; of a mitigation the re-ranked lists
    history : a folder with audits in its sub-folders, in the order they were made; those named come
        after them
    command : how to run this again
    group, metric, alpha : see TrendOptions

    Examples
    --------
    >>> import fairrec, polars as pl
    >>> users = pl.DataFrame({"user_id": range(400), "plan": ["free", "paid"] * 200})
    >>> def clicks(lost):
    ...     bought = [(u // 2) % 2 - lost * (u % 2 == 0) for u in range(400)]
    ...     values = pl.DataFrame({"user_id": range(400), "clicks": bought})
    ...     how = fairrec.Tables(better="clicks=higher"), fairrec.Statistics(permutations=50)
    ...     return fairrec.audit(
    ...         values=values, users=users, by="plan", tables=how[0], statistics=how[1])
    >>> found = fairrec.trend([clicks(0), clicks(0), clicks(0), clicks(1), clicks(1)])
    >>> [(line.group, line.worse_since.release) for line in found.worse]
    [({'plan': 'free'}, 'release 4')]
    """
    chosen = TrendOptions(**options)
    releases, order, notes = read_releases(audits, history)
    units = {release.summary.unit: release.name for release in releases}
    if len(units) > 1:
        ways = (f"{unit.many} ({plain(name)})" for unit, name in units.items())
        raise InputError(f"These are audits of {' and of '.join(ways)}. Name audits of the same.")
    metrics, not_followed = _metrics(releases, chosen.metric)
    directions = metric_directions(releases, metrics)
    lines = build_lines(releases, directions, chosen.group)
    members = members_in_common(releases, lines)
    held_out = held_out_in_common(releases)
    # held-out data are those of users: of other users they are others
    things = [members] if held_out.all() else [members, members * held_out]
    is_narrow = np.array([len(group) > 1 and not chosen.group for group in lines.groups])
    answers = _follow(lines, releases, is_narrow, np.array(things), chosen.alpha)
    shown = _shown(lines, answers, releases, named=bool(chosen.group))
    users, unit = users_in_common(releases), releases[-1].summary.unit
    groups = [lines.conditions(line) for line in range(len(lines.groups))]
    gaps = {group for group, points in zip(groups, lines.points, strict=True) if None in points}
    notes += [*not_followed, *differing_settings(releases)]
    if gaps:
        notes.append(
            f"{len(gaps):,} of {len({*groups}):,} groups are not in every release: too few "
            f"{unit.many}, or other attributes, bins or metrics"
        )
    if neutral := [name for name, end in directions.items() if end is None]:
        notes.append(f"Not tested, as neither end is better: {listed(neutral)}")
    if users in _ABOUT_USERS:
        notes.append(_ABOUT_USERS[users].format(many=unit.many))
    return TrendResult(
        TrendSummary(
            fairrec_version=__version__,
            command=redact_command(command or "fairrec.trend(...)"),
            alpha=chosen.alpha,
            unit=unit,
            order=order,
            releases=tuple(map(_release, releases)),
            metrics={name: _metric(releases, name) for name in metrics},
            users=users,
            n_groups=len({*groups}),
            lines=tuple(sorted(shown, key=_rank)),
            notes=tuple(notes),
        )
    )


_ABOUT_USERS = {
    "partly the same": (
        "Some {many} were audited in several releases and some were not; the test allows for it"
    ),
    "not known": (
        "Which {many} were audited is not known for all releases, so that a growth must be larger "
        "to be shown. Keep per_user.parquet of the audits"
    ),
}


def _metrics(releases: Sequence[Release], named: Sequence[str]) -> tuple[list[str], list[str]]:
    """The metrics to follow, and a note on the others."""
    found = Counter(name for release in releases for name in release.summary.metrics)
    for name in named:
        if name not in found:
            raise unknown_name("metric in these audits", name, found)
    if named:
        return list(dict.fromkeys(named)), []
    often = [name for name, n in found.items() if n > 1]
    if not often:
        raise InputError(
            f"No metric is in two of these audits: {listed(found)}. A trend needs audits of the "
            "same metrics."
        )
    once = [name for name in found if name not in often]
    return often, [f"In one release only, and not followed: {listed(once)}"] if once else []


def _release(release: Release) -> TrendRelease:
    summary = release.summary
    return TrendRelease(
        name=release.name,
        folder=release.folder,
        made_at=release.made_at,
        n_users=summary.n_users,
        n_hidden=summary.hidden.n_groups if summary.hidden else 0,
        outcome=summary.outcome,
    )


def _metric(releases: Sequence[Release], metric: str) -> TrendMetric:
    """As in the newest release that has it."""
    newest = next(one for one in reversed(releases) if metric in one.summary.metrics)
    about = newest.summary.metrics[metric]
    return TrendMetric(definition=about.definition, higher_is_better=about.higher_is_better)


def _shown(
    lines: Lines, answers: Answers, releases: Sequence[Release], named: bool
) -> list[TrendLine]:
    """The lines in the result, with what is known of each."""
    since, together = answers
    findings = set() if named else _findings(releases, set(lines.metrics))
    shown = []
    for line, metric in enumerate(lines.metrics):
        reasons: dict[Why, bool] = {
            "named": named,
            "finding": lines.conditions(line) in findings,
            "one attribute": len(lines.groups[line]) == 1,
            "worse since": line in since,
        }
        if why := next((reason for reason, is_so in reasons.items() if is_so), None):
            shown.append(
                TrendLine(
                    group=dict(lines.groups[line]),
                    metric=metric,
                    why=why,
                    points=tuple(lines.points[line]),
                    worse_since=since.get(line),
                    together=together.get(line),
                )
            )
    return shown


def _findings(releases: Sequence[Release], metrics: set[str]) -> set[Conditions]:
    """Groups that were findings in the most releases, those of the smallest p-value first."""
    looks: dict[Conditions, set[int]] = {}
    least: dict[Conditions, float] = {}
    for look, release in enumerate(releases):
        for metric in metrics & set(release.summary.metrics):
            for finding in release.summary.metrics[metric].findings:
                group = frozenset((name, str(value)) for name, value in finding.group.items())
                least[group] = min(least.get(group, 1.0), finding.p_adjusted)
                looks.setdefault(group, set()).add(look)
    first = sorted(looks, key=lambda group: (-len(looks[group]), least[group], sorted(group)))
    return set(first[:MOST_FINDINGS])


Answers = tuple[dict[int, WorseSince], dict[int, WorseTogether]]
"""By line: since when its harm grew, and whether there is one by all releases."""


def _follow(
    lines: Lines,
    releases: Sequence[Release],
    is_narrow: BoolArray,
    shared: FloatArray,
    alpha: float,
) -> Answers:
    """Ask both questions of all lines.

    Parameters
    ----------
    is_narrow : (n_lines,), groups of several attributes; see `shares_of_level`
    shared : (n_things, n_lines, n_releases, n_releases), see `evidence_of_change`
    """
    # a growth does not depend on how much the same items differ among themselves
    is_same = (shared[0] > 1 - ROUNDING).all(axis=(1, 2))
    error = np.where(is_same[:, None], lines.error_by_users, lines.error)
    growth = evidence_of_change(lines.harm, error, shared)
    # items are all there are: they differ by luck only through users
    together = evidence_of_harm(lines.harm, lines.error_by_users, shared)
    shares = shares_of_level(lines.is_known, is_narrow.astype(np.int64))
    grew, worse = (Detection.of(evidence, shares, alpha) for evidence in (growth, together))
    since: dict[int, WorseSince] = {}
    for line in map(int, np.flatnonzero(grew.at >= 0)):
        strongest = grew.strongest[line]
        first, size = int(growth.since[line, strongest]), float(growth.size[line, strongest])
        known = np.flatnonzero(lines.is_known[line])
        earlier = known[known < first]
        weights = lines.error[line][earlier] ** -2.0
        before = float(np.average(lines.harm[line][earlier], weights=weights))
        since[line] = WorseSince(
            since=first,
            release=releases[first].name,
            shown_at=releases[int(grew.at[line])].name,
            before=before,
            growth=size,
            p_adjusted=float(grew.p_value[line]),
            is_back=bool(lines.harm[line][known[-1]] < before + size / 2),
        )
    by_all = {
        line: WorseTogether(
            harm=float(together.size[line, -1]),
            shown_at=releases[int(worse.at[line])].name,
            p_adjusted=float(worse.p_value[line]),
        )
        for line in map(int, np.flatnonzero(worse.at >= 0))
    }
    return since, by_all


def _rank(line: TrendLine) -> tuple[Any, ...]:
    """Worse since first, then findings, then by name."""
    since = line.worse_since
    conditions = sorted((plain(name), str(value)) for name, value in line.group.items())
    return (
        (0, since.is_back, since.p_adjusted) if since else (1, False, 1.0),
        ("named", "worse since", "finding", "one attribute").index(line.why),
        conditions,
        line.metric,
    )
