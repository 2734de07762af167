"""Recommendations by LensKit: `python -m tests.inputs.made_by.make_lenskit`."""

from __future__ import annotations

from tests.inputs.made_by.world import HERE, TEST, TRAIN


def main() -> None:
    """Item-kNN for the users of the test data: as a frame, and both layouts of Parquet.

    Users without a history get an empty list: a row in the native layout, none in the others.
    """
    import pandas as pd
    from lenskit.batch import recommend
    from lenskit.data import ItemListCollection, UserIDKey, from_interactions_df
    from lenskit.knn import ItemKNNScorer
    from lenskit.pipeline import topn_pipeline

    train = from_interactions_df(pd.read_csv(TRAIN))
    test = ItemListCollection.from_df(pd.read_csv(TEST), UserIDKey)
    pipeline = topn_pipeline(ItemKNNScorer(k=20), n=10)
    pipeline.train(train)
    recs = recommend(pipeline, test, n_jobs=1)

    out = HERE / "lenskit"
    out.mkdir(exist_ok=True)
    recs.to_df().to_csv(out / "to_df.csv", index=False)
    recs.save_parquet(out / "native.parquet")
    recs.save_parquet(out / "flat.parquet", layout="flat")
    test.save_parquet(out / "test_native.parquet")


if __name__ == "__main__":
    main()
