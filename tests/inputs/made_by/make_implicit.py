"""Recommendations by implicit: `python -m tests.inputs.made_by.make_implicit`."""

from __future__ import annotations

from tests.inputs.made_by.world import HERE, TRAIN


def main() -> None:
    """The arrays of ALS and item-kNN in a long table.

    `recommend` returns `ids` and `scores`, one row a user, always N long. What is missing is filled
    by item-kNN with the position -1, by ALS with the user's own items of training, by both with
    the score -3.4e38, the lowest 32-bit float.
    """
    import numpy as np
    import pandas as pd
    from implicit.als import AlternatingLeastSquares
    from implicit.nearest_neighbours import CosineRecommender
    from scipy.sparse import csr_matrix

    train = pd.read_csv(TRAIN)
    users, items = (train[name].astype("category") for name in ("user_id", "item_id"))
    ratings = train["rating"].astype(np.float32)
    matrix = csr_matrix((ratings, (users.cat.codes, items.cat.codes)))

    out = HERE / "implicit"
    out.mkdir(exist_ok=True)
    als = AlternatingLeastSquares(factors=8, iterations=5, random_state=1, num_threads=1)
    item_knn = CosineRecommender(K=2, num_threads=1)
    for model in (als, item_knn):
        model.fit(matrix, show_progress=False)
    everyone = np.arange(matrix.shape[0])
    for name, model, userids, n in (
        ("als", als, everyone, 10),
        ("als_more_than_there_are", als, everyone[:6], matrix.shape[1]),
        ("item_knn_short", item_knn, everyone, 20),
    ):
        ids, scores = model.recommend(userids, matrix[userids], N=n)
        recs = pd.DataFrame(
            {
                "user_id": np.repeat(users.cat.categories[userids], ids.shape[1]),
                # as a position, -1 would be the last item
                "item_id": np.where(ids < 0, -1, items.cat.categories.to_numpy()[ids]).ravel(),
                "score": scores.ravel(),
            }
        )
        recs.to_csv(out / f"{name}.csv", index=False)


if __name__ == "__main__":
    main()
