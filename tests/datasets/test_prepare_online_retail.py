"""Online Retail as UCI publishes it, saved as CSV."""

from __future__ import annotations

import pytest
from raw_files import prepared, refusal, write

NAME = "online-retail"
FILE = "Online Retail.csv"
HEADER = "InvoiceNo,StockCode,Description,Quantity,InvoiceDate,UnitPrice,CustomerID,Country"
ROWS = (
    "536365,85123A, WHITE HEART ,6,12/1/2010 8:26,2.55,17850,United Kingdom",
    '536366,71053,"LANTERN, WHITE",2,12/13/2010 8:28,3.39,17850,United Kingdom',
    "536367,85123A,WHITE HEART,1,12/14/2010 9:00,2.95,17850,France",
    "536368,POST,,1,12/15/2010 9:00,18,17850,United Kingdom",
    "536369,71053,LANTERN £5,3,12/2/2010 9:00,3.39,13047.0,Norway",
    "536370,22752,BOXES,5,12/2/2010 9:00,7.65,,United Kingdom",
    "C536371,22752,BOXES,-5,12/2/2010 9:00,7.65,17850,United Kingdom",
    "536372,22752,BOXES,5,12/2/2010 9:00,0,17850,United Kingdom",
)
FIRST = 1291191960
"""2010-12-01 08:26:00"""
DAY = 86_400


@pytest.mark.parametrize("name", [FILE, "OnlineRetail.csv", "online_retail.csv"])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "latin-1"])
def test_file_becomes_a_bundle_of_first_purchases(tmp_path, name, encoding):
    write(tmp_path / "raw", name, HEADER, *ROWS, encoding=encoding)
    bundle = prepared(NAME, tmp_path / "raw", tmp_path / "bundle")
    assert bundle.interactions.rows() == [
        (17850, "85123A", True, FIRST, 6, 2.55, 15.3),
        (13047, "71053", True, FIRST + DAY + 34 * 60, 3, 3.39, 10.17),
        (17850, "71053", True, FIRST + 12 * DAY + 2 * 60, 2, 3.39, 6.78),
        (17850, "POST", True, FIRST + 14 * DAY + 34 * 60, 1, 18.0, 18.0),
    ]
    assert bundle.interactions.columns[4:] == ["quantity", "price", "amount"]
    # trained on: 85123A of 17850, whose last two are targets, and 71053 of 13047
    assert bundle.users.rows() == [(13047, 0, 0, 5, "Norway"), (17850, 0, 5, 0, "United Kingdom")]
    assert bundle.users.columns == ["user_id", "activity", "spend", "top_price", "country"]
    assert bundle.items.rows() == [
        ("71053", "LANTERN £5"),
        ("85123A", "WHITE HEART"),
        ("POST", None),
    ]
    assert not bundle.has_categories
    assert bundle.manifest.notes[1:] == (
        "lines without a customer, dropped: 1",
        "lines without a positive quantity and price, dropped: 2",
        "further rows of the same user and item, dropped: 1",
    )


@pytest.mark.parametrize(
    ("dates", "seconds"),
    [
        (("2010-12-01 08:26:00", "2010-12-13 08:26:00"), (FIRST, FIRST + 12 * DAY)),
        (("2010-12-01 08:26", "2010-12-13 08:26"), (FIRST, FIRST + 12 * DAY)),
        (("01/12/2010 08:26", "13/12/2010 08:26"), (FIRST, FIRST + 12 * DAY)),
        (("01-12-2010 08:26", "13-12-2010 08:26"), (FIRST, FIRST + 12 * DAY)),
    ],
)
def test_dates_are_read_in_the_form_that_fits_all_lines(tmp_path, dates, seconds):
    rows = [f"1,a{number},X,1,{date},1,5,UK" for number, date in enumerate(dates)]
    write(tmp_path / "raw", FILE, HEADER, *rows)
    bundle = prepared(NAME, tmp_path / "raw", tmp_path / "bundle")
    assert bundle.interactions["time"].to_list() == list(seconds)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            (HEADER.replace("UnitPrice", "Price"), *ROWS),
            "Online Retail.csv, line 1: no column 'UnitPrice'. Columns here: InvoiceNo,",
        ),
        ((HEADER, ROWS[0] + ",x"), "Online Retail.csv, line 2: 9 fields, where the header has 8."),
        (
            (HEADER, ROWS[0], ROWS[1].replace("3.39", "three")),
            "Online Retail.csv, line 3: UnitPrice 'three' is not a number.",
        ),
        ((HEADER, ROWS[0].replace("2.55", "inf")), "Online Retail.csv, line 2: UnitPrice 'inf'"),
        (
            (HEADER, ROWS[0].replace("6,12", "six,12")),
            "Online Retail.csv, line 2: Quantity 'six' is not a whole number.",
        ),
        (
            (HEADER, ROWS[0].replace("17850", "Mr X")),
            "Online Retail.csv, line 2: CustomerID 'Mr X' is not a whole number.",
        ),
        (
            (HEADER, ROWS[0], ROWS[1].replace("12/13/2010", "yesterday")),
            "Online Retail.csv, line 3: InvoiceDate 'yesterday 8:28' is not a time such as",
        ),
        ((HEADER, ROWS[5]), "online-retail: no interaction is left ("),
    ],
)
def test_broken_files_are_refused_by_line(tmp_path, lines, message):
    write(tmp_path / "raw", FILE, *lines)
    assert refusal(NAME, tmp_path / "raw").startswith(message)


def test_a_workbook_alone_is_refused_with_what_to_do(tmp_path):
    write(tmp_path / "raw", "Online Retail.xlsx", "PK")
    message = refusal(NAME, tmp_path / "raw")
    assert "Online Retail.xlsx: a workbook is not read." in message
    assert "save it as 'Online Retail.csv' in the same folder" in message


def test_text_in_two_byte_characters_is_refused(tmp_path):
    write(tmp_path / "raw", FILE, HEADER, *ROWS, encoding="utf-16")
    assert refusal(NAME, tmp_path / "raw").startswith(f"{FILE}, line 1: holds a zero byte")
