"""Recommendations by recommenders: `python -m tests.inputs.made_by.make_recommenders`."""

from __future__ import annotations

from tests.inputs.made_by.world import HERE, TEST, TRAIN


def main() -> None:
    """SAR with its own names of columns, which the held-out table has too."""
    import pandas as pd
    from recommenders.models.sar import SAR

    names = {"user_id": "userID", "item_id": "itemID"}
    train, test = (pd.read_csv(path).rename(columns=names) for path in (TRAIN, TEST))
    model = SAR(similarity_type="jaccard", timedecay_formula=False)
    model.fit(train)
    # SAR stops at a user without a history
    known = test[test["userID"].isin(train["userID"])]
    recs = model.recommend_k_items(known, top_k=10, remove_seen=True)

    out = HERE / "recommenders"
    out.mkdir(exist_ok=True)
    recs.to_csv(out / "sar.csv", index=False)
    recs.to_parquet(out / "sar.parquet")
    test.to_csv(out / "test.csv", index=False)


if __name__ == "__main__":
    main()
