from __future__ import annotations

import polars as pl

from fairrec.datasets.synthetic import synthetic_world


def small_world(**options):
    return synthetic_world(n_users=300, n_items=120, **options)


def test_the_same_seed_makes_the_same_world():
    one, two = small_world(seed=3), small_world(seed=3)
    assert one.candidates.equals(two.candidates)
    assert one.history.equals(two.history)
    assert not one.history.equals(small_world(seed=4).history)


def test_each_user_has_one_target_that_is_not_in_the_history():
    world = small_world()
    assert world.candidates.group_by("user_id").agg(pl.col("label").sum())[
        "label"
    ].unique().to_list() == [1]
    known = world.candidates.join(world.history, on=["user_id", "item_id"], how="inner")
    assert known.is_empty()


def test_candidates_are_in_random_order():
    world = small_world()
    first = world.candidates.group_by("user_id", maintain_order=True).first()
    assert first["label"].mean() < 0.1


def taste_by_gender(world) -> dict[str, float]:
    """Mean share of a user's history that lies in the category they took most."""
    taste = (
        world.history.join(world.items, on="item_id")
        .explode("categories")
        .group_by("user_id", "categories")
        .len()
        .group_by("user_id")
        .agg((pl.col("len").max() / pl.col("len").sum()).alias("taste"))
        .join(world.users, on="user_id")
        .group_by("gender")
        .agg(pl.col("taste").mean())
    )
    return dict(taste.iter_rows())


def test_only_the_planted_group_lacks_taste():
    planted = taste_by_gender(small_world(worse_served={"gender": "F"}))
    assert planted["F"] < 0.8 * planted["M"]
    none = taste_by_gender(small_world(worse_served=None))
    assert abs(none["F"] - none["M"]) < 0.05
