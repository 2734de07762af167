"""Black Friday as it lies on Kaggle."""

from __future__ import annotations

import pytest

from tests.fairrec_paper.datasets.raw_files import prepared, refusal, write

HEADER = (
    "User_ID,Product_ID,Gender,Age,Occupation,City_Category,Stay_In_Current_City_Years,"
    "Marital_Status,Product_Category_1,Product_Category_2,Product_Category_3,Purchase"
)
ROWS = (
    "1000001,P00069042,F,0-17,10,A,2,0,3,,,8370",
    "1000001,P00248942,F,0-17,10,A,2,0,1,6,14,15200",
    '1000002,P00069042,M,"55+",16,C,4+,1,3,,,7969',
)


@pytest.mark.parametrize("name", ["train.csv", "BlackFriday.csv"])
def test_file_becomes_a_bundle(tmp_path, name):
    write(tmp_path / "raw", name, HEADER, *ROWS)
    bundle = prepared("blackfriday", tmp_path / "raw", tmp_path / "bundle")
    assert bundle.interactions.rows() == [
        (1000001, "P00069042", True, None, 8370),
        (1000001, "P00248942", True, None, 15200),
        (1000002, "P00069042", True, None, 7969),
    ]
    assert bundle.interactions.columns[-1] == "amount"
    assert bundle.users.rows() == [
        (1000001, "F", "0-17", 10, "A", "2", 0),
        (1000002, "M", "55+", 16, "C", "4+", 1),
    ]
    assert bundle.users.columns[1:] == list(bundle.manifest.attributes)
    # the price is that of the first purchase
    assert bundle.items.rows() == [
        ("P00069042", ["3"], 3, None, None, 8370),
        ("P00248942", ["1", "6", "14"], 1, 6, 14, 15200),
    ]
    assert bundle.manifest.notes == ()
    assert name in bundle.manifest.source


def test_categories_written_as_decimals_are_the_same(tmp_path):
    write(tmp_path / "raw", "BlackFriday.csv", HEADER, ROWS[1].replace("6,14", "6.0,14.0"))
    bundle = prepared("blackfriday", tmp_path / "raw", tmp_path / "bundle")
    assert bundle.items["categories"].to_list() == [["1", "6", "14"]]


def test_an_attribute_that_is_not_there_is_counted(tmp_path):
    write(tmp_path / "raw", "train.csv", HEADER, ROWS[0].replace(",A,2,", ",A,,"))
    bundle = prepared("blackfriday", tmp_path / "raw", tmp_path / "bundle")
    assert bundle.users["stay_in_current_city_years"].to_list() == [None]
    assert bundle.manifest.notes == ("users without stay_in_current_city_years: 1",)


def test_a_second_purchase_of_the_same_product_is_dropped_and_counted(tmp_path):
    write(tmp_path / "raw", "train.csv", HEADER, *ROWS, ROWS[0].replace("8370", "1"))
    bundle = prepared("blackfriday", tmp_path / "raw", tmp_path / "bundle")
    assert bundle.interactions["amount"].to_list() == [8370, 15200, 7969]
    assert bundle.manifest.notes == ("further rows of the same user and item, dropped: 1",)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            (HEADER.replace("Gender", "Sex"), *ROWS),
            "train.csv, line 1: no column 'Gender'. Columns here: User_ID, Product_ID, Sex, Age",
        ),
        ((), "train.csv, line 1: no column 'User_ID'."),
        (
            (HEADER, ROWS[0], "1000001,P00248942,F"),
            "train.csv, line 3: 3 fields, where the header has 12.",
        ),
        (
            (HEADER, ROWS[0].replace("8370", "much")),
            "train.csv, line 2: Purchase 'much' is not a whole number.",
        ),
        (
            (HEADER, ROWS[0].replace("P00069042", "")),
            "train.csv, line 2: Product_ID '' is empty.",
        ),
        (
            (HEADER, *ROWS, ROWS[2].replace("M", "F")),
            "train.csv, line 5: user_id 1000002 has other attributes than on lines above.",
        ),
        (
            (HEADER, ROWS[0], ROWS[2].replace('55+"', "55+")),
            "train.csv, line 3: is not a CSV row (unexpected end of data).",
        ),
        ((HEADER,), "blackfriday: no interaction is left (the files are empty)."),
    ],
)
def test_broken_files_are_refused_by_line(tmp_path, lines, message):
    write(tmp_path / "raw", "train.csv", *lines)
    assert refusal("blackfriday", tmp_path / "raw").startswith(message)


def test_lines_are_counted_through_quoted_line_breaks(tmp_path):
    broken = ROWS[1].replace("15200", "x")
    write(tmp_path / "raw", "train.csv", HEADER, ROWS[2].replace("55+", "55\n+"), broken)
    assert refusal("blackfriday", tmp_path / "raw").startswith("train.csv, line 4: Purchase 'x'")


def test_text_that_is_not_utf_8_is_refused_by_line(tmp_path):
    write(tmp_path / "raw", "train.csv", HEADER, ROWS[0].replace("A", "É"), encoding="latin-1")
    message = refusal("blackfriday", tmp_path / "raw")
    assert message.startswith("train.csv, line 2: holds the byte 0xc9, which is not UTF-8.")


def test_a_missing_file_is_named(tmp_path):
    write(tmp_path / "raw", "test.csv", HEADER)
    message = refusal("blackfriday", tmp_path / "raw")
    assert "no train.csv or BlackFriday.csv there" in message
    assert "kaggle.com" in message
