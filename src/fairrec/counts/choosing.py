"""What of counts is audited: some of their attributes, circumstances and metrics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import polars as pl

from fairrec.core.errors import InputError, plain, unknown_name
from fairrec.core.options import Blank, spelled
from fairrec.counts.splitting import split_families
from fairrec.counts.table import FAMILY, LEVEL, SHARE, USERS, Counts, squares_of


def chosen(
    counts: Counts,
    by: Sequence[str],
    given: Sequence[str],
    metrics: Sequence[str] | None,
) -> Counts:
    """The counts of these attributes, circumstances and metrics; all of them where none is named.

    What is not named is added up over.
    """
    info = counts.info
    assert info is not None
    keys = {**info.attributes, **info.circumstances}
    said = {**_specs(info.attributes, info.by), **_specs(info.circumstances, info.given)}
    attributes = _named("by", by, [*info.attributes], said, counts.where)
    circumstances = _named("given", given, [*info.circumstances], said, counts.where)
    if both := [name for name in attributes if name in circumstances]:
        if not given:
            circumstances = [name for name in circumstances if name not in both]
        else:
            raise InputError(
                f"'{plain(both[0])}' is in {spelled('by')} and in {spelled('given')}: users who "
                "are alike in it cannot be compared by it. Leave it out of one of them."
            )
    _refuse_unknown_missing(counts, attributes)
    wanted = [*info.metrics] if metrics is None else _metrics(metrics, [*info.metrics])
    families = [one for one in info.families if any(name in wanted for name in one)]
    if any(name not in wanted for one in families for name in one):
        counts = split_families(counts)
        assert counts.info is not None
        info = counts.info
        families = [one for one in info.families if one[0] in wanted]
    columns = [FAMILY, *attributes, *circumstances, LEVEL, USERS]
    sums = [n for name in (*wanted, SHARE) for n in (name, squares_of(name))]
    names = {",".join(one) for one in families} | {*info.missing}
    outcomes = {
        name: about.model_copy(update={"metrics": kept})
        for name, about in info.missing.items()
        if (kept := tuple(one for one in about.metrics if one in wanted))
    }
    rows = counts.rows.filter(pl.col(FAMILY).is_in([*names])).select(
        name for name in columns + sums if name in counts.rows.columns
    )
    told = info.model_copy(
        update={
            "by": tuple(said[name] for name in attributes),
            "given": tuple(said[name] for name in circumstances),
            "attributes": {name: keys[name] for name in attributes},
            "circumstances": {name: keys[name] for name in circumstances},
            "families": tuple(families),
            "metrics": {name: info.metrics[name] for name in wanted},
            "levels": {name: row for name, row in info.levels.items() if name in wanted},
            "missing": outcomes,
        }
    )
    return replace(counts, rows=rows, info=told).summed()


def _refuse_unknown_missing(counts: Counts, attributes: Sequence[str]) -> None:
    """Who is missing is counted by attributes alone: by a circumstance nobody would seem to be."""
    info = counts.info
    assert info is not None
    others = [name for name in attributes if name not in info.attributes]
    is_missing = pl.col(FAMILY).is_in([*info.missing]) & (pl.col(SHARE) > 0)
    if others and info.missing and counts.rows.filter(is_missing).height:
        raise InputError(
            f"{counts.where}: '{plain(others[0])}' was counted as a circumstance, and some users "
            "are missing, which circumstances do not tell. Count again with it as an attribute: "
            f"{spelled('by', [others[0]])}"
        )


def _specs(keys: Iterable[str], asked: Sequence[str]) -> dict[str, str]:
    """How each was named: with its bins, or one attribute of several of a column."""
    return {
        key: next((spec for spec in asked if key in (spec, spec.rpartition(":")[0])), key)
        for key in keys
    }


def _named(
    option: str, asked: Sequence[str], usual: list[str], said: Mapping[str, str], where: str
) -> list[str]:
    """The keys that are asked for, by their names; those that are usual where none is."""
    if not asked:
        return usual
    found = []
    for text in asked:
        name = next((key for key, spec in said.items() if text in (key, spec)), None)
        if name is None:
            plain_name = text.rpartition(":")[0]
            if plain_name in said:
                raise InputError(
                    f"{where}: '{plain(plain_name)}' was counted as {plain(said[plain_name])}, and "
                    f"cannot be cut as {plain(text)}. Count again, or take it as it is: "
                    f"{spelled(option, [plain_name])}"
                )
            raise InputError(f"{where}: {unknown_name('attribute', text, said)}")
        found.append(name)
    return [*dict.fromkeys(found)]


def _metrics(asked: Iterable[str], known: list[str]) -> list[str]:
    found = []
    for text in asked:
        same = [name for name in known if name.lower() == text.lower()]
        with_cutoff = [name for name in known if name.partition("@")[0].lower() == text.lower()]
        if len(same or with_cutoff) != 1:
            raise unknown_name("metric in these counts", text, known)
        found.append((same or with_cutoff)[0])
    if not found:
        raise InputError(f"No metric is named. Example: {spelled('metrics', Blank(known[0]))}")
    return [*dict.fromkeys(found)]
