"""What groups' values will be once all their users are scored, and what to pay for seeing them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.core.kernels import kernel
from fairrec.search.evidence import Evidence
from fairrec.search.searchers.adaptive.normal_tails import improvement_of


class Groups(NamedTuple):
    """The groups asked for, and the sums over the scored users of all cells, as they are now.

    Parameters
    ----------
    cells : (n_groups,)
    metrics : positions of those that are looked at
    """

    cells: IntArray
    metrics: IntArray
    n_users: IntArray
    n_scored: IntArray
    n_defined: FloatArray
    totals: FloatArray
    proxies: FloatArray
    all_proxies: FloatArray

    @classmethod
    def of(cls, evidence: Evidence, cells: IntArray, metrics: list[int]) -> Groups:
        """The sums are not copied, so what is scored later is in them."""
        return cls(
            np.ascontiguousarray(cells, dtype=np.int64),
            np.array(metrics, dtype=np.int64),
            np.ascontiguousarray(evidence.space.cells.n_users, dtype=np.int64),
            evidence.n_scored,
            evidence.n_defined,
            evidence.totals,
            evidence.proxies,
            evidence.all_proxies,
        )


class Beliefs(NamedTuple):
    """What is believed of each metric that is looked at, before a group's own users are seen.

    Parameters
    ----------
    mean, variance : (n_metrics, n_groups), of the true mean of a group
    noise, slope, share_defined : (n_metrics,)
    """

    mean: FloatArray
    variance: FloatArray
    noise: FloatArray
    slope: FloatArray
    share_defined: FloatArray


class Ends(NamedTuple):
    """(n_metrics,) each, the ends of the gaps so far and the unit of their improvement."""

    highest: FloatArray
    lowest: FloatArray
    unit: FloatArray


@kernel
def value_to_come(
    n_left: int,
    n: float,
    total: float,
    proxies: float,
    all_proxies: float,
    mean: float,
    variance: float,
    noise: float,
    slope: float,
    share_defined: float,
    ahead: int,
) -> tuple[float, float]:
    """Mean and standard deviation of what one group's value will be once all users are scored.

    The users still to score have the group's true mean, known up to its posterior, plus noise;
    with none of them left the deviation is 0.

    Parameters
    ----------
    mean, variance : of the true mean before any of the group's own users are seen
    ahead : users that are taken to be scored already, and to be as expected
    """
    precision = 1 / variance + n / noise
    expected = (mean / variance + (total - slope * proxies) / noise) / precision
    # users scored and undefined drop out, and as many of the others as there were so far
    to_score = n_left * share_defined
    size = max(n + to_score, 1.0)
    to_come = slope * (all_proxies - proxies) * share_defined + to_score * expected
    precision += ahead * share_defined / noise
    to_score -= ahead * share_defined
    spread = math.sqrt(to_score * to_score / precision + to_score * noise) / size
    return (total + to_come) / size, spread


@kernel
def values_to_come(
    groups: Groups, beliefs: Beliefs, i: int, at: IntArray
) -> tuple[FloatArray, FloatArray]:
    """(len(at),) each, the same for several groups and one of the metrics looked at."""
    # tuples of arrays are taken apart outside of loops: each hand-over of one is counted
    cells, metrics, n_users, n_scored, n_defined, totals, proxies, all_proxies = groups
    means, variances, noise, slope, share_defined = beliefs
    metric = metrics[i]
    mean, spread = np.empty(len(at)), np.empty(len(at))
    for j in range(len(at)):
        cell = cells[at[j]]
        mean[j], spread[j] = value_to_come(
            n_users[cell] - n_scored[cell],
            n_defined[metric, cell],
            totals[metric, cell],
            proxies[metric, cell],
            all_proxies[metric, cell],
            means[i, at[j]],
            variances[i, at[j]],
            noise[i],
            slope[i],
            share_defined[i],
            0,
        )
    return mean, spread


@kernel
def rate_groups(
    groups: Groups, beliefs: Beliefs, ends: Ends, at: IntArray, ahead: int
) -> FloatArray:
    """(len(at),), expected improvement over all metrics and both ends, per user still to score.

    Parameters
    ----------
    ahead : users of each of these groups that are taken to be scored already
    """
    cells, metrics, n_users, n_scored, n_defined, totals, proxies, all_proxies = groups
    means, variances, noise, slope, share_defined = beliefs
    highest, lowest, unit = ends
    rates = np.zeros(len(at))
    for j in range(len(at)):
        cell = cells[at[j]]
        n_left = n_users[cell] - n_scored[cell]
        if n_left <= ahead:
            continue
        for i in range(len(metrics)):
            metric = metrics[i]
            mean, spread = value_to_come(
                n_left,
                n_defined[metric, cell],
                totals[metric, cell],
                proxies[metric, cell],
                all_proxies[metric, cell],
                means[i, at[j]],
                variances[i, at[j]],
                noise[i],
                slope[i],
                share_defined[i],
                ahead,
            )
            above = improvement_of(mean - highest[i], spread)
            below = improvement_of(lowest[i] - mean, spread)
            rates[j] += (above + below) / unit[i]
        rates[j] /= n_left - ahead
    return rates


@kernel
def best_rated(rates: FloatArray, n: int) -> IntArray:
    """Positions of the `n` highest rates, in order."""
    n = min(n, len(rates))
    best = np.arange(n)
    least = np.argmin(rates[:n])
    for at in range(n, len(rates)):
        if rates[at] > rates[best[least]]:
            best[least] = at
            least = np.argmin(rates[best])
    best.sort()
    return best


@kernel
def share_out(
    groups: Groups,
    beliefs: Beliefs,
    ends: Ends,
    best: IntArray,
    rates: FloatArray,
    n_users: int,
    steps: int,
) -> IntArray:
    """(len(best),), how many users of each group to score: at least so many together.

    Each time a part of the group that is worth most by then, if those already shared out turn out
    as expected.

    Parameters
    ----------
    rates : (len(best),)
    """
    shares = np.zeros(len(best), dtype=np.int64)
    now = rates.copy()
    while n_users > 0:
        j = np.argmax(now)
        if now[j] <= 0:
            break
        cell = groups.cells[best[j]]
        n_left = groups.n_users[cell] - groups.n_scored[cell] - shares[j]
        n_more = -(-n_left // steps)
        shares[j] += n_more
        n_users -= n_more
        now[j] = rate_groups(groups, beliefs, ends, best[j : j + 1], shares[j])[0]
    return shares
