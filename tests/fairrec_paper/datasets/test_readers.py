"""The files of each data set, a few lines as their publishers write them, become a bundle."""

from __future__ import annotations

import gzip
import json
from math import prod

import polars as pl
import pytest

from tests.fairrec_paper.datasets.raw_files import prepared, real_data, refusal, write

REVIEWS, PRODUCTS = "reviews_Electronics_5.json", "meta_Electronics.json"
PLAYS, PROFILE = "usersha1-artmbid-artname-plays.tsv", "usersha1-profile.tsv"
MUSE, ABBA = "9c9f1380-2516-4fc9-a3e6-f9f61941d090", "d87e52c5-bb8d-4da8-b941-9f4928627dc8"


def review(user, item, time, rating=5.0):
    fields = {"reviewerID": user, "asin": item, "overall": rating, "unixReviewTime": time}
    return json.dumps({**fields, "reviewText": "“good”"})


def product(item, price, **others):
    return json.dumps({"asin": item, "price": price, "title": f"The {item}", **others})


FILES = {
    "movielens-1m": {
        "ratings.dat": ("1::10::5::978300760", "1::20::3::978300700", "2::10::4::978300800"),
        "users.dat": ("1::F::1::10::48067", "2::M::56::16::70072", "3::M::25::0::55117"),
        "movies.dat": ("10::Léon: The Pro (1994)::Crime|Drama", "20::Toys::", "30::Heat::Drama"),
    },
    "lfm360k": {
        PLAYS: (
            f"u1\t{MUSE}\tmuse\t40",
            'u1\t\tthe "quoted"\t7',
            f"u2\t{MUSE}\tmuse\t5",
            f"u2\t{ABBA}\tabba\t3",
            f"u3\t{ABBA}\tabba\t11",
        ),
        PROFILE: (
            "u1\tf\t22\tGermany\tFeb 1, 2007",
            "u2\tm\t110\tMexico\t",
            "u3\t\t30\tJapan\tMay 3, 2008",
        ),
    },
    "blackfriday": {
        "train.csv": (
            "User_ID,Product_ID,Gender,Age,Occupation,City_Category,Stay_In_Current_City_Years,"
            "Marital_Status,Product_Category_1,Product_Category_2,Product_Category_3,Purchase",
            "1000001,P00069042,F,0-17,10,A,,0,3,,,8370",
            "1000001,P00248942,F,0-17,10,A,,0,1,6.0,14.0,15200",
            '1000002,P00069042,M,"55+",16,C,4+,1,3,,,7969',
            '1000002,P00069042,M,"55+",16,C,4+,1,3,,,1',
        )
    },
    "amazon-electronics": {
        REVIEWS: (
            review("A1", "B1", 300, 2.0),
            review("A1", "B2", 100),
            review("A1", "B3", 200),
            review("A2", "B1", 100),
            review("A2", "B9", 100),
        ),
        PRODUCTS: (
            product("B1", 9.5, categories=[["Electronics", "Audio"], ["Electronics", "Sale"]]),
            product("B2", "$1,020.00", category=["Electronics", "TV"]),
            product("B3", "$5"),
            product("B7", 1.0),
            product("B9", None),
        ),
    },
}


def raw_files(folder, name):
    """The files of a data set, in a folder of their own."""
    raw = folder / name
    for file, lines in FILES[name].items():
        write(raw, file, *lines, encoding="latin-1" if file == "movies.dat" else "utf-8")
    return raw


def test_movielens_1m(tmp_path):
    bundle = prepared("movielens-1m", raw_files(tmp_path, "movielens-1m"), tmp_path / "bundle")
    assert bundle.interactions.rows() == [
        (1, 10, True, 978300760, 5),
        (1, 20, False, 978300700, 3),
        (2, 10, True, 978300800, 4),
    ]
    assert bundle.users.rows() == [(1, "F", 1, 10, "48067"), (2, "M", 56, 16, "70072")]
    assert bundle.users.columns == ["user_id", "gender", "age", "occupation", "zip_code"]
    assert bundle.items.rows() == [
        (10, "Léon: The Pro (1994)", ["Crime", "Drama"]),
        (20, "Toys", []),
        (30, "Heat", ["Drama"]),
    ]
    manifest = bundle.manifest
    counts = (manifest.n_interactions, manifest.n_positive, manifest.n_users, manifest.n_items)
    assert counts == (3, 2, 2, 3)
    assert manifest.notes == (
        "movies without ratings, kept: 1",
        "users without interactions, dropped: 1",
    )
    assert "ratings.dat, users.dat, movies.dat" in manifest.source


def test_lfm360k(tmp_path):
    raw = raw_files(tmp_path, "lfm360k")
    bundle = prepared("lfm360k", raw, tmp_path / "bundle")
    assert bundle.interactions.sort("user_id", "plays").rows() == [
        ("u1", 'the "quoted"', True, None, 7),
        ("u1", MUSE, True, None, 40),
        ("u2", ABBA, True, None, 3),
        ("u2", MUSE, True, None, 5),
    ]
    assert bundle.users.rows() == [
        ("u1", "f", 22, "Germany", "Feb 1, 2007"),
        ("u2", "m", 110, "Mexico", None),
    ]
    assert bundle.items.rows() == [(MUSE, "muse"), (ABBA, "abba"), ('the "quoted"', 'the "quoted"')]
    assert not bundle.has_categories
    assert bundle.manifest.notes == (
        "users without gender, age or country, dropped: 1",
        "rows of other users, without an artist or without plays, dropped: 1",
    )


def test_blackfriday(tmp_path):
    bundle = prepared("blackfriday", raw_files(tmp_path, "blackfriday"), tmp_path / "bundle")
    assert bundle.interactions.rows() == [
        (1000001, "P00069042", True, None, 8370),
        (1000001, "P00248942", True, None, 15200),
        (1000002, "P00069042", True, None, 7969),
    ]
    assert bundle.users.rows() == [
        (1000001, "F", "0-17", 10, "A", None, 0),
        (1000002, "M", "55+", 16, "C", "4+", 1),
    ]
    assert bundle.users.columns[1:] == list(bundle.manifest.attributes)
    # the price is that of the first purchase
    assert bundle.items.rows() == [
        ("P00069042", ["3"], 3, None, None, 8370),
        ("P00248942", ["1", "6", "14"], 1, 6, 14, 15200),
    ]
    assert bundle.manifest.notes == (
        "further rows of the same user and item, dropped: 1",
        "users without stay_in_current_city_years: 1",
    )


def test_amazon_electronics_in_order_of_time(tmp_path):
    raw = raw_files(tmp_path, "amazon-electronics")
    bundle = prepared("amazon-electronics", raw, tmp_path / "bundle")
    assert bundle.interactions.rows() == [
        ("A1", "B2", True, 100, 5.0, 1020.0),
        ("A2", "B1", True, 100, 5.0, 9.5),
        ("A1", "B3", True, 200, 5.0, 5.0),
        ("A1", "B1", True, 300, 2.0, 9.5),
    ]
    assert bundle.items.rows() == [
        ("B1", "The B1", 9.5, ["Electronics", "Audio", "Sale"]),
        ("B2", "The B2", 1020.0, ["Electronics", "TV"]),
        ("B3", "The B3", 5.0, []),
    ]
    # trained on: B2 of A1, whose last two are targets, and B1 of A2, who has no other
    assert bundle.users.rows() == [("A1", 0, 5, 5), ("A2", 0, 0, 0)]
    assert bundle.manifest.notes[0].startswith("activity, spend and top_price: decile 0 to 9")
    assert bundle.manifest.notes[1:] == (
        "reviewed products without a price, dropped: 1",
        "reviews of products without a price, dropped: 1",
    )


def test_compressed_files_and_older_ones_of_amazon_read_the_same(tmp_path):
    raw = raw_files(tmp_path, "amazon-electronics")
    plain = prepared("amazon-electronics", raw, tmp_path / "plain")
    # older metadata are written as Python values
    write(raw, PRODUCTS, *(repr(json.loads(line)) for line in FILES[raw.name][PRODUCTS]))
    for name in (REVIEWS, PRODUCTS):
        (raw / f"{name}.gz").write_bytes(gzip.compress((raw / name).read_bytes()))
        (raw / name).unlink()
    packed = prepared("amazon-electronics", raw, tmp_path / "packed")
    assert packed.interactions.equals(plain.interactions)
    assert packed.items.equals(plain.items)
    # a download that broke off
    content = gzip.compress((f"{review('A1', 'B1', 1)}\n" * 2000).encode())
    (raw / f"{REVIEWS}.gz").write_bytes(content[: len(content) // 2])
    assert "breaks off or is damaged" in refusal("amazon-electronics", raw)


def test_python_code_in_a_line_is_not_run(tmp_path):
    raw, witness = raw_files(tmp_path, "amazon-electronics"), tmp_path / "witness"
    write(raw, PRODUCTS, f"{{'asin': open({str(witness)!r}, 'w')}}")
    assert refusal("amazon-electronics", raw).startswith(f"{PRODUCTS}, line 1: ")
    assert not witness.exists()


FRIDAY = FILES["blackfriday"]["train.csv"]


@pytest.mark.parametrize(
    ("name", "file", "lines", "message"),
    [
        ("movielens-1m", "ratings.dat", ("1::10::9::1",), "line 1: rating 9 is not from 1 to 5"),
        ("movielens-1m", "ratings.dat", ("7::10::5::1",), "line 1: user_id 7 is not in users.dat"),
        ("movielens-1m", "users.dat", ("1::F::1::10::9",) * 2, "line 2: user_id 1 appears more"),
        ("movielens-1m", "movies.dat", ("10::Up",), "line 1: text '10::Up' does not have 3 fields"),
        ("lfm360k", PLAYS, (f"u1\t{MUSE}\tm\t4", "u1\t\tm"), "line 2: plays '' is not a whole"),
        ("lfm360k", PLAYS, (f"u1\t{MUSE}\tm\t4\t5",), "cannot be read as 4 columns"),
        ("blackfriday", "train.csv", ("User_ID,Sex", "1,F"), "no column 'Product_ID'. Columns"),
        (
            "blackfriday",
            "train.csv",
            (FRIDAY[0], FRIDAY[1].replace("8370", "much")),
            "row 2: Purchase 'much' is not a whole number",
        ),
        (
            "blackfriday",
            "train.csv",
            (*FRIDAY, FRIDAY[3].replace("M", "F")),
            "row 6: user_id 1000002 has other attributes than in rows above",
        ),
        ("amazon-electronics", REVIEWS, ('{"asin": "B1"}',), "line 1: reviewerID"),
        ("amazon-electronics", REVIEWS, ("[1, 2]",), "line 1: the line [1, 2]: Input should be"),
    ],
)
def test_files_that_do_not_fit_are_refused_by_line(tmp_path, name, file, lines, message):
    raw = raw_files(tmp_path, name)
    write(raw, file, *lines)
    said = refusal(name, raw)
    assert said.startswith(file)
    assert message in said


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named_with_where_to_get_it(tmp_path, name):
    raw = raw_files(tmp_path, name)
    file = [*FILES[name]][-1]
    (raw / file).rename(raw / "other")
    said = refusal(name, raw)
    assert file in said and f"Get {name} from http" in said


# name: interactions, positive, users, items; a note; combinations
REAL = {
    "movielens-1m": (
        *((1_000_209, 575_281, 6_040, 3_883), "ratings without a time: 337,147", 294),
    ),
    "blackfriday": (
        *((91_443, 91_443, 5_812, 3_310), "users without stay_in_current_city_years: 1,942", 8_820),
    ),
    "lfm360k": (
        *((31_222, 31_222, 722, 8_216), "users without gender, age or country, dropped: 278", None),
    ),
}


@pytest.mark.parametrize("name", REAL)
def test_counts_of_real_data_are_as_published(name, tmp_path):
    expected, note, n_combinations = REAL[name]
    bundle = prepared(name, real_data(name), tmp_path)
    manifest = bundle.manifest
    counts = (manifest.n_interactions, manifest.n_positive, manifest.n_users, manifest.n_items)
    assert counts == expected
    assert (bundle.interactions.height, bundle.users.height) == (counts[0], counts[2])
    assert note in manifest.notes
    assert bundle.interactions["time"].dtype == pl.Int64
    assert bundle.interactions.n_unique(["user_id", "item_id"]) == counts[0]
    values = (bundle.users[name].drop_nulls().n_unique() for name in manifest.attributes)
    assert n_combinations in (None, prod(values))
