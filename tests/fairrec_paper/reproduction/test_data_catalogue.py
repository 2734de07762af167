"""Which data an experiment uses, and what it says about it."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec.demo.world_options import WorldOptions
from fairrec_paper.datasets.bundle import write_bundle
from fairrec_paper.datasets.synthetic import shaped_like, synthetic_bundle
from fairrec_paper.reproduction.data import TITLES, DataCatalogue, small, world_source
from tests.fairrec_paper.reproduction.trial_rows import silent


def bundle_in(folder: Path, name: str) -> str:
    write_bundle(synthetic_bundle(WorldOptions(name=name, n_users=60, n_items=40)), folder)
    return str(folder)


def raw_online_retail(folder: Path) -> None:
    """The tables as the publisher's file has them."""
    folder.mkdir()
    lines = [(user, f"s{(user + i) % 9}", day) for user in range(12) for i, day in enumerate("123")]
    pl.DataFrame(
        {
            "invoice_no": [f"5{n}" for n in range(len(lines))],
            "user_id": [user for user, _, _ in lines],
            "item_id": [item for _, item, _ in lines],
            "quantity": [1] * len(lines),
            "unit_price": [2.5] * len(lines),
            "invoice_date": [f"2011-01-0{day} 10:00:00" for _, _, day in lines],
            "country": ["France"] * len(lines),
        }
    ).with_columns(pl.col("invoice_date").str.to_datetime()).write_parquet(
        folder / "interactions.parquet"
    )
    pl.DataFrame({"user_id": range(12), "country": ["France"] * 12}).write_parquet(
        folder / "users.parquet"
    )
    pl.DataFrame(
        {"item_id": [f"s{n}" for n in range(9)], "description": ["thing"] * 9}
    ).write_parquet(folder / "items.parquet")


def test_a_bundle_is_known_by_its_manifest(tmp_path: Path):
    sources = DataCatalogue([bundle_in(tmp_path / "any", "movielens-1m")], tmp_path / "scratch")
    assert sources.given == ("movielens-1m",)
    source = sources.get("movielens-1m", silent)
    assert source.title == "MovieLens-1M, 60 users"
    assert not source.is_synthetic
    assert source.key == "movielens-1m"
    assert not (tmp_path / "scratch").exists()


@pytest.mark.parametrize(("folder", "prefix"), [("online-retail", ""), ("raw", "online-retail=")])
def test_a_publishers_folder_is_known_by_its_name_or_by_the_one_given(
    folder: str, prefix: str, tmp_path: Path
):
    raw_online_retail(tmp_path / folder)
    sources = DataCatalogue([f"{prefix}{tmp_path / folder}"], tmp_path / "scratch")
    source = sources.get("amazon-electronics", silent)
    assert source.title == "Online Retail in the place of Amazon, 12 users"
    assert source.folder == tmp_path / "scratch/online-retail"
    assert source.bundle.manifest.sha256


def test_a_data_set_that_is_not_given_is_a_synthetic_shape_and_says_so(tmp_path: Path):
    sources = DataCatalogue([], tmp_path, quick=True)
    for name, title in TITLES.items():
        source = sources.get(name, silent)
        assert source.is_synthetic
        assert source.title == f"synthetic shape of {title}, 240 users"
        assert source is sources.get(name, silent)


def test_a_synthetic_bundle_that_is_given_says_so_too(tmp_path: Path):
    sources = DataCatalogue(
        [bundle_in(tmp_path / "world", "synthetic blackfriday")], tmp_path / "s"
    )
    source = sources.get("blackfriday", silent)
    assert source.title == "synthetic shape of BlackFriday, 60 users"


def test_a_world_is_made_once_and_another_beside_it(tmp_path: Path):
    options = small(shaped_like("movielens-1m"))
    first = world_source("movielens-1m", options, tmp_path, silent)
    made = (first.folder / "manifest.json").stat().st_mtime_ns
    again = world_source("movielens-1m", options, tmp_path, silent)
    assert again == first
    assert (again.folder / "manifest.json").stat().st_mtime_ns == made
    other = world_source(
        "movielens-1m", small(shaped_like("movielens-1m", seed=1)), tmp_path, silent
    )
    assert other.key != first.key


def test_a_small_world_keeps_the_attributes_and_their_most_frequent_values():
    options = small(shaped_like("movielens-1m"))
    assert [*options.attributes] == ["gender", "age", "occupation"]
    assert [*options.attributes["age"]] == ["25", "35", "18"]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["nowhere"], "data='nowhere': is no folder"),
        (["empty"], "its name does not say which data set it is. Say it: data='NAME=empty'"),
        (["other"], "holds 'demo', which no experiment of the paper uses"),
        (["blackfriday=ml"], "that bundle holds 'movielens-1m'. Leave out the name"),
        (["ml", "again"], "another folder is given for movielens-1m already"),
    ],
)
def test_what_cannot_be_used_is_refused(given, says, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    bundle_in(Path("other"), "demo")
    bundle_in(Path("ml"), "movielens-1m")
    bundle_in(Path("again"), "movielens-100k")
    with pytest.raises(InputError, match=says):
        DataCatalogue(given, tmp_path / "scratch")
