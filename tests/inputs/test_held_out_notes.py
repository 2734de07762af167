from __future__ import annotations

from fairrec.inputs.notes import (
    GradesNote,
    HitsNote,
    ItemKindsNote,
    UnknownUsersNote,
    UnusedNumbersNote,
)


def test_grades_are_those_of_all_parts():
    one, other = (GradesNote("t", "rating", False, n, n, 2 * (n < 5)) for n in (5, 3))
    assert str(one) == ""
    assert "whatever their 'rating' (3 to 5); the 2 rows with 0 are not" in str(one + other)


def test_a_flag_in_one_part_may_be_a_number_in_all():
    columns = ("n", "liked")
    one = UnusedNumbersNote("t", columns, (0, 1), (1, 1), (True, True))
    other = UnusedNumbersNote("t", columns, (0, 0), (2, 0), (False, True))
    assert "'n' in t is 0 or 1" in str(one)
    assert "'liked' in t is 0 or 1" in str(one + other)
    assert "'n'" not in str(one + other)


def test_unknown_users_are_counted_over_parts_and_some_are_named():
    one, other = (UnknownUsersNote("t", "u", n, seen) for n, seen in ((1, (7,)), (400, (1, 2, 3))))
    assert str(one) == "1 user of t (7) is not in u and is left out"
    assert str(one + other) == "401 users of t (7, 1, 2 and 398 more) are not in u and are left out"


def test_ids_are_text_where_any_part_has_text():
    numbers, text = ItemKindsNote("p", "t", False, False), ItemKindsNote("p", "t", True, False)
    assert str(numbers) == ""
    assert str(numbers + text).startswith("item ids are text in p and whole numbers in t;")


def test_a_hit_in_any_part_is_enough():
    none, some = HitsNote("t", False), HitsNote("t", True)
    assert str(none + none).startswith("check: not one recommended item")
    assert str(none + some) == ""
