"""Several audits of one recommender -> what became of groups, release after release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from fairrec.auditing.saved_audits import Audited
from fairrec.core.arrays import FloatArray
from fairrec.core.audited_entity import Unit
from fairrec.core.errors import InputError, errors_of_libraries, listed, plain, unknown_name
from fairrec.core.options import documented
from fairrec.core.redact_paths import redact_command
from fairrec.core.version import __version__
from fairrec.trends.group_lines import (
    Followed,
    Lines,
    build_lines,
    exchanged,
    follow,
    members_in_common,
    users_in_common,
)
from fairrec.trends.options import Conditions, TrendOptions
from fairrec.trends.releases import (
    Release,
    differing_settings,
    held_out_in_common,
    read_releases,
)
from fairrec.trends.result import (
    TrendLine,
    TrendMetric,
    TrendRelease,
    TrendResult,
    TrendSummary,
    Users,
    WorseSince,
    WorseTogether,
)

MOST_FINDINGS = 10


@errors_of_libraries()
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
    _refuse_unlike(releases)
    metrics, not_followed = _metrics(releases, chosen.metric)
    lines = build_lines(releases, metrics, chosen.group)
    members = members_in_common(releases, lines)
    held_out = held_out_in_common(releases)
    # held-out data are those of users: of other users they are others
    things = [members] if held_out.all() else [members, members * held_out]
    is_broad = np.array([len(group) == 1 for group in lines.groups], dtype=bool)
    tiers = np.zeros(len(is_broad), dtype=np.int64) if chosen.group else (~is_broad).astype(int)
    followed = follow(lines, tiers, np.array(things), chosen.alpha)
    shown = _shown(lines, followed, releases, named=bool(chosen.group))
    users = users_in_common(releases)
    unit = releases[-1].summary.unit
    about_users = _about_users(users, unit)
    summary = TrendSummary(
        fairrec_version=__version__,
        command=redact_command(command or "fairrec.trend(...)"),
        alpha=chosen.alpha,
        unit=unit,
        order=order,
        releases=tuple(
            TrendRelease(
                name=release.name,
                folder=release.folder,
                made_at=release.made_at,
                n_users=release.summary.n_users,
                n_hidden=release.summary.hidden.n_groups if release.summary.hidden else 0,
                outcome=release.summary.outcome,
            )
            for release in releases
        ),
        metrics={name: _about(releases, name) for name in metrics},
        users=users,
        n_groups=len({lines.conditions(line) for line in range(len(lines.groups))}),
        lines=tuple(sorted(shown, key=_rank)),
        notes=tuple(
            [*notes, *not_followed, *differing_settings(releases), *_gaps(lines, unit)]
            + ([about_users] if about_users else _exchanged(lines, members))
        ),
    )
    return TrendResult(summary)


def _refuse_unlike(releases: Sequence[Release]) -> None:
    """An error where some releases are of users and others of items."""
    of_unit = {release.summary.unit: release.name for release in releases}
    if len(of_unit) > 1:
        ways = (f"{unit.many} ({plain(name)})" for unit, name in of_unit.items())
        raise InputError(
            f"These are audits of {' and of '.join(ways)}, and what is measured of one says "
            "nothing of the other. Name audits of the same."
        )


def _about_users(users: Users, unit: Unit) -> str:
    """What is said of who was audited; nothing where they are all the same, or all others."""
    if users == "partly the same":
        return (
            f"Some {unit.many} were audited in several releases and some were not, which is "
            "reckoned with"
        )
    if users == "not known":
        return (
            f"{unit.audited} is not known for all releases, and {unit.many} may have been "
            "exchanged: a growth is harder to show then. Keep per_user.parquet, or audit the "
            f"{unit.many} of one table"
        )
    return ""


def _metrics(releases: Sequence[Release], named: Sequence[str]) -> tuple[list[str], list[str]]:
    """The metrics to follow, and what is said of others."""
    found = Counter(name for release in releases for name in release.summary.metrics)
    if named:
        for name in named:
            if name not in found:
                raise unknown_name("metric in these audits", name, found)
        return list(dict.fromkeys(named)), []
    often = [name for name, n in found.items() if n > 1]
    if not often:
        raise InputError(
            f"No metric is in two of these audits: {listed(found)}. A trend needs audits of the "
            "same metrics."
        )
    once = [name for name in found if name not in often]
    return often, [f"In one release only, and not followed: {listed(once)}"] if once else []


def _about(releases: Sequence[Release], metric: str) -> TrendMetric:
    """As the newest release that has it says."""
    newest = next(one for one in reversed(releases) if metric in one.summary.metrics)
    about = newest.summary.metrics[metric]
    return TrendMetric(definition=about.definition, higher_is_better=about.higher_is_better)


def _gaps(lines: Lines, unit: Unit) -> list[str]:
    has_gap = np.isnan(lines.numbers["value"]).any(axis=1)
    with_gaps = {lines.conditions(int(line)) for line in np.flatnonzero(has_gap)}
    if not with_gaps:
        return []
    n_groups = len({lines.conditions(line) for line in range(len(lines.groups))})
    return [
        f"{len(with_gaps):,} of {n_groups:,} groups are not in every release: too few {unit.many}, "
        "or other attributes, bins or metrics"
    ]


def _exchanged(lines: Lines, members: FloatArray) -> list[str]:
    """What is said where users are the same, and are in other groups than before."""
    others = {lines.conditions(int(line)) for line in np.flatnonzero(exchanged(members, lines))}
    if not others:
        return []
    n_groups = len({lines.conditions(line) for line in range(len(lines.groups))})
    return [
        f"{len(others):,} of {n_groups:,} groups have other members, or are compared with others, "
        "in some releases, which is reckoned with"
    ]


Why = Literal["named", "one attribute", "finding", "worse since"]


def _shown(
    lines: Lines, followed: Followed, releases: Sequence[Release], named: bool
) -> list[TrendLine]:
    """The lines that are told of, with what is said of each."""
    since, together = _worse_since(lines, followed, releases), _together(followed, releases)
    findings = set() if named else _findings(releases, set(lines.metrics))
    shown = []
    for line, metric in enumerate(lines.metrics):
        why: Why | None = None
        if named:
            why = "named"
        elif lines.conditions(line) in findings:
            why = "finding"
        elif len(lines.groups[line]) == 1:
            why = "one attribute"
        elif line in since:
            why = "worse since"
        if why is not None:
            shown.append(
                TrendLine(
                    group=dict(lines.groups[line]),
                    metric=metric,
                    why=why,
                    points=lines.points(line),
                    worse_since=since.get(line),
                    together=together.get(line),
                )
            )
    return shown


def _findings(releases: Sequence[Release], metrics: set[str]) -> set[Conditions]:
    """Groups that were findings in the most releases, the surest first."""
    often: Counter[Conditions] = Counter()
    surest: dict[Conditions, float] = {}
    for release in releases:
        in_this = set()
        for metric in metrics & set(release.summary.metrics):
            for finding in release.summary.metrics[metric].findings:
                group = frozenset((name, str(value)) for name, value in finding.group.items())
                surest[group] = min(surest.get(group, 1.0), finding.p_adjusted)
                in_this.add(group)
        often.update(in_this)
    first = sorted(often, key=lambda group: (-often[group], surest[group], sorted(group)))
    return set(first[:MOST_FINDINGS])


def _worse_since(
    lines: Lines, followed: Followed, releases: Sequence[Release]
) -> dict[int, WorseSince]:
    """Of each line whose harm grew; where neither end is better, only away from all others."""
    found: dict[int, WorseSince] = {}
    for end in np.flatnonzero(followed.grew.at >= 0):
        line, strongest = int(followed.line[end]), followed.grew.strongest[end]
        since = int(followed.growth.since[end, strongest])
        growth = float(followed.growth.size[end, strongest])
        harms, errors = followed.harm[end], lines.error[line]
        known = np.flatnonzero(lines.is_known[line])
        earlier = known[known < since]
        before = float(np.average(harms[earlier], weights=errors[earlier] ** -2.0))
        is_neutral = lines.directions[lines.metrics[line]] is None
        if is_neutral and before + growth <= abs(before):
            continue
        p_value = float(followed.grew.p_value[end])
        if line in found and found[line].p_adjusted <= p_value:
            continue
        found[line] = WorseSince(
            since=since,
            release=releases[since].name,
            said_at=releases[int(followed.grew.at[end])].name,
            before=before,
            growth=growth,
            p_adjusted=p_value,
            is_back=bool(harms[known[-1]] < before + growth / 2),
            end=("higher" if followed.sign[end] > 0 else "lower") if is_neutral else None,
        )
    return found


def _together(followed: Followed, releases: Sequence[Release]) -> dict[int, WorseTogether]:
    found: dict[int, WorseTogether] = {}
    for end in np.flatnonzero(followed.worse.at >= 0):
        line = int(followed.line[end])
        worse = WorseTogether(
            harm=float(followed.together.size[end, -1]),
            said_at=releases[int(followed.worse.at[end])].name,
            p_adjusted=float(followed.worse.p_value[end]),
        )
        if line not in found or worse.p_adjusted < found[line].p_adjusted:
            found[line] = worse
    return found


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
