from __future__ import annotations

import pytest

from fairrec.core.option_types import UnfitError, split_names, split_pairs


def test_text_is_split_at_commas_and_a_sequence_is_taken_as_it_is():
    assert split_names("a, b,,c ,") == ["a", "b", "c"]
    assert split_names(["a, b", " c", ""]) == ["a, b", "c"]


def test_a_comma_in_brackets_belongs_to_the_name():
    text = "share@5[pay=a, b],ndcg@5, mean@3[x]"
    assert split_names(text) == ["share@5[pay=a, b]", "ndcg@5", "mean@3[x]"]
    assert split_pairs("share@5[pay=a, b]=higher,c=d") == {"share@5[pay=a, b]": "higher", "c": "d"}
    # only where they are closed
    assert split_names("a[b, c, d]e]") == ["a[b, c, d]e]"] and split_names("a[b,c") == ["a[b", "c"]


def test_a_value_may_have_the_mark_that_ends_its_name():
    assert split_pairs("user_id=a=b") == {"user_id": "a=b"}


def test_a_mapping_is_copied():
    given = {"a": "b"}
    assert split_pairs(given) == given
    assert split_pairs(given) is not given


@pytest.mark.parametrize(
    ("text", "part"), [("a", "a"), ("a=", "a="), ("=b", "=b"), ("x=1, x=2", "x=2"), ("x=1,y", "y")]
)
def test_what_is_no_pair_or_names_a_thing_twice_is_told(text: str, part: str):
    with pytest.raises(UnfitError) as caught:
        split_pairs(text)
    assert caught.value.part == part
