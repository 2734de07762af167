"""The libraries beside the definitions on MovieLens-1M, user by user.

`python -m tests.metrics.oracles.movielens FOLDER` reads `interactions.parquet` (`user_id`,
`item_id`, `rating`, `timestamp`) from a folder that you bring, and prints how far apart the values
are. It needs pandas, scipy and the libraries. `--save DIR` keeps the two tables for other tools.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from tests.metrics.oracles.libraries import LIBRARIES
from tests.metrics.oracles.peers import PEERS, expected
from tests.metrics.oracles.tables import LONGEST, Tables

CUTOFFS = (1, 5, 10, 20)
LIKED = 4
SHARE_HELD_OUT = 0.2
NO_LIST_EVERY, SHORT_LIST_EVERY, SHORT_LIST = 50, 20, 3


def main() -> None:
    """Print the largest difference of each measure, and the means of both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--save", type=Path)
    options = parser.parse_args()
    tables = movielens(options.folder)
    if options.save:
        save(tables, options.save)
    n_lists = len(set(tables.lists) & set(tables.held_out))
    n_items = sum(map(len, tables.held_out.values()))
    print(
        f"{len(tables.held_out)} users with {n_items} held-out items, {n_lists} of them with a list"
    )
    for library, values in LIBRARIES.items():
        found = values(tables, CUTOFFS)
        for peer in PEERS[library]:
            for k in CUTOFFS:
                theirs = {user: peer.value(mine, k) for user, mine in found.items()}
                ours = {user: expected(peer, tables, user, k) for user in found}
                apart = max(abs(theirs[user] - ours[user]) for user in found)
                n_apart = sum(abs(theirs[user] - ours[user]) > 1e-12 for user in found)
                means = [sum(values.values()) / len(found) for values in (theirs, ours)]
                print(
                    f"{library}: {peer.measure(k)}: {len(found)} users, {n_apart} apart, at most "
                    f"{apart:.1e}; means {means[0]:.6f} and {means[1]:.6f}"
                )


def movielens(folder: Path) -> Tables:
    """The last fifth of what each user liked is held out; item-kNN on the rest."""
    import numpy as np
    import pandas as pd
    from scipy.sparse import csr_matrix

    rows = pd.read_parquet(folder / "interactions.parquet")
    # in some copies of the data only these have a time
    liked = rows[rows["rating"] >= LIKED].sort_values(["user_id", "timestamp", "item_id"])
    place = liked.groupby("user_id").cumcount(ascending=False)
    n_liked = liked.groupby("user_id")["item_id"].transform("size")
    is_held_out = place < np.maximum(1, np.floor(SHARE_HELD_OUT * n_liked))
    train, test = liked[~is_held_out], liked[is_held_out]

    items = np.sort(train["item_id"].unique())
    users = np.sort(train["user_id"].unique())
    at = (np.searchsorted(users, train["user_id"]), np.searchsorted(items, train["item_id"]))
    is_seen = csr_matrix((np.ones(len(train), np.float32), at))
    lists = _item_knn_lists(is_seen)
    held_out: dict[int, dict[int, int]] = {}
    for user, item, rating in test[["user_id", "item_id", "rating"]].itertuples(index=False):
        held_out.setdefault(int(user), {})[int(item)] = int(rating)
    return Tables(
        {
            int(user): items[lists[i, : SHORT_LIST if i % SHORT_LIST_EVERY == 1 else None]].tolist()
            for i, user in enumerate(users)
            if i % NO_LIST_EVERY
        },
        held_out,
    )


def _item_knn_lists(is_seen: Any) -> Any:
    """(n_users, 10), positions of the items with the largest summed cosines, none seen before."""
    import numpy as np

    norms = np.sqrt(np.asarray(is_seen.sum(axis=0)).ravel())
    cosines = (is_seen.T @ is_seen).toarray() / np.outer(norms, norms)
    lists = []
    for start in range(0, is_seen.shape[0], 1000):
        mine = is_seen[start : start + 1000]
        scores = np.where(mine.toarray() > 0, -1, mine @ cosines)
        lists.append(np.argsort(-scores, axis=1, kind="stable")[:, :LONGEST])
    return np.concatenate(lists)


def save(tables: Tables, folder: Path) -> None:
    """Both tables as Parquet."""
    import pandas as pd

    folder.mkdir(parents=True, exist_ok=True)
    recs = [
        (user, item, place)
        for user, items in tables.lists.items()
        for place, item in enumerate(items, start=1)
    ]
    test = [
        (user, item, label)
        for user, mine in tables.held_out.items()
        for item, label in mine.items()
    ]
    for name, rows, last in (("recs", recs, "rank"), ("test", test, "rating")):
        frame = pd.DataFrame(rows, columns=["user_id", "item_id", last])
        frame.to_parquet(folder / f"{name}.parquet", index=False)


if __name__ == "__main__":
    main()
