from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from fairrec.demo.world_options import WorldOptions
from fairrec_paper.datasets.synthetic import SHAPES, shaped_like, synthetic_bundle


def small_world(**options):
    return synthetic_bundle(WorldOptions(n_users=600, n_items=300, **options))


def per_gender(bundle, value: pl.Expr) -> dict[str, float]:
    """Mean over users of a value of their interactions, by gender."""
    popularity = bundle.interactions.group_by("item_id").len("popularity")
    categories = bundle.items.select("item_id", first=pl.col("categories").list.first())
    rows = bundle.interactions.join(popularity, on="item_id").join(categories, on="item_id")
    means = (
        rows.group_by("user_id")
        .agg(value.alias("value"))
        .join(bundle.users, on="user_id")
        .group_by("gender")
        .agg(pl.col("value").mean())
    )
    return dict(means.iter_rows())


TOP_SHARE = pl.col("first").value_counts(sort=True).struct.field("count").first() / pl.len()
MEAN_POPULARITY = pl.col("popularity").mean()


def test_the_same_seed_makes_the_same_world():
    one, two = small_world(seed=3), small_world(seed=3)
    assert one.interactions.equals(two.interactions)
    assert not one.interactions.equals(small_world(seed=4).interactions)


def test_an_accuracy_gap_makes_choices_random():
    means = per_gender(small_world(worse_served={"gender": "F"}), TOP_SHARE)
    assert means["F"] < 0.5 * means["M"]


def test_a_diversity_gap_narrows_choices():
    means = per_gender(small_world(worse_served={"gender": "F"}, gap="diversity"), TOP_SHARE)
    assert means["F"] > 1.3 * means["M"]


def test_a_popularity_gap_turns_to_what_few_choose():
    means = per_gender(small_world(worse_served={"gender": "F"}, gap="popularity"), MEAN_POPULARITY)
    # nearly half of all users choose so, which evens out what is popular
    assert means["F"] < 0.92 * means["M"]


@pytest.mark.parametrize(
    ("shape", "n_groups"),
    [
        ("movielens-1m", 294),
        ("lfm360k", 53_058),
        ("blackfriday", 8_820),
        ("amazon-electronics", 1_000),
    ],
)
def test_shapes_have_the_published_number_of_groups(shape, n_groups):
    sizes = [len(values) for values in SHAPES[shape].attributes.values()]
    assert np.prod(sizes) == n_groups
    small = synthetic_bundle(shaped_like(shape, n_users=500, n_items=400))
    assert small.users.height == 500
    assert small.manifest.name == f"synthetic {shape}"
