"""MovieLens 1M and 100K as GroupLens publishes them."""

from __future__ import annotations

import pytest

from tests.fairrec_paper.datasets.raw_files import prepared, refusal, write

RATINGS = ("1::10::5::978300760", "1::20::3::978300700", "2::10::4::978300800")
USERS = ("1::F::1::10::48067", "2::M::56::16::70072", "3::M::25::0::55117")
MOVIES = (
    "10::Léon: The Professional (1994)::Crime|Drama",
    "20::Toy Story (1995)::Comedy",
    "30::Heat (1995)::Drama",
)
GENRES = ("unknown|0", "Action|1", "Comedy|2", "")
ITEMS = (
    "1|Léon (1994)|01-Jan-1994||http://example.org|0|1|0",
    "2|Up (1995)|||http://example.org|0|1|1",
)


@pytest.fixture
def raw_1m(tmp_path):
    raw = tmp_path / "ml-1m"
    write(raw, "ratings.dat", *RATINGS)
    write(raw, "users.dat", *USERS)
    write(raw, "movies.dat", *MOVIES, encoding="latin-1")
    return raw


@pytest.fixture
def raw_100k(tmp_path):
    raw = tmp_path / "ml-100k"
    write(raw, "u.data", "7\t1\t4\t881250949", "8\t2\t1\t881250950")
    write(raw, "u.user", "7|24|M|technician|85711", "8|53|F|other|94043")
    write(raw, "u.item", *ITEMS, encoding="latin-1")
    write(raw, "u.genre", *GENRES)
    return raw


def test_1m_becomes_a_bundle(raw_1m, tmp_path):
    bundle = prepared("movielens-1m", raw_1m, tmp_path / "bundle")
    assert bundle.interactions.rows() == [
        (1, 10, True, 978300760, 5),
        (1, 20, False, 978300700, 3),
        (2, 10, True, 978300800, 4),
    ]
    assert bundle.interactions.columns == ["user_id", "item_id", "is_positive", "time", "rating"]
    assert bundle.users.rows() == [(1, "F", 1, 10, "48067"), (2, "M", 56, 16, "70072")]
    assert bundle.users.columns == ["user_id", "gender", "age", "occupation", "zip_code"]
    assert bundle.items.rows() == [
        (10, "Léon: The Professional (1994)", ["Crime", "Drama"]),
        (20, "Toy Story (1995)", ["Comedy"]),
        (30, "Heat (1995)", ["Drama"]),
    ]
    assert bundle.items.columns == ["item_id", "title", "categories"]


def test_1m_manifest_tells_what_is_in_it(raw_1m, tmp_path):
    manifest = prepared("movielens-1m", raw_1m, tmp_path / "bundle").manifest
    counts = (manifest.n_interactions, manifest.n_positive, manifest.n_users, manifest.n_items)
    assert counts == (3, 2, 2, 3)
    assert manifest.positive == "rating >= 4"
    assert manifest.notes == (
        "movies without ratings, kept: 1",
        "users without interactions, dropped: 1",
    )
    assert "grouplens.org" in manifest.source
    assert "ratings.dat, users.dat, movies.dat" in manifest.source
    assert "no redistribution" in manifest.licence


def test_1m_saved_again_as_utf_8_reads_the_same(raw_1m, tmp_path):
    write(raw_1m, "movies.dat", *MOVIES, encoding="utf-8-sig")
    titles = prepared("movielens-1m", raw_1m, tmp_path / "bundle").items["title"]
    assert titles[0] == "Léon: The Professional (1994)"


def test_1m_with_windows_line_ends_reads_the_same(raw_1m, tmp_path):
    write(raw_1m, "users.dat", *(f"{line}\r" for line in USERS))
    write(raw_1m, "movies.dat", *(f"{line}\r" for line in MOVIES))
    bundle = prepared("movielens-1m", raw_1m, tmp_path / "bundle")
    assert bundle.items["categories"].to_list() == [["Crime", "Drama"], ["Comedy"], ["Drama"]]


def test_100k_becomes_a_bundle(raw_100k, tmp_path):
    bundle = prepared("movielens-100k", raw_100k, tmp_path / "bundle")
    assert bundle.interactions.rows() == [
        (7, 1, True, 881250949, 4),
        (8, 2, False, 881250950, 1),
    ]
    assert bundle.users.rows() == [
        (7, "M", 24, "technician", "85711"),
        (8, "F", 53, "other", "94043"),
    ]
    assert bundle.items.rows() == [
        (1, "Léon (1994)", ["Action"]),
        (2, "Up (1995)", ["Action", "Comedy"]),
    ]


def test_a_second_rating_of_the_same_movie_is_dropped_and_counted(raw_1m, tmp_path):
    write(raw_1m, "ratings.dat", *RATINGS, "1::10::1::978300999")
    bundle = prepared("movielens-1m", raw_1m, tmp_path / "bundle")
    assert bundle.interactions["rating"].to_list() == [5, 3, 4]
    assert "further rows of the same user and item, dropped: 1" in bundle.manifest.notes


@pytest.mark.parametrize(
    ("name", "lines", "message"),
    [
        (
            "ratings.dat",
            (RATINGS[0], "1::20::3"),
            "ratings.dat, line 2: text '1::20::3' does not have 4 fields "
            "(user_id, item_id, rating, timestamp) separated by '::'.",
        ),
        (
            "ratings.dat",
            (RATINGS[0], "", f"{RATINGS[1]}::9"),
            "ratings.dat, line 3: text '1::20::3::978300700::9' does not have 4 fields",
        ),
        (
            "ratings.dat",
            (RATINGS[0], "1::20::three::978300700", "2::10::four::978300800"),
            "ratings.dat, line 2: rating 'three' is not a whole number (2 such lines).",
        ),
        (
            "ratings.dat",
            ("1::10::9::978300760",),
            "ratings.dat, line 1: rating 9 is not from 1 to 5.",
        ),
        (
            "ratings.dat",
            (RATINGS[0], "99::10::5::978300760"),
            "ratings.dat, line 2: user_id 99 is not in users.dat.",
        ),
        (
            "ratings.dat",
            (RATINGS[0], "1::99::5::978300760"),
            "ratings.dat, line 2: item_id 99 is not in movies.dat.",
        ),
        (
            "users.dat",
            (*USERS, "1::M::1::10::48067"),
            "users.dat, line 4: user_id 1 appears more than once.",
        ),
        (
            "users.dat",
            ("1::F::young::10::48067",),
            "users.dat, line 1: age 'young' is not a whole number.",
        ),
        ("movies.dat", ("10::Heat",), "movies.dat, line 1: text '10::Heat' does not have 3 fields"),
        ("ratings.dat", (), "movielens-1m: no interaction is left (movies without ratings"),
    ],
)
def test_1m_refuses_broken_files_by_line(raw_1m, name, lines, message):
    write(raw_1m, name, *lines)
    assert refusal("movielens-1m", raw_1m).startswith(message)


def test_1m_refuses_text_in_two_byte_characters(raw_1m):
    write(raw_1m, "movies.dat", *MOVIES, encoding="utf-16")
    message = refusal("movielens-1m", raw_1m)
    assert message.startswith("movies.dat, line 1: holds a zero byte, so it is not plain text.")
    assert "save this one as UTF-8 text" in message


def test_a_very_long_broken_line_is_cut_in_the_message(raw_1m):
    write(raw_1m, "ratings.dat", "1" * 100_000)
    assert len(refusal("movielens-1m", raw_1m)) < 400


def test_1m_names_a_missing_file_and_where_to_get_it(raw_1m):
    (raw_1m / "users.dat").unlink()
    message = refusal("movielens-1m", raw_1m)
    assert f"{raw_1m}: no users.dat there." in message
    assert "https://grouplens.org/datasets/movielens/1m/" in message
    assert "In this folder: movies.dat, ratings.dat." in message


def test_1m_points_to_the_folder_one_level_down(raw_1m):
    message = refusal("movielens-1m", raw_1m.parent)
    assert message.endswith(f"It is in {raw_1m}: give that folder as raw.")


@pytest.mark.parametrize(
    ("name", "lines", "message"),
    [
        ("u.data", ("7\t1\tx\t1",), "u.data, line 1: rating 'x' is not a whole number."),
        ("u.user", ("7|24|M|technician",), "u.user, line 1: text '7|24|M|technician' does not"),
        ("u.genre", ("unknown|zero",), "u.genre, line 1: number 'zero' is not a whole number."),
        ("u.item", (ITEMS[0], ITEMS[1] + "|0"), "u.item, line 2: text '2|Up (1995)|||http"),
        ("u.item", (ITEMS[0], ITEMS[1][:-1] + "2"), "u.item, line 2: Comedy '2' is not 0 or 1."),
    ],
)
def test_100k_refuses_broken_files_by_line(raw_100k, name, lines, message):
    write(raw_100k, name, *lines)
    assert refusal("movielens-100k", raw_100k).startswith(message)
