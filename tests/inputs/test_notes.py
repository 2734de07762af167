from __future__ import annotations

import pickle

from fairrec.inputs.notes import ItemsNote, N, RowsNote, added, in_words


def test_numbers_of_rows_add_up_over_parts():
    parts = [RowsNote(f"t: {N} of {N} rows repeat", n) for n in ((2, 10), (0, 1000), (3, 5))]
    total = added(added(parts[:1], parts[1:2]), parts[2:])
    assert in_words(total) == ("t: 5 of 1,015 rows repeat",)
    assert in_words(parts[1:2]) == ()


def test_notes_about_other_tables_stand_by_themselves():
    one, other = RowsNote(f"{N} rows of a", (1,)), RowsNote(f"{N} rows of b", (2,))
    assert in_words(added([one, "said"], [other, "said"])) == ("1 rows of a", "said", "2 rows of b")


def test_of_items_that_parts_share_those_of_one_part_are_told():
    notes = [ItemsNote(f"{N} of {N} items are new", n) for n in ((4, 90), (7, 80))]
    assert in_words(added(notes[:1], notes[1:])) == ("7 or more of 80 or more items are new",)
    assert in_words(notes[:1]) == ("4 of 90 items are new",)


def test_a_name_with_braces_is_told_as_it_is():
    note = RowsNote(f"{'{0}'}.parquet: {N} rows", (3,))
    assert in_words([pickle.loads(pickle.dumps(note))]) == ("{0}.parquet: 3 rows",)
