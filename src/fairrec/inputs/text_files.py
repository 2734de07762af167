"""Text files of fields: what separates them, whether lines are whole, and what text stands for."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import polars as pl

from fairrec.core.errors import InputError, plain
from fairrec.inputs.frames import Role, Source
from fairrec.inputs.ids import whole_or_text
from fairrec.inputs.notes import CHECK_FIRST

SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "'|'"}
"""What may stand between two fields, in words."""
NO_NAME = ("", "NULL", "\\N")
"""What stands for no value among names; 'NA' may be Namibia."""
NO_NUMBER = (*NO_NAME, "null", "NA", "N/A", "n/a", "NaN", "nan", "None", "#N/A")
"""What stands for no value among numbers."""

_HEAD = 100
"""How many lines or values show most of what a file or column is not."""
_NAMED_COLUMNS = "The first line has to name the columns."
_QUOTED = r'"(?:[^"]|"")*"'
_DECIMAL_COMMA = r"^[+-]?\d*(,\d+)?([eE][+-]?\d+)?$"
_INEXACT = r"^[+-]?(0\d|\d{16})"
"""Text that a float would change: '007', and numbers of more digits than a float keeps."""


class TextFile(Source):
    """A file of lines, its fields separated by one of `SEPARATORS`, with a header.

    Parameters
    ----------
    source : the path, or its content
    where : its name in messages
    usual : the separators that the ending promises, the likeliest first
    """

    is_text = True

    def __init__(self, source: Path | bytes, where: str, usual: Sequence[str]) -> None:
        self._source, self._where = source, where
        first = next(filter(None, _scan_lines(source).head(_HEAD).collect()["line"]), None)
        if first is None:
            raise pl.exceptions.NoDataError("the file is empty")
        self._separator, header = _split_header(first, usual)
        named = [name for name in header if name]
        if twice := [name for name in named if named.count(name) > 1]:
            raise InputError(
                f"{where}: several columns are named {plain(repr(twice[0]))}. Give each a name of "
                f"its own. {_NAMED_COLUMNS}"
            )
        super().__init__(self._scan())
        if value := next((name for name in header if _is_number(name)), None):
            self.hint = f"{plain(repr(value))} looks like data. {_NAMED_COLUMNS}"
        if len(self.columns) == 1:
            known = ", ".join(SEPARATORS.values())
            self.hint = f"The file has one column: fields are separated by one of {known}."
        self._n_blank: int | None = None
        self._n_like_rows = 0
        self.notes: list[str] = []

    def read(self, columns: Mapping[str, str], roles: Mapping[str, Role]) -> pl.DataFrame:
        """Some columns, read as text and turned into what they are read for."""
        others = {columns[name] for name, role in roles.items() if role is not Role.NUMBER}
        numbers = [column for column in columns.values() if column not in others]
        table = self._read_fields(columns, numbers)
        for name, column in columns.items():
            if table[name].dtype == pl.String:
                has_comma = self._separator != ","
                values, notes = parse_text(table[name], column, roles[name], has_comma)
                table = table.with_columns(values.alias(name))
                named = [f"{self._where}: {note}" for note in notes]
                self.notes = [*dict.fromkeys([*self.notes, *named])]
        return table

    def _read_fields(self, columns: Mapping[str, str], numbers: Sequence[str] = ()) -> pl.DataFrame:
        """Some columns as text, or as numbers where all of those that shall be are."""
        picked = [pl.col(column).alias(name) for name, column in columns.items()]
        if self._n_blank is None:
            self._n_blank, self._n_like_rows = refuse_ragged(
                self._source, self._where, self._separator, len(self.columns)
            )
        try:
            # at once, which takes a fifth of the memory of text
            rows = self._scan(numbers).select(picked).collect()
        except pl.exceptions.ComputeError:
            if not numbers:
                raise
            rows = self._scan().select(picked).collect()
        # blank lines at the end are no rows; elsewhere, something may be missing
        rows = rows.head(rows.height - self._n_blank)
        if (n_lost := self._n_like_rows - rows.height) > 0:
            self.notes.append(
                f"{CHECK_FIRST}{self._where}: {n_lost:,} lines that look like rows stand within "
                "quotes. If a quote was left open, these rows are lost: close it, or write a quote "
                "within a field twice"
            )
            self._n_like_rows = 0
        return rows

    def _scan(self, numbers: Sequence[str] = ()) -> pl.LazyFrame:
        return pl.scan_csv(
            self._source,
            separator=self._separator,
            infer_schema_length=0,
            schema_overrides=dict.fromkeys(numbers, pl.Float64),
            glob=False,
        )


def _split_header(line: str, usual: Sequence[str]) -> tuple[str, list[str]]:
    """The separator of the header, a usual one if that splits it, and the names of columns."""
    names = {
        separator: next(csv.reader([line], delimiter=separator))
        for separator in (*usual, *SEPARATORS)
    }
    # a quote that is left in a name shows that the separator stands within quotes
    whole = [one for one in names if '"' not in "".join(names[one])] or [*names]
    split = [one for one in usual if one in whole and len(names[one]) > 1]
    found = split[0] if split else max(whole, key=lambda separator: len(names[separator]))
    return found, names[found]


def _is_number(text: str) -> bool:
    with suppress(ValueError):
        float(text)
        return True
    return False


def _scan_lines(source: Path | bytes) -> pl.LazyFrame:
    """One line a row in the column `line`; it unpacks files, and knows one line end."""
    # no text holds a zero byte, so each line comes whole
    lines = pl.scan_csv(
        source,
        separator="\0",
        quote_char=None,
        has_header=False,
        schema={"line": pl.String},
        encoding="utf8-lossy",
        glob=False,
    )
    return lines.select(pl.col("line").str.strip_chars_end("\r").fill_null(""))


def refuse_ragged(
    source: Path | bytes, where: str, separator: str, n_fields: int
) -> tuple[int, int]:
    """Refuse lines of other length than the header; the number of blank lines at the end.

    Polars fills up short lines silently. A file with a field over several lines is left to it, and
    the second number is that of lines below the header with as many fields; else 0.
    """
    # to the reader, quotes are such at the start of a field alone
    bare = pl.col("line").str.replace_all(rf"(^|[{separator}]){_QUOTED}", "${1}")
    is_some = pl.col("line").str.len_bytes() > 0
    is_ragged = pl.col("is_some") & (pl.col("fields") != n_fields)
    found = (
        _scan_lines(source)
        .select(is_some=is_some, bare=bare)
        .with_columns(fields=pl.col("bare").str.count_matches(separator, literal=True) + 1)
        .with_row_index("row")
        .select(
            is_open=pl.col("bare").str.contains('"', literal=True).any(),
            n_like_rows=(pl.col("is_some") & (pl.col("fields") == n_fields)).sum() - 1,
            n_ragged=is_ragged.sum(),
            row=pl.col("row").filter(is_ragged).first(),
            fields=pl.col("fields").filter(is_ragged).first(),
            n_blank=pl.len() - 1 - pl.col("row").filter(pl.col("is_some")).last(),
        )
        .collect(engine="streaming")
        .row(0, named=True)
    )
    if found["n_ragged"] and not found["is_open"]:
        raise InputError(
            f"{where}, row {found['row']:,}: {found['fields']:,} fields, where the header has "
            f"{n_fields:,} ({found['n_ragged']:,} such rows). Fix the line, delete it if it is a "
            "comment, or put quotes around a field that holds the separator."
        )
    return int(found["n_blank"]), int(found["n_like_rows"]) if found["is_open"] else 0


def parse_text(
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
        return _parse_label(known, column), notes
    if text.null_count() < known.null_count() == len(known):
        return text, []
    values = _parse_number(known)
    if values.dtype == pl.String and has_decimal_comma and _all_match(known, _DECIMAL_COMMA):
        values = _parse_number(known.str.replace(",", ".", literal=True))
        notes.append(f"the comma in column '{plain(column)}' is read as a decimal point")
    return (text, []) if values.dtype == pl.String else (values, notes)


def _without_markers(
    text: pl.Series, column: str, markers: tuple[str, ...]
) -> tuple[pl.Series, list[str]]:
    """The text with null for what stands for no value, and a note on such markers."""
    is_marker = text.is_in(markers)
    # an empty field is empty, quoted or not
    named = text.filter(is_marker & (text != "")).unique().sort()
    notes = []
    if len(named):
        which = " and ".join(f"'{marker}'" for marker in named)
        notes.append(f"{which} in column '{plain(column)}' is taken as missing")
    return text.set(is_marker.fill_null(value=False), None), notes


def _parse_label(text: pl.Series, column: str) -> pl.Series:
    """Whole numbers, true and false as such; text that a number would change stays."""
    whole = whole_or_text(text)
    is_as_written = column.endswith(":token") or _all_are(text, pl.Int64)
    if whole.dtype != pl.String or is_as_written or text.str.contains(_INEXACT).any():
        return whole
    return _parse_number(text)


def _parse_number(text: pl.Series) -> pl.Series:
    """Numbers, or true and false, where all text is; the text itself otherwise."""
    for kind in (pl.Int64, pl.Float64):
        if _all_are(text, kind):
            return text.cast(kind)
    is_truth = text.null_count() < len(text) and _all_match(text, "(?i)^(true|false)$")
    return text.str.to_lowercase() == "true" if is_truth else text


def _all_are(text: pl.Series, kind: type[pl.DataType]) -> bool:
    """Whether all text is of a kind; most columns of words show in a few values that it is not."""
    return all(
        part.cast(kind, strict=False).null_count() == part.null_count()
        for part in (text.head(_HEAD), text)
    )


def _all_match(text: pl.Series, pattern: str) -> bool:
    return all(part.str.contains(pattern).all() for part in (text.head(_HEAD), text))
