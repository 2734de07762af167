"""Recommendations by RecTools: `python -m tests.inputs.made_by.make_rectools`."""

from __future__ import annotations

from tests.inputs.made_by.world import HERE, TEST, TRAIN


def main() -> None:
    """Item-kNN for users with a history as Parquet, popular items for everyone as CSV."""
    import pandas as pd
    from implicit.nearest_neighbours import CosineRecommender
    from rectools import Columns
    from rectools.dataset import Dataset
    from rectools.models import ImplicitItemKNNWrapperModel, PopularModel

    names = {"rating": Columns.Weight, "timestamp": Columns.Datetime}
    train, test = (pd.read_csv(path).rename(columns=names) for path in (TRAIN, TEST))
    for interactions in (train, test):
        interactions[Columns.Datetime] = pd.to_datetime(interactions[Columns.Datetime], unit="s")
    dataset = Dataset.construct(train)
    everyone = pd.unique(pd.concat([train, test])[Columns.User])
    warm = train[Columns.User].unique()

    out = HERE / "rectools"
    out.mkdir(exist_ok=True)
    model = ImplicitItemKNNWrapperModel(CosineRecommender(K=20))
    model.fit(dataset)
    recs = model.recommend(users=warm, dataset=dataset, k=10, filter_viewed=True)
    recs.to_parquet(out / "item_knn.parquet", index=False)
    recs.to_csv(out / "item_knn_with_index.csv")

    popular = PopularModel()
    popular.fit(dataset)
    recs = popular.recommend(users=everyone, dataset=dataset, k=10, filter_viewed=True)
    recs.to_csv(out / "popular.csv", index=False)
    # its table of interactions, with the names that RecTools asks for
    test.to_parquet(out / "test.parquet", index=False)


if __name__ == "__main__":
    main()
