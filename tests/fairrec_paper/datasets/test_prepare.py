"""What is prepared or refused; real data: counts as published, and text files that say the same."""

from __future__ import annotations

from math import prod

import polars as pl
import pytest

from fairrec.core.errors import InputError, OutputError, UnknownNameError
from fairrec_paper.datasets.bundle import prepare
from tests.fairrec_paper.datasets.movielens_tables import write_movielens
from tests.fairrec_paper.datasets.raw_files import prepared, real_data, refusal, write

COUNTS = {
    # interactions, positive, users, items
    "movielens-1m": (1_000_209, 575_281, 6_040, 3_883),
    "movielens-100k": (100_000, 55_375, 943, 1_682),
    "blackfriday": (91_443, 91_443, 5_812, 3_310),
    "lfm360k": (31_222, 31_222, 722, 8_216),
    "online-retail": (266_792, 266_792, 4_338, 3_665),
}
NOTES = {
    "movielens-1m": "ratings without a time: 337,147",
    "blackfriday": "users without stay_in_current_city_years: 1,942",
    "lfm360k": "users without gender, age or country, dropped: 278",
    "online-retail": "lines without a customer, dropped: 135,080",
}
N_GROUPS = {
    "movielens-1m": 294,
    "movielens-100k": 2_562,
    "blackfriday": 8_820,
    "online-retail": 1000,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", COUNTS)
def test_counts_are_as_published(name, tmp_path):
    bundle = prepared(name, real_data(name), tmp_path)
    manifest = bundle.manifest
    counts = (manifest.n_interactions, manifest.n_positive, manifest.n_users, manifest.n_items)
    assert counts == COUNTS[name]
    assert (bundle.interactions.height, bundle.users.height) == (counts[0], counts[2])
    assert NOTES.get(name) is None or NOTES[name] in manifest.notes
    assert bundle.interactions["time"].dtype == pl.Int64
    assert bundle.interactions.n_unique(["user_id", "item_id"]) == counts[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", N_GROUPS)
def test_group_counts_are_as_published(name, tmp_path):
    bundle = prepared(name, real_data(name), tmp_path)
    values = [
        bundle.users[attribute].drop_nulls().n_unique() for attribute in bundle.manifest.attributes
    ]
    assert prod(values) == N_GROUPS[name]


@pytest.mark.slow
def test_sales_of_online_retail_add_up(tmp_path):
    manifest = prepared("online-retail", real_data("online-retail"), tmp_path).manifest
    dropped = {note.rpartition(": ")[0]: note.rpartition(": ")[2] for note in manifest.notes[1:]}
    again = int(dropped["further rows of the same user and item, dropped"].replace(",", ""))
    assert manifest.n_interactions + again == 397_884


@pytest.mark.slow
def test_deciles_of_spend_are_nearly_even(tmp_path):
    users = prepared("online-retail", real_data("online-retail"), tmp_path).users
    sizes = users["spend"].value_counts()["count"]
    assert sizes.min() == pytest.approx(users.height / 10, abs=5)
    assert sizes.max() == pytest.approx(users.height / 10, abs=5)


@pytest.mark.slow
def test_movielens_100k_as_text_gives_the_same_bundle(tmp_path):
    folder = real_data("movielens-100k")
    ratings, users, items = (
        pl.read_parquet(folder / f"{name}.parquet") for name in ("interactions", "users", "items")
    )
    flags = items["genres"].str.split("|").to_list()
    genres = sorted({name for mine in flags for name in mine})
    raw = tmp_path / "ml-100k"
    raw.mkdir()
    ratings.write_csv(raw / "u.data", separator="\t", include_header=False)
    people = users.select("user_id", "age", "gender", "occupation", "zip_code")
    people.write_csv(raw / "u.user", separator="|", include_header=False, quote_style="never")
    (raw / "u.genre").write_text("".join(f"{name}|{n}\n" for n, name in enumerate(genres)))
    lines = [
        "|".join([str(item), title, "", "", "", *(str(int(name in mine)) for name in genres)])
        for item, title, mine in zip(items["item_id"], items["title"], flags, strict=True)
    ]
    (raw / "u.item").write_bytes("\n".join(lines).encode("latin-1"))
    ours = prepared("movielens-100k", raw, tmp_path / "text")
    theirs = prepared("movielens-100k", folder, tmp_path / "parquet")
    assert ours.interactions.equals(theirs.interactions)
    assert ours.users.equals(theirs.users)
    in_order = pl.col("categories").list.sort()
    assert ours.items.with_columns(in_order).equals(theirs.items.with_columns(in_order))


@pytest.mark.slow
def test_black_friday_as_published_agrees_with_the_tables(tmp_path):
    folder = real_data("blackfriday")
    names = {name.lower(): name for name in PUBLISHED}
    head = pl.read_parquet(folder / "head_rows.parquet").rename(names).select(PUBLISHED)
    (tmp_path / "raw").mkdir()
    head.write_csv(tmp_path / "raw" / "train.csv")
    bundle = prepared("blackfriday", tmp_path / "raw", tmp_path / "bundle")
    assert bundle.manifest.n_interactions == head.height
    assert bundle.interactions["amount"].sum() == head["Purchase"].sum()
    users = prepared("blackfriday", folder, tmp_path / "tables").users.drop_nulls()
    both = bundle.users.join(users, on="user_id", how="semi")
    assert both.height > 3000
    assert both.sort("user_id").equals(
        users.join(bundle.users, on="user_id", how="semi").sort("user_id")
    )


PUBLISHED = [
    *("User_ID", "Product_ID", "Gender", "Age", "Occupation", "City_Category"),
    *("Stay_In_Current_City_Years", "Marital_Status", "Product_Category_1"),
    *("Product_Category_2", "Product_Category_3", "Purchase"),
]


@pytest.fixture
def raw(tmp_path):
    return write_movielens(tmp_path / "raw")


def test_the_folder_that_is_read_is_never_written(raw):
    before = (raw / "users.parquet").read_bytes()
    with pytest.raises(InputError, match="is the folder that is read"):
        prepare("movielens-1m", raw, raw)
    assert (raw / "users.parquet").read_bytes() == before


def test_a_raw_folder_that_does_not_exist_is_refused(tmp_path):
    assert "is no folder" in refusal("movielens-1m", tmp_path / "nowhere")


def test_an_unknown_name_is_refused_with_the_nearest(tmp_path):
    with pytest.raises(UnknownNameError, match="Did you mean 'movielens-1m'"):
        prepare("movielens1m", tmp_path, tmp_path / "bundle")


def test_an_output_that_is_a_file_is_refused_before_reading(raw, tmp_path):
    write(tmp_path, "bundle", "")
    with pytest.raises(OutputError, match="is a file, not a folder"):
        prepare("movielens-1m", raw, tmp_path / "bundle")


def test_an_output_whose_name_is_too_long_is_refused_before_reading(raw, tmp_path):
    with pytest.raises(OutputError, match="File name too long"):
        prepare("movielens-1m", raw, tmp_path / ("x" * 300))


def test_progress_ends_with_writing(raw, tmp_path):
    stages = []
    prepare(
        "movielens-1m", raw, tmp_path / "bundle", lambda stage, done, total: stages.append(stage)
    )
    assert stages[-1] == "writing"
