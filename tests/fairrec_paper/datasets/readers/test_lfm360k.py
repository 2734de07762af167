"""Last.fm 360K as Oscar Celma publishes it."""

from __future__ import annotations

import pytest

from tests.fairrec_paper.datasets.raw_files import prepared, refusal, write

PLAYS = "usersha1-artmbid-artname-plays.tsv"
PROFILE = "usersha1-profile.tsv"
MUSE = "9c9f1380-2516-4fc9-a3e6-f9f61941d090"
ABBA = "d87e52c5-bb8d-4da8-b941-9f4928627dc8"
ROWS = (
    f"u1\t{MUSE}\tmuse\t40",
    'u1\t\tthe "quoted"\t7',
    f"u2\t{MUSE}\tmuse\t5",
    f"u2\t{ABBA}\tabba\t3",
    f"u3\t{ABBA}\tabba\t11",
)
USERS = ("u1\tf\t22\tGermany\tFeb 1, 2007", "u2\tm\t110\tMexico\t", "u3\t\t30\tJapan\tMay 3, 2008")


@pytest.fixture
def raw(tmp_path):
    folder = tmp_path / "lastfm-dataset-360K"
    write(folder, PLAYS, *ROWS)
    write(folder, PROFILE, *USERS)
    return folder


def test_files_become_a_bundle_without_incomplete_users(raw, tmp_path):
    bundle = prepared("lfm360k", raw, tmp_path / "bundle")
    assert bundle.interactions.sort("user_id", "plays").rows() == [
        ("u1", 'the "quoted"', True, None, 7),
        ("u1", MUSE, True, None, 40),
        ("u2", ABBA, True, None, 3),
        ("u2", MUSE, True, None, 5),
    ]
    assert bundle.interactions.columns == ["user_id", "item_id", "is_positive", "time", "plays"]
    assert bundle.users.rows() == [
        ("u1", "f", 22, "Germany", "Feb 1, 2007"),
        ("u2", "m", 110, "Mexico", None),
    ]
    assert bundle.items.rows() == [(MUSE, "muse"), (ABBA, "abba"), ('the "quoted"', 'the "quoted"')]
    assert not bundle.has_categories
    assert bundle.manifest.notes == (
        "users without gender, age or country, dropped: 1",
        "rows of users without gender, age or country, dropped: 1",
    )


@pytest.mark.parametrize("age", ["0", "-1337", "111"])
def test_junk_ages_count_as_missing(raw, tmp_path, age):
    write(raw, PROFILE, USERS[0], f"u2\tm\t{age}\tMexico\tFeb 1, 2007")
    bundle = prepared("lfm360k", raw, tmp_path / "bundle")
    assert bundle.users["user_id"].to_list() == ["u1"]
    assert bundle.manifest.notes == (
        "ages outside 1 to 110, taken as missing: 1",
        "users without gender, age or country, dropped: 1",
        "rows of users without a profile, dropped: 1",
        "rows of users without gender, age or country, dropped: 2",
    )


def test_rows_that_say_nothing_are_dropped_and_counted(raw, tmp_path):
    write(raw, PLAYS, *ROWS, "sep 20, 2008\t\tmuse\t1", "u1\t\t\t5", f"u1\t{ABBA}\tabba\t0")
    bundle = prepared("lfm360k", raw, tmp_path / "bundle")
    assert bundle.manifest.n_interactions == 4
    assert "rows of users without a profile, dropped: 1" in bundle.manifest.notes
    assert "rows without an artist or without plays, dropped: 2" in bundle.manifest.notes


def test_plays_of_the_same_artist_add_up_under_the_most_frequent_name(raw, tmp_path):
    write(raw, PLAYS, f"u1\t{MUSE}\tmuse\t40", f"u1\t{MUSE}\tMuse!\t2", f"u2\t{MUSE}\tmuse\t5")
    bundle = prepared("lfm360k", raw, tmp_path / "bundle")
    assert bundle.interactions["plays"].to_list() == [42, 5]
    assert bundle.items.rows() == [(MUSE, "muse")]
    assert bundle.manifest.notes[-1] == (
        "further rows of the same user and artist, plays added up: 1"
    )


def test_users_without_plays_are_dropped_and_counted(raw, tmp_path):
    write(raw, PROFILE, *USERS, "u9\tm\t20\tPeru\tFeb 1, 2007")
    bundle = prepared("lfm360k", raw, tmp_path / "bundle")
    assert bundle.manifest.n_users == 2
    assert "users without interactions, dropped: 1" in bundle.manifest.notes


@pytest.mark.parametrize(
    ("name", "lines", "message"),
    [
        (
            PLAYS,
            (*ROWS, f"u1\t{MUSE}\tmuse"),
            f"{PLAYS}, line 6: text 'u1\\t{MUSE}\\tmuse' does not have 4 fields "
            "(user_id, mbid, name, plays) separated by '\\t'.",
        ),
        (
            PLAYS,
            (ROWS[0], "", f"{ROWS[1]}\t8"),
            f"{PLAYS}, line 3: text 'u1\\t\\tthe \"quoted\"\\t7\\t8' does not have 4 fields",
        ),
        (
            PLAYS,
            (ROWS[0], f"u1\t{MUSE}\tmuse\tmany"),
            f"{PLAYS}, line 2: plays 'many' is not a whole number.",
        ),
        (PROFILE, ("u1\tf\t22",), f"{PROFILE}, line 1: text 'u1\\tf\\t22' does not have 5 fields"),
        (
            PROFILE,
            (USERS[0], "u2\tm\told\tMexico\t"),
            f"{PROFILE}, line 2: age 'old' is not a whole number.",
        ),
        (
            PROFILE,
            (*USERS, USERS[0]),
            f"{PROFILE}, line 4: user_id 'u1' appears more than once.",
        ),
        (PROFILE, (USERS[2],), "lfm360k: no interaction is left (users without gender, age or"),
    ],
)
def test_broken_files_are_refused_by_line(raw, name, lines, message):
    write(raw, name, *lines)
    assert refusal("lfm360k", raw).startswith(message)


@pytest.mark.parametrize("name", [PLAYS, PROFILE])
def test_text_that_is_not_utf_8_is_refused_by_line(raw, name):
    lines = {PLAYS: ROWS[0].replace("muse", "beyoncé"), PROFILE: USERS[0].replace("a", "é")}
    write(raw, name, *(ROWS if name == PLAYS else USERS)[:1], lines[name], encoding="latin-1")
    message = refusal("lfm360k", raw)
    assert message.startswith(f"{name}, line 2: holds the byte 0xe9, which is not UTF-8.")


def test_a_zero_byte_is_refused_by_line(raw):
    write(raw, PLAYS, *ROWS, "u1\t\tmu\0se\t1")
    assert refusal("lfm360k", raw).startswith(f"{PLAYS}, line 6: holds a zero byte")


@pytest.mark.parametrize("name", [PLAYS, PROFILE])
def test_a_missing_file_is_named(raw, name):
    (raw / name).unlink()
    assert f"no {name} there" in refusal("lfm360k", raw)


def test_a_folder_with_odd_letters_is_read(raw, tmp_path):
    odd = raw.rename(tmp_path / "data [1] *?")
    assert prepared("lfm360k", odd, tmp_path / "bundle").manifest.n_users == 2
