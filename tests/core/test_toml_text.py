from __future__ import annotations

import tomllib

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

# any text but halves of surrogate pairs, which no file in UTF-8 can hold
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
PLAIN = (
    TEXTS
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.sampled_from([1e22, -0.0])
)
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(TEXTS, VALUES, max_size=5))
def test_what_is_written_is_read_back(content):
    assert tomllib.loads(tomli_w.dumps(content)) == content


def test_own_values_come_before_tables_and_rows_stand_one_below_the_other():
    rows = [{"depth": 1, "n": 7, "about": "x" * 60}, {"depth": 2, "n": 8, "about": "y" * 60}]
    assert tomli_w.dumps(
        {"columns": {"a.b": "c"}, "plan": {"n": 1, "rows": rows}, "alpha": 0.05}
    ) == (
        "alpha = 0.05\n"
        "\n[columns]\n"
        '"a.b" = "c"\n'
        "\n[plan]\n"
        "n = 1\n"
        "rows = [\n"
        f'    {{depth = 1, n = 7, about = "{"x" * 60}"}},\n'
        f'    {{depth = 2, n = 8, about = "{"y" * 60}"}},\n'
        "]\n"
    )


def test_a_table_of_tables_alone_needs_no_heading():
    assert tomli_w.dumps({"plan": {"a": {"n": 1}, "b": {}}}) == "\n[plan.a]\nn = 1\n\n[plan.b]\n"


@pytest.mark.parametrize("value", [None, b"bytes", {1, 2}])
def test_what_toml_has_no_word_for_is_refused(value):
    with pytest.raises(TypeError, match="has no place in a settings file"):
        tomli_w.dumps({"key": value})
