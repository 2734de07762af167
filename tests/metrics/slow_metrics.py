"""Every metric of one user as an obvious loop: what the fast kernels must equal.

Written to be read as definitions. NaN where a value is undefined.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import combinations, permutations, product
from math import factorial, log, log2, nan, prod

from tests.metrics.metric_lists import Candidate, User, World, price_of


def ranking(candidates: User) -> list[Candidate]:
    """Highest score first; equal scores by what their items are mixed up to."""
    return sorted(candidates, key=lambda candidate: (-candidate.score, mixed_up(candidate.item)))


def mixed_up(item: int) -> int:
    """64 bits of an item id, for a user without an id."""
    key = 0xCBF29CE484222325
    for byte in str(item).encode():
        key = (key ^ byte) * 0x100000001B3 % 2**64
    return finalised(finalised(key))


def finalised(key: int) -> int:
    key = (key ^ key >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    key = (key ^ key >> 27) * 0x94D049BB133111EB % 2**64
    return key ^ key >> 31


def n_orders(candidates: User) -> int:
    """Orders of the equal scores."""
    return prod(factorial(n) for n in Counter(one.score for one in candidates).values())


def over_orders(metric: Callable[[User, int], float], candidates: User, k: int) -> float:
    """The mean over all orders of equal scores."""
    scores = sorted({one.score for one in candidates}, reverse=True)
    tied = [[one for one in candidates if one.score == score] for score in scores]
    values = []
    for order in product(*map(permutations, tied)):
        rows = [one for group in order for one in group]
        values.append(metric([row._replace(score=-at) for at, row in enumerate(rows)], k))
    return sum(values) / len(values)


def is_relevant(candidate: Candidate) -> bool:
    return candidate.label > 0


def count_relevant(candidates: User) -> int:
    return sum(1 for candidate in candidates if is_relevant(candidate))


def dcg(ranked: list[Candidate], k: int) -> float:
    total = 0.0
    for place, candidate in enumerate(ranked[:k], start=1):
        total += candidate.label / log2(place + 1)
    return total


def ndcg(candidates: User, k: int) -> float:
    if count_relevant(candidates) == 0:
        return nan
    ideal = sorted(candidates, key=lambda candidate: candidate.label, reverse=True)
    return dcg(ranking(candidates), k) / dcg(ideal, k)


def mrr(candidates: User, k: int) -> float:
    if count_relevant(candidates) == 0:
        return nan
    for place, candidate in enumerate(ranking(candidates)[:k], start=1):
        if is_relevant(candidate):
            return 1 / place
    return 0.0


def hit(candidates: User, k: int) -> float:
    if count_relevant(candidates) == 0:
        return nan
    return 1.0 if count_relevant(ranking(candidates)[:k]) > 0 else 0.0


def recall(candidates: User, k: int) -> float:
    if count_relevant(candidates) == 0:
        return nan
    return count_relevant(ranking(candidates)[:k]) / count_relevant(candidates)


def precision(candidates: User, k: int) -> float:
    if count_relevant(candidates) == 0:
        return nan
    return count_relevant(ranking(candidates)[:k]) / k


def average_precision(candidates: User, k: int) -> float:
    if count_relevant(candidates) == 0:
        return nan
    ranked = ranking(candidates)
    total = 0.0
    for place, candidate in enumerate(ranked[:k], start=1):
        if is_relevant(candidate):
            total += count_relevant(ranked[:place]) / place
    return total / min(count_relevant(candidates), k)


def auc(candidates: User) -> float:
    wins, n_pairs = 0.0, 0
    for relevant in candidates:
        for other in candidates:
            if is_relevant(relevant) and not is_relevant(other):
                n_pairs += 1
                if relevant.score > other.score:
                    wins += 1
                elif relevant.score == other.score:
                    wins += 0.5
    return wins / n_pairs if n_pairs else nan


def coverage(candidates: User, k: int) -> float:
    n_filled = 0
    for place in range(1, k + 1):
        if place <= len(candidates):
            n_filled += 1
    return n_filled / k


def urd(candidates: User, k: int, world: World) -> float:
    similarities = []
    for left, right in combinations(ranking(candidates)[:k], 2):
        mine = world.categories.get(left.item, frozenset())
        other = world.categories.get(right.item, frozenset())
        if mine and other:
            similarities.append(len(mine & other) / len(mine | other))
    return 1 - sum(similarities) / len(similarities) if similarities else nan


def ild(candidates: User, k: int, world: World) -> float:
    distances = []
    for left, right in combinations(ranking(candidates)[:k], 2):
        mine = world.categories.get(left.item, frozenset())
        other = world.categories.get(right.item, frozenset())
        if mine and other:
            distances.append(len(mine ^ other))
    return sum(distances) / len(distances) if distances else nan


def interactions(candidates: User, k: int, world: World) -> float:
    counts = [
        sum(1 for _, other in world.history if other == candidate.item)
        for candidate in ranking(candidates)[:k]
    ]
    return sum(counts) / len(counts) if counts else nan


def f1(candidates: User, k: int) -> float:
    both = precision(candidates, k), recall(candidates, k)
    return 2 * both[0] * both[1] / sum(both) if sum(both) else sum(both)


def popularity(item: int, world: World) -> float:
    n_interactions = sum(1 for _, other in world.history if other == item)
    return 100 * n_interactions / len(world.history)


def mean_popularity(items: list[int], world: World) -> float:
    return sum(popularity(item, world) for item in items) / len(items) if items else nan


def urp(candidates: User, k: int, world: World) -> float:
    position = next(i for i, other in enumerate(world.users) if other is candidates)
    recommended = [candidate.item for candidate in ranking(candidates)[:k]]
    chosen = [item for owner, item in world.history if owner == position]
    return mean_popularity(recommended, world) - mean_popularity(chosen, world)


def urp_abs(candidates: User, k: int, world: World) -> float:
    return abs(urp(candidates, k, world))


def miscalibration(candidates: User, k: int, world: World) -> float:
    position = next(i for i, other in enumerate(world.users) if other is candidates)
    chosen = sorted({item for owner, item in world.history if owner == position})
    wanted = category_distribution(chosen, world)
    shown = category_distribution([c.item for c in ranking(candidates)[:k]], world)
    if not wanted or not shown:
        return nan
    total = 0.0
    for name, amount in wanted.items():
        total += amount * log(amount / (0.99 * shown.get(name, 0.0) + 0.01 * amount))
    return total


def category_distribution(items: list[int], world: World) -> dict[str, float]:
    known = [item for item in items if world.categories.get(item)]
    amounts: dict[str, float] = {}
    for item in known:
        for name in world.categories[item]:
            amounts[name] = amounts.get(name, 0.0) + 1 / len(world.categories[item]) / len(known)
    return amounts


def share(candidates: User, k: int, world: World) -> float:
    has, all_places = 0.0, 0.0
    for place, candidate in enumerate(ranking(candidates)[:k], start=1):
        if world.categories.get(candidate.item):
            all_places += 1 / log2(place + 1)
            if "a" in world.categories[candidate.item]:
                has += 1 / log2(place + 1)
    return has / all_places if all_places else nan


def mean(candidates: User, k: int, world: World) -> float:
    items = [candidate.item for candidate in ranking(candidates)[:k]]
    prices = [price_of(item) for item in items if item in world.categories]
    known = [price for price in prices if price is not None]
    return sum(known) / len(known) if known else nan


def novelty(candidates: User, k: int, world: World) -> float:
    items = [candidate.item for candidate in ranking(candidates)[:k]]
    bits = [-log2(max(popularity(item, world), popularity_of_one(world)) / 100) for item in items]
    return sum(bits) / len(bits) if bits else nan


def popularity_of_one(world: World) -> float:
    return 100 / len(world.history)


def long_tail(candidates: User, k: int, world: World) -> float:
    items = sorted({item for _, item in world.history})
    by_popularity = sorted(items, key=lambda item: -popularity(item, world))
    head = by_popularity[: round(len(items) / 5)]
    shown = [candidate.item for candidate in ranking(candidates)[:k]]
    return sum(item not in head for item in shown) / len(shown) if shown else nan


SLOW_FROM_LABELS: dict[str, Callable[[User, int], float]] = {
    "ndcg": ndcg,
    "mrr": mrr,
    "hit": hit,
    "recall": recall,
    "precision": precision,
    "f1": f1,
    "map": average_precision,
}

SLOW_FROM_THE_LISTS_ALONE: dict[str, Callable[[User, int], float]] = {"coverage": coverage}

SLOW_FROM_SIDE_DATA: dict[str, Callable[[User, int, World], float]] = {
    "urd": urd,
    "ild": ild,
    "popularity": interactions,
    "urp": urp,
    "urp_abs": urp_abs,
    "miscalibration": miscalibration,
    "share": share,
    "mean": mean,
    "novelty": novelty,
    "long_tail": long_tail,
}
