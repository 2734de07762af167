"""Columns with several values a user: recognised, and made into attributes with one value."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec.inputs.multivalued import MOST_EACH, is_joined, split_values
from tests.builders import audit, two_groups

LANGUAGES = ["en", "fr|en", "en", "fr"]
LISTS = [["en"], ["fr", "en"], ["en"], ["fr"]]


def made(values: Any, how: str | None) -> dict[str, list[Any]]:
    """The columns that a column becomes, by name."""
    columns, _ = split_values(pl.Series(values), "lang", how, "users.csv")
    return {name: column.to_list() for name, column in columns.items()}


@pytest.mark.parametrize(
    ("values", "joined"),
    [
        (["en", "fr", "en|fr", "fr"], [2]),
        (["en|fr", "fr|de", "de|en"], [0, 1, 2]),
        (["Drama", "Comedy|Drama", "Sci-Fi|Drama", "Comedy"], [1, 2]),
        ([" en | fr", "fr", None, "en"], [0]),
        # the one name of a value, which always stands so
        (["R|B", "pop", "R|B", "jazz"], []),
        (["a|b", "a|b", "a|b"], []),
        # keys of one form
        (["US|Boston", "US|Miami", "FR|Paris", "US|Boston"], []),
        (["18|f", "18|m", "25|f", "25|m"], []),
        (["one", "two", None], []),
        (["|", "a", "||"], []),
        ([1, 2, 3], []),
        ([], []),
    ],
    ids=str,
)
def test_values_are_joined_where_their_parts_occur_without_each_other(values, joined):
    assert is_joined(pl.Series(values)).arg_true().to_list() == joined


@pytest.mark.parametrize("values", [LANGUAGES, LISTS, pl.Series(LANGUAGES, dtype=pl.Categorical)])
def test_the_first_value_is_taken(values):
    assert made(values, "first") == {"lang": ["en", "fr", "en", "fr"]}


@pytest.mark.parametrize("values", [LANGUAGES, LISTS])
def test_each_value_becomes_an_attribute(values):
    assert made(values, "each") == {
        "lang[en]": ["yes", "yes", "yes", "no"],
        "lang[fr]": ["no", "yes", "no", "yes"],
    }


@pytest.mark.parametrize("values", [LANGUAGES, LISTS])
def test_all_values_together_are_one(values):
    assert made(values, "whole") == {"lang": LANGUAGES}


@pytest.mark.parametrize("values", [["en|fr", None, ""], [["en", None, "fr"], None, []]])
def test_a_user_without_a_value_is_missing_in_every_way(values):
    assert made(values, "first")["lang"] == ["en", None, None]
    assert made(values, "each") == {
        "lang[en]": ["yes", None, None],
        "lang[fr]": ["yes", None, None],
    }
    whole = made(values, "whole")["lang"]
    assert whole[:2] == ["en|fr", None]
    assert whole[2] in (None, "")


def test_numbers_stay_numbers_and_one_value_stays_one():
    assert made([[3, 1], [2]], "first") == {"lang": [3, 2]}
    assert made(pl.Series([[3, 1], [2, 4]], dtype=pl.Array(pl.Int8, 2)), "whole") == {
        "lang": ["3|1", "2|4"]
    }
    assert made([3, None, 1], "first") == {"lang": [3, None, 1]}
    assert made([True, False], "each") == {
        "lang[false]": ["no", "yes"],
        "lang[true]": ["yes", "no"],
    }


@pytest.mark.parametrize("values", [LANGUAGES, LISTS])
def test_several_values_are_refused_with_the_choice(values):
    with pytest.raises(InputError) as raised:
        made(values, None)
    message = str(raised.value)
    assert message.startswith("users.csv: attribute 'lang' ")
    assert "an attribute has one value a user" in message
    for how in ("first", "each", "whole"):
        assert f"(lang:{how})" in message


def test_a_few_users_with_several_values_are_told_and_carried_on_with():
    values = pl.Series(["en", "fr"] * 20 + ["en|fr"])
    columns, note = split_values(values, "lang", None, "users.csv")
    assert columns["lang"].to_list() == values.to_list()
    assert "several values for 1 of 41 users" in note
    assert "lang:first or lang:each" in note


@pytest.mark.parametrize("values", [["R|B", "pop"], ["a", "b"], [1, 2]])
def test_a_column_of_single_values_is_left_as_it_is(values):
    columns, note = split_values(pl.Series(values), "lang", None, "users.csv")
    assert ([*columns], columns["lang"].to_list(), note) == (["lang"], values, None)


def test_too_many_values_are_not_made_attributes():
    values = [f"v{i}|x" for i in range(MOST_EACH)]
    with pytest.raises(InputError, match=r"51 different values.*from 1 to 50.*lang:first"):
        made(values, "each")
    assert len(made(values[1:], "each")) == MOST_EACH
    with pytest.raises(InputError, match="0 different values"):
        made(pl.Series([None, None], dtype=pl.String), "each")


@pytest.mark.parametrize("how", ["each", "whole"])
@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (pl.Series([b"\xff", b"a"]), "Binary"),
        (pl.Series([[b"\xff"], [b"a"]]), "List"),
        (pl.Series([timedelta(1), timedelta(2)]), "Duration"),
        (pl.Series([object(), object()], dtype=pl.Object), "Object"),
    ],
)
def test_what_cannot_be_text_is_refused(values, kind, how):
    with pytest.raises(InputError, match=f"attribute 'lang' holds {kind}"):
        made(values, how)


@pytest.mark.parametrize("values", [[1.5, float("nan")], [[1.5], [float("nan")]]])
def test_nan_is_no_value(values):
    assert made(values, "each") == {"lang[1.5]": ["yes", None]}


EIGHT = ["fr|en", "en", "fr", "en|de", "de|fr", "en", "fr", "de"]


@pytest.mark.parametrize("values", [EIGHT, [text.split("|") for text in EIGHT]])
def test_an_audit_takes_each_value_as_an_attribute(values):
    predictions, users = two_groups(lang=values)
    result = audit(predictions, users, "lang:each")
    assert [*result.summary.attributes] == ["lang[de]", "lang[en]", "lang[fr]"]
    assert result.summary.by == ("lang:each",)
    groups = result.groups("mrr").filter(pl.col("depth") == 1, pl.col("lang[fr]") == "yes")
    # users 0, 2, 4, 6 have fr, and all of them are served at the first place
    assert (groups["support"].to_list(), groups["value"].to_list()) == ([4], [1.0])
    assert result.warnings == (
        "attribute 'lang' has several values for 3 of 8 users in the table; groups have one of "
        "the values, or several, or lack one",
    )


def test_groups_have_several_values_or_lack_one():
    predictions, users = two_groups(lang=EIGHT, gender=["F", "M"] * 4)
    result = audit(predictions, users, "gender,lang:each")
    langs = ["lang[de]", "lang[en]", "lang[fr]"]
    groups = result.groups("mrr").filter(pl.col("depth") < 4).select("gender", *langs)
    named = [{name: value for name, value in row.items() if value} for row in groups.to_dicts()]
    assert {"lang[en]": "yes", "lang[fr]": "yes"} in named
    assert {"lang[en]": "no"} in named
    # with another attribute, who lacks one is a group too
    assert {"gender": "F", "lang[en]": "no"} in named
    of_langs = [[group[one] for one in langs if one in group] for group in named]
    assert all(len(values) < 2 or {*values} == {"yes"} for values in of_langs)


def test_an_audit_takes_the_first_value_or_all_together():
    predictions, users = two_groups(lang=EIGHT)
    first = audit(predictions, users, "lang:first")
    assert first.per_user["lang"].to_list() == ["fr", "en", "fr", "en", "de", "en", "fr", "de"]
    assert first.warnings == (
        "attribute 'lang' has several values for 3 of 8 users in the table; the first of each "
        "counts",
    )
    whole = audit(predictions, users, "lang:whole")
    assert whole.per_user["lang"].to_list() == EIGHT
    with pytest.raises(InputError, match="lang:first"):
        audit(predictions, users, "lang")


def test_an_attribute_that_a_value_becomes_may_not_be_there_already():
    predictions, users = two_groups(lang=EIGHT, **{"lang[en]": ["a", "b"] * 4})
    with pytest.raises(InputError, match=r"'lang\[en\]' is named twice"):
        audit(predictions, users, ["lang:each", "lang[en]"])
