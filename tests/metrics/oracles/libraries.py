"""The metrics of three libraries, a value per user and measure, from the same two tables.

Measures have the names and parameters of their library. A user whom a library leaves out has no
row. `python -m tests.metrics.oracles.libraries LIBRARY ...` writes `LIBRARY.csv` for the small
world; only these libraries must be installed (see README.md for versions).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.inputs.made_by.world import write
from tests.metrics.oracles.tables import HERE, Tables, read

CUTOFFS = (1, 5, 10, 20)
Values = Mapping[int, Mapping[str, float]]
"""Users, measures of a library, values."""


def rectools(tables: Tables, cutoffs: Sequence[int] = CUTOFFS) -> Values:
    """It has no graded labels: every held-out item counts 1."""
    import pandas as pd
    from rectools.metrics import MAP, MRR, NDCG, HitRate, Precision, Recall

    recs = pd.DataFrame(
        [
            (user, item, place)
            for user, items in tables.lists.items()
            for place, item in enumerate(items, start=1)
        ],
        columns=["user_id", "item_id", "rank"],
    )
    pairs = [(user, item) for user, items in tables.held_out.items() for item in items]
    interactions = pd.DataFrame(pairs, columns=["user_id", "item_id"])
    measures: dict[str, Any] = {}
    for k in cutoffs:
        measures |= {
            f"Recall(k={k})": Recall(k=k),
            f"Precision(k={k})": Precision(k=k),
            f"HitRate(k={k})": HitRate(k=k),
            f"MRR(k={k})": MRR(k=k),
            f"MAP(k={k})": MAP(k=k),
            f"MAP(k={k}, divide_by_k=True)": MAP(k=k, divide_by_k=True),
            f"NDCG(k={k})": NDCG(k=k),
            f"NDCG(k={k}, divide_by_achievable=True)": NDCG(k=k, divide_by_achievable=True),
        }
    found = {name: one.calc_per_user(recs, interactions) for name, one in measures.items()}
    return _by_user({name: values.to_dict() for name, values in found.items()})


def ranx(tables: Tables, cutoffs: Sequence[int] = CUTOFFS) -> Values:
    """Users without a list get an empty one with `make_comparable`; else it is an error."""
    from ranx import Qrels, Run, evaluate

    names = [
        f"{name}@{k}"
        for k in cutoffs
        for name in ("recall", "precision", "hit_rate", "mrr", "map", "ndcg", "ndcg_burges")
    ]
    run = {
        str(user): {str(item): float(-place) for place, item in enumerate(items)}
        for user, items in tables.lists.items()
    }
    found: dict[str, Mapping[int, float]] = {}
    for labels, measures in (("rating", names), ("1", [n for n in names if n.startswith("ndcg@")])):
        qrels = {
            str(user): {
                str(item): rating if labels == "rating" else 1 for item, rating in of.items()
            }
            for user, of in tables.held_out.items()
        }
        answered = Run(run)
        # the mean is thrown away: it gives the values of each user by their ids
        evaluate(Qrels(qrels), answered, measures, make_comparable=True)
        for measure in measures:
            name = measure if labels == "rating" else f"{measure}, labels 1"
            found[name] = {int(user): float(v) for user, v in answered.scores[measure].items()}
    return _by_user(found)


def ir_measures(tables: Tables, cutoffs: Sequence[int] = CUTOFFS) -> Values:
    """trec_eval and its like; ids are text, and higher scores come first."""
    import ir_measures as library

    names = [f"{name}@{k}" for k in cutoffs for name in ("R", "P", "Success", "RR", "AP", "nDCG")]
    run = [
        library.ScoredDoc(str(user), str(item), float(-place))
        for user, items in tables.lists.items()
        for place, item in enumerate(items)
    ]
    found: dict[str, dict[int, float]] = {}
    for labels, measures in (("rating", names), ("1", [n for n in names if n.startswith("nDCG@")])):
        qrels = [
            library.Qrel(str(user), str(item), rating if labels == "rating" else 1)
            for user, of in tables.held_out.items()
            for item, rating in of.items()
        ]
        parsed = {library.parse_measure(name): name for name in measures}
        for one in library.iter_calc(list(parsed), qrels, run):
            name = parsed[one.measure] if labels == "rating" else f"{parsed[one.measure]}, labels 1"
            found.setdefault(name, {})[int(one.query_id)] = float(one.value)
    return _by_user(found)


LIBRARIES: Mapping[str, Callable[..., Values]] = {
    "rectools": rectools,
    "ranx": ranx,
    "ir_measures": ir_measures,
}


def main() -> None:
    """Write one table a library that is named."""
    tables = read()
    for library in sys.argv[1:]:
        found = LIBRARIES[library](tables)
        names = sorted(next(iter(found.values())), key=_by_name_and_cutoff)
        rows = [[user, *(mine[name] for name in names)] for user, mine in sorted(found.items())]
        write(HERE / f"{library}.csv", ["user_id", *names], rows)


def _by_name_and_cutoff(measure: str) -> tuple[str, int]:
    (k,) = re.findall(r"(?<=[=@])\d+", measure)
    return re.sub(r"\d+", "", measure), int(k)


def _by_user(found: Mapping[str, Mapping[int, float]]) -> Values:
    users = sorted({user for values in found.values() for user in values})
    return {
        user: {name: values[user] for name, values in found.items() if user in values}
        for user in users
    }


if __name__ == "__main__":
    main()
