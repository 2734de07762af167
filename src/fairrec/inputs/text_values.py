"""What the text in a column stands for: numbers, names, true and false, or no value."""

from __future__ import annotations

import numpy as np
import polars as pl

from fairrec.core.errors import InputError, plain
from fairrec.inputs.frames import Role
from fairrec.inputs.ids import whole_or_text

HEAD = 100
"""How many lines or values show most of what a file or column is not."""

NO_NAME = ("", "NULL", "\\N")
"""What stands for no value among names; 'NA' may be Namibia."""
NO_NUMBER = (
    *NO_NAME,
    *("null", "NA", "N/A", "n/a", "NaN", "nan", "None", "#N/A", "#NV", "#WERT!"),
)
"""What stands for no value among numbers."""

_DECIMAL_COMMA = r"^[+-]?\d*(,\d+)?([eE][+-]?\d+)?$"
_INEXACT = r"^[+-]?(0\d|\d{16})"
"""Text that a float would change: '007', and numbers of more digits than a float keeps."""
_FINE = r"[1-9](\.?\d){17}"
"""So many digits that numbers which differ may be one float."""
_MANY_DIGITS = r"[1-9]\.?(\d\.?){14,}[1-9]"
"""Sixteen digits or more; with fewer, a float has the same shortest decimal."""
_LAST_ZEROS = r"(\.\d*[1-9])0+$|\.0+$"
_THOUSANDS = {mark: rf"^-?[1-9]\d{{0,2}}([{mark}]\d{{3}})+$" for mark in ".,"}
_NO_MARK = r"^[+-]?\d+$"


def meant(
    text: pl.Series, column: str, role: Role, has_decimal_comma: bool
) -> tuple[pl.Series, list[str]]:
    """The values that text stands for in its role, and what to say about them.

    Parameters
    ----------
    has_decimal_comma : whether '3,5' may be a number
    """
    if role is Role.NAME:
        return text, []
    known, notes = _without_markers(text, column, NO_NAME if role is Role.LABEL else NO_NUMBER)
    if role is Role.LABEL:
        return _label(known, column), notes
    if text.null_count() < known.null_count() == len(known):
        return text, []
    if _is_in_thousands(known):
        raise _in_thousands(known, column)
    values = _number(known)
    if values.dtype == pl.String and has_decimal_comma:
        values = _with_decimal_comma(known)
        if values.dtype != pl.String:
            notes.append(f"the comma in column '{plain(column)}' is read as a decimal point")
    elif values.dtype == pl.Float64 and are_fine(known):
        values = _exact(known, values, column)
    return (text, []) if values.dtype == pl.String else (values, notes)


def may_be_in_thousands(numbers: pl.Series) -> bool:
    """Whether numbers may have been written as '1.906' beside '900', told without their text."""
    for part in (numbers.head(HEAD), numbers):
        size = part.abs()
        is_fraction = size != size.floor()
        # '1.906' is read as 1.906; below 1 and from 1000 on nobody writes thousands so
        thousandths = size * 1000
        is_like = (size > 1) & (size < 1000) & ((thousandths - thousandths.round()).abs() < 1e-6)
        if not (~is_fraction | is_like).all():
            return False
    return True


def are_fine(text: pl.Series) -> bool:
    """Whether some numbers have more digits than a float keeps."""
    return bool(text.str.contains(_FINE).any())


def _exact(text: pl.Series, numbers: pl.Series, column: str) -> pl.Series:
    """The numbers, as decimals where floats make some of them equal; an error where those do too.

    Many digits alone are no more than a way to write floats.
    """
    n_different = text.n_unique()
    if numbers.n_unique() == n_different:
        return numbers
    n_before = len(f"{float(np.nanmax(np.abs(numbers.to_numpy()))):.0f}")
    decimals = text.cast(pl.Decimal(38, max(38 - n_before, 0)), strict=False)
    if decimals.null_count() > text.null_count() or decimals.n_unique() < n_different:
        raise InputError(
            f"column '{plain(column)}' has more digits than a number keeps (such as "
            f"{plain(repr(text.filter(text.str.contains(_FINE))[0]))}), so that some may become "
            "equal. Round them, or give the rank of each item, 1 for the best."
        )
    return decimals


def _without_markers(
    text: pl.Series, column: str, markers: tuple[str, ...]
) -> tuple[pl.Series, list[str]]:
    """The text with null for what stands for no value, and how often which one did."""
    is_marker = text.is_in(markers)
    if not is_marker.any():
        return text, []
    found = text.filter(is_marker).value_counts(sort=True, name="n")
    notes = [
        f"{n:,} value{' is' if n == 1 else 's are'} '{marker}' in column '{plain(column)}' and "
        f"{'counts' if n == 1 else 'count'} as no value"
        for marker, n in found.sort("n", found.columns[0], descending=[True, False]).rows()
        if marker  # an empty field is empty, quoted or not
    ]
    return text.set(is_marker.fill_null(value=False), None), notes


def _is_in_thousands(text: pl.Series) -> bool:
    """Whether '1.906' beside '900' may be nineteen hundred and six, or a little below two.

    Where every value has three decimals, or some have more or fewer, they are decimals.
    """
    for mark, thousands in _THOUSANDS.items():
        either = f"{_NO_MARK}|{thousands}"
        if all(part.str.contains(either).all() for part in (text.head(HEAD), text)):
            is_marked = text.str.contains(mark, literal=True)
            return bool(is_marked.any()) and not is_marked.all()
    return False


def _in_thousands(text: pl.Series, column: str) -> InputError:
    """The error about numbers with thousands separators."""
    marked = text.filter(text.str.contains("[.,]"))
    unmarked = text.filter(text.str.contains(_NO_MARK))
    beside = f" beside {plain(repr(unmarked[0]))}" if len(unmarked) else ""
    return InputError(
        f"column '{plain(column)}' holds {plain(repr(marked[0]))}{beside}: the mark may stand "
        f"between thousands or before decimals ({len(marked):,} such values). Write numbers "
        "without thousands separators."
    )


def exact_numbers(text: pl.Series) -> pl.Series:
    """Numbers as floats; where one has more digits than a float keeps, whole numbers or text.

    >>> exact_numbers(pl.Series(["0.10", "0.30000000000000004"])).to_list()
    [0.1, 0.30000000000000004]
    >>> exact_numbers(pl.Series(["0.10", "0.10000000000000000001"])).to_list()
    ['0.1', '0.10000000000000000001']
    """
    text = text.str.replace(_LAST_ZEROS, "$1")
    numbers = text.cast(pl.Float64)
    is_long = text.str.contains(_MANY_DIGITS)
    is_finer = (numbers.filter(is_long).cast(pl.String) != text.filter(is_long)).any()
    return whole_or_text(text) if is_finer else numbers


def _label(text: pl.Series, column: str) -> pl.Series:
    """Whole numbers, true and false as such; text that a number would change stays."""
    whole = whole_or_text(text)
    is_as_written = column.endswith(":token") or _all(text, pl.Int64)
    if whole.dtype != pl.String or is_as_written or text.str.contains(_INEXACT).any():
        return whole
    # '1.906' beside '900' may be more or less, and as a name it is neither
    if _is_in_thousands(text):
        return text
    values = _number(text)
    return exact_numbers(text) if values.dtype == pl.Float64 else values


def _number(text: pl.Series) -> pl.Series:
    """Numbers, or true and false, where all text is; the text itself otherwise."""
    for kind in (pl.Int64, pl.Float64):
        if _all(text, kind):
            return text.cast(kind)
    return text.str.to_lowercase() == "true" if _is_true_or_false(text) else text


def _with_decimal_comma(text: pl.Series) -> pl.Series:
    if not text.str.contains(_DECIMAL_COMMA).all():
        return text
    numbers = text.str.replace(",", ".", literal=True)
    return numbers.cast(pl.Float64) if _all(numbers, pl.Float64) else text


def _all(text: pl.Series, kind: type[pl.DataType]) -> bool:
    """Whether all text is of a kind; most columns of words show in a few values that it is not."""
    return all(
        part.cast(kind, strict=False).null_count() == part.null_count()
        for part in (text.head(HEAD), text)
    )


def _is_true_or_false(text: pl.Series) -> bool:
    words = text.drop_nulls()
    return len(words) > 0 and all(
        bool(part.str.to_lowercase().is_in(["true", "false"]).all())
        for part in (words.head(HEAD), words)
    )
