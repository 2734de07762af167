from __future__ import annotations

import pytest

from fairrec.core.kinds import UnfitError, names_in, pairs_in


def test_text_is_split_at_commas_and_a_sequence_is_taken_as_it_is():
    assert names_in("a, b,,c ,") == ["a", "b", "c"]
    assert names_in(["a, b", " c", ""]) == ["a, b", "c"]


def test_a_comma_in_brackets_belongs_to_the_name():
    text = "share@5[pay=a, b],ndcg@5, mean@3[x]"
    assert names_in(text) == ["share@5[pay=a, b]", "ndcg@5", "mean@3[x]"]
    assert pairs_in("share@5[pay=a, b]=higher,c=d") == {"share@5[pay=a, b]": "higher", "c": "d"}
    # only where they are closed
    assert names_in("a[b, c, d]e]") == ["a[b, c, d]e]"] and names_in("a[b,c") == ["a[b", "c"]


def test_a_value_may_have_the_mark_that_ends_its_name():
    assert pairs_in("user_id=a=b") == {"user_id": "a=b"}


def test_a_mapping_is_copied():
    given = {"a": "b"}
    assert pairs_in(given) == given
    assert pairs_in(given) is not given


@pytest.mark.parametrize(
    ("text", "part"), [("a", "a"), ("a=", "a="), ("=b", "=b"), ("x=1, x=2", "x=2"), ("x=1,y", "y")]
)
def test_what_is_no_pair_or_names_a_thing_twice_is_told(text: str, part: str):
    with pytest.raises(UnfitError) as caught:
        pairs_in(text)
    assert caught.value.part == part
