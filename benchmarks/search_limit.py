"""What a search could find at best where all gaps are chance, as on the shape of LFM360K.

Groups of that shape whose users' values are independent and normal. What a popularity proxy tells
of them is known at once; all parameters are known too: nothing is left to learn but the values.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.measure import Row, call_in_child

BUDGETS = (0.02, 0.05, 0.1)
CORRELATION = 0.16
"""Of the popularity proxy with the values; MRR and NDCG have about that."""
N_WORLDS = 150
N_PATHS = 400
STEPS = 32
"""A group is scored in about so many steps, as `adaptive` does."""


def run(shrink: int) -> Iterator[Row]:
    """The rule of `adaptive` with everything known, and a bound on every rule."""
    for what, function, n in (
        ("largest improvement per user, all but the values known", informed, N_WORLDS),
        ("no searcher finds more in the mean than", bound, N_PATHS),
    ):
        _, shares = call_in_child(function, n // shrink)
        words = ", ".join(f"{share:.3f}" for share in shares["found"])
        error = f" (standard error {shares['error']:.3f} at the last)" if "error" in shares else ""
        percents = ", ".join(f"{budget:.0%}" for budget in BUDGETS)
        yield Row("search-limit", f"chance alone, {percents}: {what}", words + error)


def _sizes() -> Any:
    """Expected users of the eligible combinations."""
    import numpy as np

    from fairrec_paper.datasets.synthetic import SHAPES

    shape = SHAPES["lfm360k"]
    sizes = np.array([float(shape.n_users)])
    for shares in shape.attributes.values():
        weights = np.array([*shares.values()])
        sizes = np.outer(sizes, weights / weights.sum()).ravel()
    return np.round(sizes[sizes >= 0.001 * shape.n_users])


def informed(n_worlds: int) -> dict[str, Any]:
    """Share of the gap found by the group of most expected improvement per user left."""
    import numpy as np

    from fairrec.search.searchers.posterior import expected_improvement

    n = _sizes()
    rows = []
    for seed in range(n_worlds):
        rng = np.random.default_rng(seed)
        known = CORRELATION * rng.normal(size=len(n)) / np.sqrt(n)
        noise = np.sqrt(1 - CORRELATION**2)
        seen = [np.cumsum(noise * rng.normal(size=int(size))) / size for size in n]
        values = known + np.array([sums[-1] for sums in seen])
        mean, left = known.copy(), n.copy()
        highest, lowest, spent = -np.inf, np.inf, 0.0
        found: list[float] = []
        while len(found) < len(BUDGETS):
            spread = noise * np.sqrt(left) / n
            # before a group is complete, both ends are at the mean of all users
            above = expected_improvement(mean - (highest if np.isfinite(highest) else 0.0), spread)
            below = expected_improvement((lowest if np.isfinite(lowest) else 0.0) - mean, spread)
            rates = np.where(left > 0, (above + below) / np.maximum(left, 1), -1.0)
            at = int(np.argmax(rates))
            n_more = -(-left[at] // STEPS)
            spent += n_more
            while len(found) < len(BUDGETS) and spent > BUDGETS[len(found)] * n.sum():
                found.append(max(highest - lowest, 0.0) / np.ptp(values))
            left[at] -= n_more
            mean[at] = known[at] + seen[at][int(n[at] - left[at]) - 1]
            if left[at] == 0:
                highest, lowest = max(highest, mean[at]), min(lowest, mean[at])
        rows.append(found)
    error = np.std(rows, axis=0)[-1] / np.sqrt(n_worlds)
    return {"found": np.mean(rows, axis=0).tolist(), "error": float(error)}


def bound(n_paths: int) -> dict[str, Any]:
    """An upper bound on the mean gap found with a budget, as a share of the mean gap.

    The budget holds in the mean only, at a price for each user, half of it paid for either end.
    Then the two ends are apart, and each is a search of boxes opened in stages at a price, whose
    best expected outcome is that of the highest of the groups' lowest reservation values (Weitzman
    1979; Dumitriu, Tetali and Winkler 2003). The least over prices is the bound.
    """
    import numpy as np

    n = _sizes()[:, None]
    rng = np.random.default_rng(0)
    n_steps = 64
    noise = np.sqrt(1 - CORRELATION**2)
    known = CORRELATION * rng.normal(size=(n_paths, len(n), 1))
    moves = noise / np.sqrt(n_steps) * rng.normal(size=(n_paths, len(n), n_steps))
    paths = np.concatenate([known, known + np.cumsum(moves, axis=2)], axis=2) / np.sqrt(n)
    exact = np.ptp(paths[:, :, -1], axis=1).mean()
    open_share = 1 - np.arange(n_steps) / n_steps
    spread = noise * np.sqrt(open_share / n)
    costs = np.geomspace(1e-6, 6, 60)
    margins = np.array([_least_margin(cost, n_steps) for cost in costs])
    bounds = []
    for price in np.geomspace(1e-7, 1e-4, 40):
        cost = price / 2 * n * open_share / spread
        # what costs this much is only worth it if it is nearly certain
        margin = np.where(cost > costs[-1], cost, np.interp(np.log(cost), np.log(costs), margins))
        both = 0.0
        for end in (paths, -paths):
            reserved = (end[:, :, :-1] - spread * margin).min(axis=2)
            both += np.minimum(reserved, end[:, :, -1]).max(axis=1).mean()
        bounds.append([(both + price * budget * n.sum()) / exact for budget in BUDGETS])
    return {"found": np.min(bounds, axis=0).tolist()}


def _least_margin(cost: float, n_steps: int) -> Any:
    """Lead from which on a group is worth going on with, in deviations of what it will be.

    Parameters
    ----------
    cost : of all its users, in the same unit; it may be given up after each step
    """
    import numpy as np
    from numpy.polynomial.hermite_e import hermegauss

    nodes, weights = hermegauss(15)
    lead = np.linspace(-8, 6, 1401)
    after = lead[:, None] + nodes / np.sqrt(n_steps)
    worth = np.maximum(lead, 0)
    for _ in range(n_steps):
        # beyond the grid it is as good as certain
        expected = np.interp(after, lead, worth) + np.maximum(after - lead[-1], 0)
        going_on = expected @ (weights / weights.sum()) - cost / n_steps
        worth = np.maximum(going_on, 0)
    return np.interp(0, going_on, lead)
