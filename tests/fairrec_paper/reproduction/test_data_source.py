from __future__ import annotations

from fairrec.demo.world_options import WorldOptions
from fairrec_paper.datasets.bundle import write_bundle
from fairrec_paper.datasets.synthetic import synthetic_bundle
from fairrec_paper.reproduction.data import DataSource


def test_the_title_says_what_is_used_and_for_what(tmp_path):
    titles = {
        "movielens-1m": "MovieLens-1M, 60 users",
        "movielens-100k": "MovieLens-100K in the place of MovieLens-1M, 60 users",
        "synthetic movielens-1m": "synthetic shape of MovieLens-1M, 60 users",
    }
    for name, title in titles.items():
        folder = tmp_path / name
        write_bundle(synthetic_bundle(WorldOptions(name=name, n_users=60, n_items=40)), folder)
        source = DataSource("movielens-1m", folder, "any")
        assert source.title == title
        assert source.is_synthetic == name.startswith("synthetic")
