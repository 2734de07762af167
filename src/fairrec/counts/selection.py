"""Some attributes and metrics of counts, and counts to be passed on without small cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import polars as pl

from fairrec.core.errors import InputError, plain, unknown_name
from fairrec.core.options import spell
from fairrec.counts.merging import split_families
from fairrec.counts.table import FAMILY, LEVEL, SHARE, USERS, Counts, family_name, sum_columns
from fairrec.inputs.users import OTHER


def select_counts(
    counts: Counts, by: Sequence[str], adjust_for: Sequence[str], metrics: Sequence[str] | None
) -> Counts:
    """The counts of some attributes, covariates and metrics, added up over all others.

    All of a kind where none is named.
    """
    info = counts.about
    keys = info.described_keys
    # how each was named: with its bins, or one attribute of several of a column
    specs = {
        key: next((spec for spec in asked if key in (spec, spec.rpartition(":")[0])), key)
        for found, asked in ((info.attributes, info.by), (info.covariates, info.adjust_for))
        for key in found
    }
    attributes = _find_keys(by, specs, counts.where) or [*info.attributes]
    covariates = _find_keys(adjust_for, specs, counts.where) or [*info.covariates]
    both = [name for name in attributes if name in covariates]
    if both and adjust_for:
        raise InputError(
            f"'{plain(both[0])}' is in {spell('by')} and in {spell('adjust_for')}: users who are "
            "alike in it do not differ in it. Leave it out of one of them."
        )
    covariates = [name for name in covariates if name not in both]
    _refuse_unknown_missing(counts, attributes)
    wanted = [*info.metrics] if metrics is None else _find_metrics(metrics, [*info.metrics])
    if any({*one} & {*wanted} and {*one} - {*wanted} for one in info.families):
        counts = split_families(counts)
        info = counts.about
    families = tuple(one for one in info.families if one[0] in wanted)
    outcomes = {
        name: about.model_copy(update={"metrics": kept})
        for name, about in info.missing.items()
        if (kept := tuple(one for one in about.metrics if one in wanted))
    }
    columns = [FAMILY, *attributes, *covariates, LEVEL, USERS, *sum_columns((*wanted, SHARE))]
    names = [*map(family_name, families), *info.missing]
    rows = counts.rows.filter(pl.col(FAMILY).is_in(names)).select(
        name for name in columns if name in counts.rows.columns
    )
    selected = info.model_copy(
        update={
            "by": tuple(specs[name] for name in attributes),
            "adjust_for": tuple(specs[name] for name in covariates),
            "attributes": {name: keys[name] for name in attributes},
            "covariates": {name: keys[name] for name in covariates},
            "families": families,
            "metrics": {name: info.metrics[name] for name in wanted},
            "levels": {name: row for name, row in info.levels.items() if name in wanted},
            "missing": outcomes,
        }
    )
    return replace(counts, rows=rows, info=selected).summed()


def _refuse_unknown_missing(counts: Counts, attributes: Sequence[str]) -> None:
    """Missing users are counted by attributes alone, so a covariate cannot become one."""
    info = counts.about
    others = [name for name in attributes if name not in info.attributes]
    is_missing = pl.col(FAMILY).is_in([*info.missing]) & (pl.col(SHARE) > 0)
    if others and counts.rows.filter(is_missing).height:
        raise InputError(
            f"{counts.where}: '{plain(others[0])}' was counted as a covariate, without the users "
            f"who are missing. Count again with it as an attribute: {spell('by', [others[0]])}"
        )


def _find_keys(asked: Sequence[str], specs: Mapping[str, str], where: str) -> list[str]:
    """Attributes or covariates by their names, or as they were counted."""
    found = []
    for text in asked:
        name = next((key for key, spec in specs.items() if text in (key, spec)), None)
        if name is None:
            raise InputError(f"{where}: {unknown_name('attribute', text, specs.values())}")
        found.append(name)
    return [*dict.fromkeys(found)]


def _find_metrics(asked: Iterable[str], known: list[str]) -> list[str]:
    found = []
    for text in asked:
        same = [name for name in known if name.lower() == text.lower()]
        with_cutoff = [name for name in known if name.partition("@")[0].lower() == text.lower()]
        if len(same or with_cutoff) != 1:
            raise unknown_name("metric in these counts", text, known)
        found.append((same or with_cutoff)[0])
    return [*dict.fromkeys(found)]


def without_small_cells(counts: Counts, least: int | None) -> Counts:
    """The same with every combination of fewer users merged into larger ones.

    The attribute with most values is given up first, so that a group of few attributes loses few
    of its users. A user who is dropped would be missing from every group; one who is merged is
    missing from those of the attributes that were given up.
    """
    info = counts.info
    if least is None or info is None:
        return counts
    families = [family_name(one) for one in info.families]
    audited = counts.rows.filter(pl.col(FAMILY).is_in(families))
    everyone = audited.filter(pl.col(FAMILY) == families[0])
    rows, n_merged = _merged(audited, everyone, counts.keys, least)
    # who is missing is counted among others than the audited, each time
    missing = [
        _merged(mine, mine, [*info.attributes], least)[0]
        for name in info.missing
        if (mine := counts.rows.filter(pl.col(FAMILY) == name)).height
    ]
    note = (
        f"combinations of fewer than {least:,} users are merged into '{OTHER}': "
        f"{n_merged:,} users, whom groups of their values miss"
    )
    merged = info.model_copy(
        update={
            "min_shown": least,
            "n_merged": n_merged,
            "warnings": (*info.warnings, *([note] if n_merged else [])),
        }
    )
    return replace(counts, rows=pl.concat([rows, *missing]), info=merged).summed()


def _merged(
    rows: pl.DataFrame, everyone: pl.DataFrame, keys: Sequence[str], least: int
) -> tuple[pl.DataFrame, int]:
    """The rows by merged combinations, and how many users were in those that were too small.

    Parameters
    ----------
    everyone : rows that hold each user once
    """
    shown = {f"{name} shown": name for name in keys}
    cells = everyone.group_by(keys).agg(pl.col(USERS).sum())
    cells = cells.with_columns(pl.col(name).alias(new) for new, name in shown.items())
    n_merged = int(cells.filter(pl.col(USERS) < least)[USERS].sum())
    finest = sorted(shown, key=lambda name: -cells[name].n_unique())
    is_small = pl.col(USERS).sum().over([*shown]) < least
    for name in finest:
        cells = cells.with_columns(_other_where(is_small, name))
    # what is left over takes the smallest of the others with it
    while True:
        sizes = cells.group_by([*shown]).agg(pl.col(USERS).sum()).sort(USERS, *shown)
        if sizes.height == 1 or sizes[USERS][0] >= least:
            break
        joined = sizes.head(2).select(pl.col([*shown]), pl.lit(True).alias("is_joined"))
        cells = cells.join(joined, on=[*shown], how="left", nulls_equal=True)
        is_joined = pl.col("is_joined").fill_null(False)
        cells = cells.with_columns(_other_where(is_joined, name) for name in shown)
        cells = cells.drop("is_joined")
    rows = rows.join(cells.drop(USERS), on=keys, how="left", nulls_equal=True)
    columns = [column for column in rows.columns if column not in shown]
    renamed = (pl.col(new).alias(name) for new, name in shown.items())
    return rows.with_columns(renamed).select(columns), n_merged


def _other_where(is_merged: pl.Expr, name: str) -> pl.Expr:
    return pl.when(is_merged).then(pl.lit(OTHER)).otherwise(pl.col(name)).alias(name)
