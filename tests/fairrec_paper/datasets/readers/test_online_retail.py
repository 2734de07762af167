"""Online Retail as UCI publishes it, saved as CSV."""

from __future__ import annotations

from datetime import datetime

import polars as pl
import pytest

from tests.fairrec_paper.datasets.raw_files import prepared, refusal, write

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


def workbook(folder, *rows) -> None:
    """The rows as UCI's workbook has them: numbers and times in cells of their own kind."""
    cells = pl.DataFrame(
        {
            "InvoiceNo": [row[0] for row in rows],
            "StockCode": [row[1] for row in rows],
            "Description": [row[2] for row in rows],
            "Quantity": [row[3] for row in rows],
            "InvoiceDate": [row[4] for row in rows],
            "UnitPrice": [row[5] for row in rows],
            "CustomerID": [row[6] for row in rows],
            "Country": [row[7] for row in rows],
        }
    )
    folder.mkdir()
    cells.write_excel(folder / "Online Retail.xlsx")


def test_the_workbook_gives_the_bundle_of_the_csv(tmp_path):
    workbook(
        tmp_path / "book",
        ("536365", "85123A", "WHITE", 6, datetime(2010, 12, 1, 8, 26), 2.55, 17850.0, "France"),
        ("536366", "71053", None, 2, datetime(2010, 12, 13, 8, 28), 3.39, 17850.0, "France"),
        ("536370", "22752", "BOXES", 5, datetime(2010, 12, 2, 9, 0), 7.65, None, "France"),
        ("C36371", "22752", "BOXES", -5, datetime(2010, 12, 2, 9, 0), 7.65, 17850.0, "France"),
    )
    write(
        tmp_path / "text",
        FILE,
        HEADER,
        "536365,85123A,WHITE,6,2010-12-01 08:26:00,2.55,17850,France",
        "536366,71053,,2,2010-12-13 08:28:00,3.39,17850,France",
        "536370,22752,BOXES,5,2010-12-02 09:00:00,7.65,,France",
        "C36371,22752,BOXES,-5,2010-12-02 09:00:00,7.65,17850,France",
    )
    book = prepared(NAME, tmp_path / "book", tmp_path / "a")
    text = prepared(NAME, tmp_path / "text", tmp_path / "b")
    for name in ("interactions", "users", "items"):
        assert getattr(book, name).equals(getattr(text, name))
    assert book.manifest.notes == text.manifest.notes


def test_a_broken_workbook_is_refused(tmp_path):
    write(tmp_path / "raw", "Online Retail.xlsx", "PK")
    message = refusal(NAME, tmp_path / "raw")
    assert message.startswith("Online Retail.xlsx: cannot be read as a workbook")
    workbook(tmp_path / "odd", ("1", "2", "3", "many", datetime(2010, 12, 1), 1.0, 5.0, "France"))
    assert refusal(NAME, tmp_path / "odd").startswith("Online Retail.xlsx, row 2: Quantity 'many'")


def test_text_in_two_byte_characters_is_refused(tmp_path):
    write(tmp_path / "raw", FILE, HEADER, *ROWS, encoding="utf-16")
    assert refusal(NAME, tmp_path / "raw").startswith(f"{FILE}, line 1: holds a zero byte")
