from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from pydantic import Field, TypeAdapter, ValidationError

from fairrec.core.option_types import (
    MemorySize,
    Names,
    Number,
    Pairs,
    Share,
    Support,
    Switch,
    UnfitError,
    Whole,
    as_data,
    describe,
    parse_percentage,
    split_names,
    split_pairs,
)

UP_TO_1000 = Annotated[Whole, Field(ge=0, le=1000)]


def parse(hint: Any, value: object) -> Any:
    return TypeAdapter(hint).validate_python(value)


@pytest.mark.parametrize("value", [100, 100.0, 1e2, "100", " 1e2 ", np.int32(100)])
def test_whole_numbers_are_known_however_they_are_written(value):
    found = parse(UP_TO_1000, value)
    assert found == 100
    assert type(found) is int


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        *(
            (UP_TO_1000, value)
            for value in (1.5, "1.5", "ten", "", None, True, np.nan, np.inf, -1, 1001, "1,00", [1])
        ),
        *((Whole, value) for value in ("inf", -np.inf, "nan")),
        *(
            (Annotated[Number, Field(gt=0, le=1)], value)
            for value in (0, 1.0001, "nan", "inf", None, "half", False)
        ),
        (Annotated[Number, Field(ge=0, lt=1)], 1),
        *(
            (Support, value)
            for value in (0, -3, 1.5, "100%", "0%", "101%", "1,5%", "few", None, "inf")
        ),
        *(
            (MemorySize, value)
            for value in ("4", "499MB", "-4GB", "4 G", "GB", "4GBs", "1e30", "..GB", True, None)
        ),
        (Switch, 1),
        (Switch, "yes"),
        (Names, 3),
        (Names, [3]),
        (Path, 3),
        (str, 3),
        (Annotated[Whole, Field(ge=1)] | Literal["full"], "fully"),
    ],
)
def test_what_does_not_fit_is_refused(hint, value):
    with pytest.raises(ValidationError):
        parse(hint, value)


@pytest.mark.parametrize(
    ("hint", "value", "expected"),
    [
        (Annotated[Number, Field(gt=0, le=1)], "1e-9", 1e-9),
        (Annotated[Number, Field(ge=0, lt=1)], np.float32(0.5), 0.5),
        (Support, "1%", 0.01),
        (Support, " 0.5 % ", 0.005),
        (Support, "0.2", 0.2),
        (Annotated[Share, Field(ge=0, le=1)], "5%", 0.05),
        (Annotated[Whole, Field(ge=1)] | Literal["full"] | None, "full", "full"),
        (Annotated[Whole, Field(ge=1)] | Literal["full"] | None, "2", 2),
        (Annotated[dict[str, Number], Pairs], "a=1,b=2", {"a": 1.0, "b": 2.0}),
        (Annotated[dict[str, Number], Pairs], {"a": 1, "b": "2"}, {"a": 1.0, "b": 2.0}),
        (Names, "a,b", ("a", "b")),
        (Names, ["a", "b, c"], ("a", "b, c")),
        (MemorySize, "500MB", 5 * 10**8),
        (MemorySize, " 2 gib ", 2**31),
        (MemorySize, "8e8", 8 * 10**8),
    ],
)
def test_what_fits_is_read(hint, value, expected):
    assert parse(hint, value) == expected


@pytest.mark.parametrize(
    ("hint", "expected"),
    [
        (Annotated[Whole, Field(ge=1)], "a whole number from 1"),
        (Number, "a number"),
        (Annotated[Number, Field(gt=0, le=1)], "a number above 0 up to 1"),
        (Annotated[Number, Field(gt=0, lt=1)], "a number above 0 and below 1"),
        (Annotated[Number, Field(ge=0, lt=1)], "a number from 0 and below 1"),
        (
            Annotated[Share, Field(gt=0, le=0.5)],
            "a share above 0 up to 0.5 (0.05) or a percentage (5%)",
        ),
        (Literal["a", "b", "c"], "'a', 'b' or 'c'"),
        (Annotated[Whole, Field(ge=1)] | Literal["full"], "a whole number from 1, or 'full'"),
        (Switch, "True or False"),
        (Path | None, "a path"),
    ],
)  # fmt: skip
def test_a_type_is_described_with_its_range(hint, expected):
    assert describe(hint).expected == expected


@pytest.mark.parametrize("text", ["0%", "100.1%", "1,5%", "5", "%", "-1%", "1e1%"])
def test_what_is_no_percentage_is_refused(text: str):
    with pytest.raises(ValueError, match="no percentage"):
        parse_percentage(text)


@pytest.mark.parametrize(
    ("text", "names"),
    [("a, b", ["a", "b"]), ("share@10[pay=a,b],c", ["share@10[pay=a,b]", "c"]), (",,", [])],
)
def test_names_stand_between_commas_that_are_in_no_brackets(text, names):
    assert split_names(text) == names


@pytest.mark.parametrize("text", ["a", "a=", "=b", "a=1,a=2", ["a=1", 3], {3: "a"}])
def test_what_is_no_pair_or_named_twice_is_told(text):
    with pytest.raises(UnfitError):
        split_pairs(text)


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (None, None),
        (True, True),
        (0.05, 0.05),
        (50.0, 50),
        (("a", "b"), ["a", "b"]),
        ({"a": (1.0,)}, {"a": [1]}),
        (Path("a") / "b", "a/b"),
        (1 + 2j, "(1+2j)"),
    ],
)
def test_a_value_is_written_as_data(value, data):
    found = as_data(value)
    assert (found, type(found)) == (data, type(data))
