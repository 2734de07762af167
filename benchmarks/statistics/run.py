"""All studies, each in children of its own, as rows of the table of benchmarks."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from benchmarks.measure import Row, call_in_child
from benchmarks.statistics.rates import Claim, Rate

N_WORLDS, N_QUICK = 400, 40
N_CHILDREN = 2
"""Side by side; each draws its part of the worlds on one core."""


def run(shrink: int) -> Iterator[Row]:
    """The rate of every claim, study after study."""
    n_worlds = N_WORLDS if shrink == 1 else N_QUICK
    _, n_studies = call_in_child(count_studies)
    size = n_worlds // N_CHILDREN
    with ThreadPoolExecutor(N_CHILDREN) as pool:
        for number in range(n_studies):
            parts = [
                pool.submit(call_in_child, worlds_of, number, at * size, size)
                for at in range(N_CHILDREN)
            ]
            answers = [part.result()[1] for part in parts]
            for at, claim in enumerate(answers[0]["claims"]):
                outcomes = [outcome for answer in answers for outcome in answer["outcomes"][at]]
                rate = Rate(answers[0]["world"], Claim(**claim), outcomes)
                what = f"{rate.world}: {rate.claim.what}"
                yield Row("statistics", what, str(rate), rate.claim.bar, rate.is_met)


def count_studies() -> int:
    """How many kinds of worlds there are."""
    from benchmarks.statistics.studies import STUDIES

    return len(STUDIES)


def worlds_of(number: int, first: int, n_worlds: int) -> dict[str, Any]:
    """The claims of a study and their outcomes in so many worlds, from a number on."""
    from dataclasses import asdict

    from benchmarks.statistics.studies import STUDIES

    study = STUDIES[number]
    return {
        "world": study.world,
        "claims": [asdict(claim) for claim in study.claims],
        "outcomes": study.outcomes(first, n_worlds),
    }
