"""Amazon Electronics as UC San Diego publishes it."""

from __future__ import annotations

import gzip
import json

import pytest

from tests.fairrec_paper.datasets.raw_files import prepared, refusal, write

NAME = "amazon-electronics"
REVIEWS = "reviews_Electronics_5.json"
PRODUCTS = "meta_Electronics.json"


def review(user, item, time, rating=5.0, **others):
    fields = {"reviewerID": user, "asin": item, "overall": rating, "unixReviewTime": time}
    return json.dumps({**fields, "reviewText": "“good”", **others})


def product(item, price, **others):
    return json.dumps({"asin": item, "price": price, "title": f"The {item}", **others})


ROWS = (
    review("A1", "B1", 300, 2.0),
    review("A1", "B2", 100),
    review("A1", "B3", 200),
    review("A2", "B1", 100),
    review("A2", "B9", 100),
)
GOODS = (
    product("B1", 9.5, categories=[["Electronics", "Audio"], ["Electronics", "Sale"]]),
    product("B2", "$1,020.00", category=["Electronics", "TV"]),
    product("B3", "$5"),
    product("B7", 1.0),
    product("B9", None),
)


@pytest.fixture
def raw(tmp_path):
    folder = tmp_path / "amazon"
    write(folder, REVIEWS, *ROWS)
    write(folder, PRODUCTS, *GOODS)
    return folder


def test_files_become_a_bundle_in_order_of_time(raw, tmp_path):
    bundle = prepared(NAME, raw, tmp_path / "bundle")
    assert bundle.interactions.rows() == [
        ("A1", "B2", True, 100, 5.0, 1020.0),
        ("A2", "B1", True, 100, 5.0, 9.5),
        ("A1", "B3", True, 200, 5.0, 5.0),
        ("A1", "B1", True, 300, 2.0, 9.5),
    ]
    assert bundle.interactions.columns[2:] == ["is_positive", "time", "rating", "price"]
    assert bundle.items.rows() == [
        ("B1", "The B1", 9.5, ["Electronics", "Audio", "Sale"]),
        ("B2", "The B2", 1020.0, ["Electronics", "TV"]),
        ("B3", "The B3", 5.0, []),
    ]
    # trained on: B2 of A1, whose last two are targets, and B1 of A2, who has no other
    assert bundle.users.columns == ["user_id", "activity", "spend", "top_price"]
    assert bundle.users.rows() == [("A1", 0, 5, 5), ("A2", 0, 0, 0)]


def test_manifest_states_the_rules_and_what_was_dropped(raw, tmp_path):
    manifest = prepared(NAME, raw, tmp_path / "bundle").manifest
    assert manifest.positive == "every review, whatever its rating"
    assert manifest.notes[0].startswith("activity, spend and top_price: decile 0 to 9")
    assert manifest.notes[1:] == (
        "reviewed products without a price, dropped: 1",
        "reviews of products without a price, dropped: 1",
    )


def test_compressed_files_read_the_same(raw, tmp_path):
    plain = prepared(NAME, raw, tmp_path / "plain")
    for name in (REVIEWS, PRODUCTS):
        (raw / f"{name}.gz").write_bytes(gzip.compress((raw / name).read_bytes()))
        (raw / name).unlink()
    packed = prepared(NAME, raw, tmp_path / "packed")
    assert packed.interactions.equals(plain.interactions)
    assert packed.items.equals(plain.items)
    assert f"{REVIEWS}.gz" in packed.manifest.source


def test_older_metadata_written_as_python_values_reads_the_same(raw, tmp_path):
    plain = prepared(NAME, raw, tmp_path / "plain")
    write(raw, PRODUCTS, *(repr(json.loads(line)) for line in GOODS))
    assert prepared(NAME, raw, tmp_path / "older").items.equals(plain.items)


def test_python_code_in_a_line_is_not_run(raw, tmp_path):
    witness = tmp_path / "witness"
    write(raw, PRODUCTS, f"{{'asin': open({str(witness)!r}, 'w')}}")
    assert refusal(NAME, raw).startswith(f"{PRODUCTS}, line 1: \"{{'asin': open(")
    assert not witness.exists()


def test_a_second_review_of_the_same_product_is_dropped_and_counted(raw, tmp_path):
    write(raw, REVIEWS, *ROWS, review("A2", "B1", 50, 1.0))
    bundle = prepared(NAME, raw, tmp_path / "bundle")
    assert bundle.interactions.row(0) == ("A2", "B1", True, 50, 1.0, 9.5)
    assert bundle.manifest.notes[-1] == "further rows of the same user and item, dropped: 1"


@pytest.mark.parametrize(
    "price", ["", "$3.99 - $8.99", ".a-box-inner{color:#fff}", 0, -1, True, [5], "9" * 400]
)
def test_what_is_not_one_price_counts_as_none(raw, tmp_path, price):
    write(raw, PRODUCTS, *GOODS[:2], product("B3", price))
    assert prepared(NAME, raw, tmp_path / "bundle").items["item_id"].to_list() == ["B1", "B2"]


def test_half_characters_become_question_marks(raw, tmp_path):
    write(raw, PRODUCTS, *GOODS[1:], product("B1", 1.0, category=["a\ud800"]))
    write(raw, REVIEWS, *ROWS, review("A\udc00", "B1", 1))
    bundle = prepared(NAME, raw, tmp_path / "bundle")
    assert bundle.items.row(-1) == ("B1", "The B1", 1.0, ["a?"])
    assert bundle.users["user_id"].to_list() == ["A1", "A2", "A?"]


@pytest.mark.parametrize(
    ("name", "line", "message"),
    [
        (REVIEWS, '{"reviewerID": "A1", ', ', line 2: \'{"reviewerID": "A1",\' is not a JSON'),
        (REVIEWS, "[1, 2]", ", line 2: '[1, 2]' is not a JSON record."),
        (REVIEWS, "[" * 100_000, ", line 2: '[[[["),
        (REVIEWS, '{"asin": "B1"}', ", line 2: no 'reviewerID'; fields here: 'asin'."),
        (REVIEWS, review("A1", 5, 1), ", line 2: asin 5 is not text."),
        (REVIEWS, review("A1", "B1", 1, "five"), ", line 2: overall 'five' is not a number."),
        (REVIEWS, review("A1", "B1", True), ", line 2: unixReviewTime True is not a number."),
        (REVIEWS, review("A1", "B1", float("nan")), ", line 2: unixReviewTime nan is not a"),
        (PRODUCTS, '{"price": 5}', ", line 2: no 'asin'; fields here: 'price'."),
    ],
)
def test_broken_files_are_refused_by_line(raw, name, line, message):
    write(raw, name, {REVIEWS: ROWS, PRODUCTS: GOODS}[name][0], line)
    assert refusal(NAME, raw).startswith(f"{name}{message}")


def test_text_that_is_not_utf_8_is_refused_by_line(raw):
    (raw / REVIEWS).write_bytes(ROWS[1].encode() + b'\n{"asin": "\xe9"}\n')
    message = refusal(NAME, raw)
    assert message.startswith(f"{REVIEWS}, line 2: holds the byte 0xe9, which is not UTF-8.")


def test_a_truncated_download_is_refused(raw):
    packed = gzip.compress("".join(f"{line}\n" for line in ROWS * 500).encode())
    (raw / REVIEWS).unlink()
    (raw / f"{REVIEWS}.gz").write_bytes(packed[: len(packed) // 2])
    message = refusal(NAME, raw)
    assert message.startswith(f"{REVIEWS}.gz, line ")
    assert "breaks off or is damaged" in message
    assert message.endswith("Download it again.")


def test_a_file_that_only_claims_to_be_compressed_is_refused(raw):
    (raw / REVIEWS).rename(raw / f"{REVIEWS}.gz")
    assert refusal(NAME, raw).startswith(f"{REVIEWS}.gz, line 1: the compressed file")


@pytest.mark.parametrize("name", [REVIEWS, PRODUCTS])
def test_a_missing_file_is_named(raw, name):
    (raw / name).unlink()
    message = refusal(NAME, raw)
    assert name in message
    assert "there. Get amazon-electronics from https://" in message


def test_no_priced_product_leaves_nothing(raw):
    write(raw, PRODUCTS, product("B1", None))
    message = refusal(NAME, raw)
    assert message.startswith("amazon-electronics: no interaction is left (")
    assert "reviewed products without a price, dropped: 4" in message
