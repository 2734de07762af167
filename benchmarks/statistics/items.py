"""Worlds of items that compete for the places of lists: level, harm, and what intervals hold.

The items are fixed and users are drawn, so that the truth is what very many users would show, and
nothing is wrong where every group then gets its due, however much items differ one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np
import polars as pl

import fairrec
from benchmarks.statistics.rates import Claim
from benchmarks.statistics.said import results
from benchmarks.statistics.study import Outcome, Study, Trial, happened
from benchmarks.statistics.world import PERMUTATIONS
from fairrec.auditing.items import measure_exposure
from fairrec.core.arrays import AnyArray, FloatArray
from fairrec.core.audit_options import AuditOptions, Engine
from fairrec.inputs.table_options import TableOptions
from fairrec.metrics.direction import harm
from fairrec.metrics.reading import ItemsRead, read_items
from fairrec.statistics.analysis import Analysis, analyse
from fairrec.statistics.verdict import BEYOND as WORSE_BY_MORE
from fairrec.statistics.verdict import decide_verdicts

K = 10
RATIO = f"exposure_to_relevance@{K}"
METRICS = f"exposure@{K},{RATIO}"
ALPHA = 0.05
LEVEL = "a group of items is found"
GAP_LEVEL = "a gap is beyond chance"
GREW = "any group is said to be exposed less since a release"
BEYOND = "the kind held back is worse beyond tolerance"
FALSE_BY_MORE = "a group that is worse by no more than matters is called so"
ALL_HELD = "all differences are in their intervals at once"
ONE_HELD = "a difference is in its own interval"
CERTIFIED = "no group is worse by more than the certificate says"


@dataclass(frozen=True, slots=True)
class Market:
    """Items with attributes, and users who choose among them.

    Parameters
    ----------
    kinds : the share of items of each kind
    skew : how much the popularity of items varies, on the scale of logarithms
    effect : how much less popular the items of one kind are, on the same scale
    withheld : how much less often they are shown than they are wanted, on the same scale
    sharpness : of the ranking, how many times as much scores differ as what users want
    short : the share of users whose lists have from 1 to K items, instead of K
    n_many : users from whom the truth is known
    """

    name: str
    n_items: int = 200
    n_users: int = 1000
    kinds: tuple[float, ...] = (0.5, 0.3, 0.15, 0.05)
    skew: float = 1.0
    effect: float = 0.0
    withheld: float = 0.0
    sharpness: float = 1.0
    short: float = 0.0
    n_many: int = 300_000

    def drawn(self, rng: np.random.Generator) -> tuple[AnyArray, AnyArray, FloatArray]:
        """The kind and origin of each item, and its popularity."""
        kind = rng.choice(4, self.n_items, p=self.kinds)
        origin = rng.integers(0, 3, self.n_items)
        popularity = rng.normal(scale=self.skew, size=self.n_items) - self.effect * (kind == 2)
        return kind, origin, popularity

    def shown(self, rng: np.random.Generator, n_users: int, items: Any) -> dict[str, pl.DataFrame]:
        """The tables of users who have a taste for one kind."""
        kind, origin, popularity = items
        taste = rng.integers(0, 4, n_users)
        liking = popularity + 1.5 * (kind == taste[:, None])
        shown = self.sharpness * (liking - self.withheld * (kind == 2))
        ranked, wanted = (
            np.argsort(-(of + rng.gumbel(size=of.shape)), axis=1)[:, :K] for of in (shown, liking)
        )
        n_listed = np.where(rng.random(n_users) < self.short, rng.integers(1, K + 1, n_users), K)
        n_wanted = rng.integers(1, 6, n_users)
        place = np.arange(K)
        is_listed, is_wanted = place < n_listed[:, None], place < n_wanted[:, None]
        users = np.repeat(np.arange(n_users), K).reshape(-1, K)
        return {
            "predictions": pl.DataFrame(
                {
                    "user_id": users[is_listed],
                    "item_id": ranked[is_listed],
                    "rank": np.tile(place + 1, (n_users, 1))[is_listed],
                }
            ),
            "test": pl.DataFrame({"user_id": users[is_wanted], "item_id": wanted[is_wanted]}),
            "items": pl.DataFrame(
                {"item_id": np.arange(self.n_items), "kind": kind, "origin": origin}
            ),
        }


def looked_at(tables: dict[str, pl.DataFrame], metrics: str, by: str = "kind,origin") -> ItemsRead:
    beside = {name: table for name, table in tables.items() if name != "predictions"}
    given = TableOptions(**beside, side="items", by=by, metrics=metrics)
    return read_items(tables["predictions"], given)


def analysed(read: ItemsRead, **options: Any) -> Analysis:
    chosen = {
        "permutations": PERMUTATIONS,
        "engine": Engine(threads=1),
        "min_support": 5,
        **options,
    }
    return analyse_items(read, AuditOptions(**chosen))


def analyse_items(read: ItemsRead, options: AuditOptions) -> Analysis:
    """The analysis in an audit of items."""
    found = measure_exposure(read, options)
    return analyse(found.measured, found.grouping, found.options, blocks=found.blocks)


@cache
def truth(market: Market, world: int, metrics: str) -> tuple[Any, FloatArray]:
    """The items of a world, and the differences that very many users show."""
    rng = np.random.default_rng([world, 1])
    items = market.drawn(rng)
    parts = [looked_at(market.shown(rng, market.n_many // 10, items), metrics) for _ in range(10)]
    analyses = [analysed(part, permutations=0).moments.difference for part in parts]
    return items, np.mean(analyses, axis=0)


def found_in(analysis: Analysis) -> dict[str, Outcome]:
    """What is beyond chance."""
    gaps = [one.chance for one in results(analysis)]
    is_beyond = [gap is not None and gap.p_value <= ALPHA for gap in gaps]
    return {
        LEVEL: happened(bool(analysis.is_beyond_chance.any())),
        GAP_LEVEL: (float(sum(is_beyond)), float(len(gaps))),
    }


def level_of_tastes(
    seed: int,
    n_users: int = 1000,
    n_items: int = 200,
    taste: float = 2.0,
    n_kinds: int = 4,
    skew: float = 0.0,
) -> dict[str, Outcome]:
    """Every user likes one kind of items, and as many would like any other: no kind differs.

    Which kind is liked by most of the users who came is luck, and all of its items share it.

    Parameters
    ----------
    skew : how much the popularity of items varies; the same in each kind
    """
    rng = np.random.default_rng(seed)
    kind = np.arange(n_items) % n_kinds
    popularity = np.repeat(rng.normal(scale=skew, size=-(-n_items // n_kinds)), n_kinds)[:n_items]
    liking = popularity + taste * (kind == rng.integers(0, n_kinds, n_users)[:, None])
    ranked = np.argsort(-(liking + rng.gumbel(size=liking.shape)), axis=1)[:, :K]
    tables = {
        "predictions": pl.DataFrame({"user_id": np.arange(n_users), "item_id": ranked.tolist()}),
        "items": pl.DataFrame({"item_id": np.arange(n_items), "kind": kind}),
    }
    return found_in(analysed(looked_at(tables, f"exposure@{K}", "kind"), seed=seed))


def of_few_candidates(
    seed: int, n_users: int = 100, n_items: int = 1000, n_candidates: int = 20, taste: float = 2.0
) -> dict[str, Outcome]:
    """The same, and each item is a candidate in two lists or so: no kind differs."""
    rng = np.random.default_rng(seed)
    candidates = np.array([rng.permutation(n_items)[:n_candidates] for _ in range(n_users)])
    liking = taste * (candidates % 4 == rng.integers(0, 4, n_users)[:, None])
    known = np.unique(candidates)
    tables = {
        "predictions": pl.DataFrame(
            {
                "user_id": np.repeat(np.arange(n_users), n_candidates),
                "item_id": candidates.ravel(),
                "score": (liking + rng.gumbel(size=liking.shape)).ravel(),
                "label": np.tile(np.arange(n_candidates) == 0, n_users).astype(np.int64),
            }
        ),
        "items": pl.DataFrame({"item_id": known, "kind": known % 4}),
    }
    return found_in(analysed(looked_at(tables, "exposure@5", "kind"), seed=seed))


def of_unequal_twins(
    seed: int,
    n_users: int = 1000,
    n_pairs: int = 150,
    skew: float = 1.0,
    n_kinds: int = 4,
    preferred: float = 0.8,
    activity: float = 0.0,
) -> dict[str, Outcome]:
    """Items come in pairs that are wanted alike, of which one is shown instead of the other.

    A pair is in one group and gets its due: groups are alike, though no item is.

    Parameters
    ----------
    n_kinds : by Zipf's law, so that the last ones are of a few pairs
    preferred : how often the first of a pair takes the place of the other
    activity : how much the numbers of items differ that users want and are shown
    """
    rng = np.random.default_rng(seed)
    n_items = 2 * n_pairs
    share = 1 / np.arange(1, n_kinds + 1)
    kind = rng.choice(n_kinds, n_pairs, p=share / share.sum()).repeat(2)
    origin = rng.integers(0, 3, n_pairs).repeat(2)
    popularity = rng.normal(scale=skew, size=n_pairs).repeat(2)
    wanted, shown = (
        np.argsort(-(popularity + rng.gumbel(size=(n_users, n_items))), axis=1)[:, :K]
        for _ in range(2)
    )
    # all that is wanted is due equally much, so the places of what is shown are dealt out
    n_listed = np.clip(np.exp(rng.normal(np.log(4), activity, n_users)), 1, K).astype(np.int64)
    lists = []
    for row, n in zip(shown, n_listed, strict=True):
        one, other = row[:n], row[:n] ^ 1
        is_first = (row[:n] % 2 == 1) & ~np.isin(other, one) & (rng.random(n) < preferred)
        lists.append(rng.permutation(np.where(is_first, other, one)).tolist())
    users = np.arange(n_users)
    held_out = [row[:n].tolist() for row, n in zip(wanted, n_listed, strict=True)]
    tables = {
        "predictions": pl.DataFrame({"user_id": users, "item_id": lists}),
        "test": pl.DataFrame({"user_id": users, "item_id": held_out}).explode("item_id"),
        "items": pl.DataFrame({"item_id": np.arange(n_items), "kind": kind, "origin": origin}),
    }
    read = looked_at(tables, f"exposure_to_relevance@{K}")
    return found_in(analysed(read, seed=seed, min_support=2))


def held_back(seed: int, market: Market, tolerance: float = 0.2) -> dict[str, Outcome]:
    """How often one kind that lists hold back is shown to be worse beyond tolerance."""
    rng = np.random.default_rng(seed)
    tables = market.shown(rng, market.n_users, market.drawn(rng))
    read = looked_at(tables, RATIO)
    analysis = analysed(read, seed=seed, tolerance=f"{tolerance:g}")
    of_groups = decide_verdicts(analysis, [True])[0].groups.of_groups
    codes = analysis.grouping.lattice.codes
    kinds = [str(value) for value in analysis.grouping.attributes[0].values]
    at = np.flatnonzero((codes[:, 0] == kinds.index("2")) & (codes[:, 1] < 0))
    return {BEYOND: happened(bool((of_groups[at] == WORSE_BY_MORE).all()))}


def just_what_matters(seed: int, market: Market) -> dict[str, Outcome]:
    """The worst group is worse by exactly the tolerance, and all others by less."""
    items, true = truth(market, seed % 2, RATIO)
    rng = np.random.default_rng(seed)
    read = looked_at(market.shown(rng, market.n_users, items), RATIO)
    analysis = analysed(read, seed=seed, tolerance=f"{-true[0].min():.9g}")
    return {
        FALSE_BY_MORE: happened(
            (decide_verdicts(analysis, [True])[0].groups.of_groups == WORSE_BY_MORE).any()
        )
    }


def releases(seed: int, market: Market, withheld: Sequence[float]) -> dict[str, Outcome]:
    """The same items, shown to other users in each release; one kind held back by so much."""
    rng = np.random.default_rng(seed)
    items, audits = market.drawn(rng), []
    for held_back in withheld:
        tables = replace(market, withheld=held_back).shown(rng, market.n_users, items)
        given: dict[str, Any] = {**tables, **QUICK, "by": "kind,origin"}
        audits.append(fairrec.audit(given.pop("predictions"), **given, seed=seed))
    return {GREW: happened(bool(fairrec.trend(audits).worse))}


def of_little_known(
    seed: int, n_users: int = 1000, n_items: int = 500, k: int = 1
) -> dict[str, Outcome]:
    """Items are shown as they are wanted, and most of them are hardly ever: all ratios are 1.

    All places are due to what users wanted, so that what nobody wanted is due nothing, and what
    one user wanted is due more than very many users would say.
    """
    rng = np.random.default_rng(seed)
    kind = (np.arange(n_items) < 0.3 * n_items).astype(np.int64)
    popularity = np.log(10) * kind + rng.normal(scale=0.3, size=n_items)
    ranked, wanted = (
        np.argsort(-(popularity + rng.gumbel(size=(n_users, n_items))), axis=1)[:, :k].tolist()
        for _ in range(2)
    )
    users = np.arange(n_users)
    tables = {
        "predictions": pl.DataFrame({"user_id": users, "item_id": ranked}),
        "test": pl.DataFrame({"user_id": users, "item_id": wanted}).explode("item_id"),
        "items": pl.DataFrame({"item_id": np.arange(n_items), "kind": kind}),
    }
    read = looked_at(tables, f"exposure_to_relevance@{k}", "kind")
    return found_in(analysed(read, seed=seed))


def coverage(seed: int, market: Market, metrics: str = METRICS) -> dict[str, Outcome]:
    items, true = truth(market, seed % 2, metrics)
    rng = np.random.default_rng(seed)
    analysis = analysed(looked_at(market.shown(rng, market.n_users, items), metrics), seed=seed)
    found = analysis.estimates
    low, high = found.simultaneous
    is_in = (true >= low) & (true <= high)
    alone = (true >= found.difference_low) & (true <= found.difference_high)
    is_certified = True
    for i, (groups, verdict) in enumerate(decide_verdicts(analysis, [True] * len(true))):
        worse = harm(true[i], analysis.measured.metrics[i].metric.higher_is_better)
        is_open = groups.of_groups > 1
        for point in verdict.certificate:
            among = is_open & (analysis.moments.n[i] >= point.support)
            is_certified &= bool((worse[among] <= point.harm).all())
    return {
        ALL_HELD: happened(bool(is_in.all())),
        ONE_HELD: (float(alone.sum()), float(alone.size)),
        CERTIFIED: happened(is_certified),
    }


FULL = Market("full lists")
SHORT = Market("short lists", short=0.8)
SKEWED = Market("popular items take most places", skew=2.5)
FEW = Market("200 users", n_users=200)
WORSE = Market("one kind is shown less", effect=1.5)
FILMS = Market(
    "a few films are held back by a factor of 12",
    n_items=500,
    n_users=2000,
    kinds=(0.5, 0.3, 0.04, 0.16),
    skew=2.0,
    withheld=float(np.log(12)),
    sharpness=1.7,
)
HELD_BACK = (
    (FILMS, 0.95, "0"),
    (Market("a kind is held back by a factor of 12", withheld=float(np.log(12))), 0.95, "1"),
    (Market("a kind is held back by a factor of 2", withheld=0.7), 0.9, "0.88"),
)
A_LITTLE = (
    Market("a kind is held back by a fifth", withheld=0.2),
    replace(FILMS, name="a few films are held back by a third", withheld=0.3),
    Market("a kind is held back by a third, 200 users", n_users=200, withheld=0.4),
)
QUICK: dict[str, Any] = {
    "metrics": METRICS,
    "min_support": 5,
    "statistics": fairrec.Statistics(permutations=99),
    "tables": fairrec.Tables(side="items"),
    "engine": Engine(threads=1),
}
NO_EFFECT = (Claim(LEVEL, None, ALPHA), Claim(GAP_LEVEL, None, ALPHA))
WITHOUT_EFFECT: tuple[tuple[str, Trial, dict[str, float]], ...] = (
    ("users like kinds with a few popular items", level_of_tastes, {"skew": 2.5}),
    ("one of two items is shown instead of the other", of_unequal_twins, {}),
    ("the same, a few items take most places", of_unequal_twins, {"skew": 2.5}),
    ("the same, many kinds of a few items", of_unequal_twins, {"n_kinds": 40}),
    ("the same, users of unequal activity", of_unequal_twins, {"activity": 1.5, "skew": 2.0}),
    ("the same, 60 users", of_unequal_twins, {"n_users": 60, "n_kinds": 20, "skew": 2.0}),
)
MARKETS = (FULL, SHORT, SKEWED, FEW, WORSE, FILMS)

STUDIES = (
    Study("items, no effect, users like kinds", level_of_tastes, NO_EFFECT),
    Study(
        "items, no effect, a few users like each of many kinds",
        partial(level_of_tastes, n_users=200, taste=6.0, n_kinds=40),
        (Claim(LEVEL, None, ALPHA, before="0.22"), Claim(GAP_LEVEL, None, ALPHA, before="0.46")),
    ),
    Study(
        "items, no effect, candidates in few lists",
        of_few_candidates,
        (Claim(LEVEL, None, ALPHA, before="0.2"), Claim(GAP_LEVEL, None, ALPHA)),
    ),
    Study("items, shown as they are wanted by few", of_little_known, NO_EFFECT),
    *(
        Study(f"items, no effect, {name}", partial(world, **how), NO_EFFECT)
        for name, world, how in WITHOUT_EFFECT
    ),
    Study(
        "items, releases without a change",
        partial(releases, market=FEW, withheld=[0.0] * 5),
        (Claim(GREW, None, ALPHA),),
    ),
    Study(
        "items, one kind is held back from the fourth release on",
        partial(releases, market=FULL, withheld=[0.0] * 3 + [0.5] * 2),
        (Claim(GREW, 0.8),),
    ),
    *(
        Study(
            f"items, {market.name}, tolerance 0.2",
            partial(held_back, market=market),
            (Claim(BEYOND, least, before=before),),
        )
        for market, least, before in HELD_BACK
    ),
    *(
        Study(
            f"items, {market.name}, which is the tolerance",
            partial(just_what_matters, market=market),
            (Claim(FALSE_BY_MORE, None, 0.01),),
        )
        for market in A_LITTLE
    ),
    *(
        Study(
            f"items, {market.name}",
            partial(coverage, market=market),
            (Claim(ALL_HELD, 0.94), Claim(ONE_HELD, 0.93), Claim(CERTIFIED, 0.94)),
        )
        for market in MARKETS
    ),
)
