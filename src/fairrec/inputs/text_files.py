"""Text files of fields: what separates them, whether lines are whole, and what text stands for."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path

import polars as pl

from fairrec.core.errors import InputError, keep_spellings, plain
from fairrec.inputs.frames import Role
from fairrec.inputs.ids import whole_or_text
from fairrec.inputs.notes import CHECK_FIRST

SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "'|'", "::": "'::'"}
"""What may stand between two fields, in words."""
NO_NAME = ("", "NULL", "\\N")
"""What stands for no value among names; 'NA' may be Namibia."""
NO_NUMBER = (
    *NO_NAME,
    *("null", "NA", "N/A", "n/a", "NaN", "nan", "None", "#N/A", "#NV", "#WERT!"),
)
"""What stands for no value among numbers."""

_HEAD = 100
"""How many lines or values show most of what a file or column is not."""
_NAMED_SEPARATOR = re.compile(r'"?sep=([,;\t|])"?')
"""The first line by which Excel is told the separator."""
_NAMED_COLUMNS = "The first line has to name the columns."
_QUOTED = r'"(?:[^"]|"")*"'
_DECIMAL_COMMA = r"^[+-]?\d*(,\d+)?([eE][+-]?\d+)?$"
_INEXACT = r"^[+-]?(0\d|\d{16})"
"""Text that a float would change: '007', and numbers of more digits than a float keeps."""
_THOUSANDS = {mark: rf"^-?[1-9]\d{{0,2}}([{mark}]\d{{3}})+$" for mark in ".,"}
_NO_MARK = r"^[+-]?\d+$"


class TextFile:
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
        lines = _first_lines(source, where)
        named = _NAMED_SEPARATOR.fullmatch(lines[0])
        self._n_skipped = 1 if named and any(lines[1:]) else 0
        lines = lines[self._n_skipped :]
        separator = named[1] if named and self._n_skipped else _find_separator(lines, usual)
        self._header = _split(lines, separator)[0]
        self._separator = separator
        if separator == "::":
            text = "\n".join(scan_lines(source, is_lossy=False).collect()["line"])
            self._source, self._separator = text.replace("::", "\t").encode(), "\t"
        for name, number in Counter(self._header).items():
            if name and number > 1:
                raise InputError(
                    f"{where}: {number} columns are named {plain(repr(name))}. Give each a name of "
                    f"its own. {_NAMED_COLUMNS}"
                )
        self.columns = self._scan().collect_schema().names()
        self.hint = ""
        if value := next((name for name in self._header if _is_number(name)), None):
            self.hint = f"{plain(repr(value))} looks like data. {_NAMED_COLUMNS}"
        if len(self.columns) == 1:
            known = ", ".join([*SEPARATORS.values()][:-1])
            self.hint = (
                f"The file has one column: between two fields there must be {known} or "
                f"{SEPARATORS['::']}."
            )
        self._n_blank: int | None = None
        self.notes: list[str] = []
        if len(self.columns) > 1 and separator not in usual:
            self.notes.append(
                f"{where}: fields are separated by {SEPARATORS[separator]}, "
                f"not by {SEPARATORS[usual[0]]}"
            )

    def kinds(self) -> Mapping[str, pl.DataType]:
        """What the text in each column stands for, found by reading all of it."""
        table = self._read_fields({column: column for column in self.columns})
        kinds: dict[str, pl.DataType] = {}
        for column in self.columns:
            try:
                kinds[column] = self._parse(table[column], column, Role.ANY)[0].dtype
            except InputError:
                # numbers that cannot be read: refused where they are wanted
                kinds[column] = pl.Float64()
        return kinds

    def read(self, columns: Mapping[str, str], roles: Mapping[str, Role]) -> pl.DataFrame:
        """Some columns, read as text and turned into what they are read for."""
        others = {columns[name] for name, role in roles.items() if role is not Role.NUMBER}
        numbers = [column for column in columns.values() if column not in others]
        table = self._read_fields(columns, numbers)
        for name, column in columns.items():
            if table[name].dtype == pl.String:
                values, notes = self._parse(table[name], column, roles[name])
                table = table.with_columns(values.alias(name))
                self.notes = [*dict.fromkeys([*self.notes, *notes])]
            elif may_be_in_thousands(table[name]):
                # only the text shows whether they are
                mark = pl.col(column).str.contains(".", literal=True)
                n_marked = self._scan().select(mark.sum()).collect().item()
                if 0 < n_marked < len(table) - table[name].null_count():
                    self._parse(self._scan().select(column).collect()[column], column, Role.NUMBER)
        return table

    def _parse(self, text: pl.Series, column: str, role: Role) -> tuple[pl.Series, list[str]]:
        try:
            values, notes = parse_text(text, column, role, self._separator != ",")
        except InputError as error:
            raise InputError(f"{self._where}: {keep_spellings(error)}") from error
        return values, [f"{self._where}: {note}" for note in notes]

    def _read_fields(self, columns: Mapping[str, str], numbers: Sequence[str] = ()) -> pl.DataFrame:
        """Some columns as text, or as numbers where all of those that shall be are."""
        picked = [pl.col(column).alias(name) for name, column in columns.items()]
        if self._n_blank is None:
            shape = self._where, self._separator, len(self._header), self._n_skipped
            self._n_blank, n_open = refuse_ragged(self._source, *shape)
            if n_open:
                self.notes.append(
                    f"{CHECK_FIRST}{self._where}: {n_open:,} quoted fields go on over lines that "
                    "look like rows of their own. If a quote was left open, these rows are lost: "
                    "close it, or write a quote within a field twice"
                )
        try:
            # at once, which takes a fifth of the memory of text
            rows = self._scan(numbers).select(picked).collect()
        except pl.exceptions.ComputeError:
            if not numbers:
                raise
            rows = self._scan().select(picked).collect()
        # blank lines at the end are no rows; elsewhere, something may be missing
        return rows.head(rows.height - self._n_blank)

    def _scan(self, numbers: Sequence[str] = ()) -> pl.LazyFrame:
        return pl.scan_csv(
            self._source,
            separator=self._separator,
            infer_schema_length=0,
            schema_overrides=dict.fromkeys(numbers, pl.Float64),
            skip_lines=self._n_skipped,
            glob=False,
        )


def _first_lines(source: Path | bytes, where: str) -> list[str]:
    head = scan_lines(source, n_lines=_HEAD).collect()["line"].to_list()
    if not any(head):
        raise pl.exceptions.NoDataError("the file is empty")
    if len(head) == 1 and "\r" in head[0]:
        raise InputError(
            f"{where}: its lines end with a carriage return alone, so that the file is one line. "
            "Save it with the line ends of Unix or Windows."
        )
    return head


def _split(lines: Sequence[str], separator: str) -> list[list[str]]:
    """The fields of the records in some lines, quotes undone."""
    if separator != "::":
        with suppress(csv.Error):
            ended = (f"{line}\n" for line in lines)
            return [record for record in csv.reader(ended, delimiter=separator) if record]
    return [line.split(separator) for line in lines if line]


def _find_separator(lines: Sequence[str], usual: Sequence[str]) -> str:
    """The separator by which all records have as many fields as the header, and the most of them.

    The usual one is taken where it does, and also where none does: what is wrong then is said by
    the reader, not by a guess.
    """
    counts = {}
    for separator in SEPARATORS:
        records = _split(lines, separator)
        if any('"' in name for name in records[0]):
            continue  # it stands within quotes
        # the last one may go on in lines that were not looked at
        whole = records[:-1] if len(records) > 1 and len(lines) == _HEAD else records
        counts[separator] = [len(record) for record in whole] or [1]
    split = [separator for separator, numbers in counts.items() if numbers[0] > 1]
    even = [separator for separator in split if len({*counts[separator]}) == 1]
    for found in (even, split):
        if found:
            by_fields = max(found, key=lambda separator: counts[separator][0])
            return next((separator for separator in usual if separator in found), by_fields)
    return usual[0]


def _is_number(text: str) -> bool:
    with suppress(ValueError):
        float(text)
        return True
    return False


def scan_lines(
    source: Path | bytes, n_skipped: int = 0, n_lines: int | None = None, is_lossy: bool = True
) -> pl.LazyFrame:
    """One line a row in the column `line`; it unpacks files, and knows one line end.

    Parameters
    ----------
    n_skipped : lines before the first one that is wanted
    n_lines : at most; None for all
    is_lossy : whether bytes that are no UTF-8 are replaced, or refused
    """
    # no text holds a zero byte, so each line comes whole
    lines = pl.scan_csv(
        source,
        separator="\0",
        quote_char=None,
        has_header=False,
        schema={"line": pl.String},
        skip_lines=n_skipped,
        n_rows=n_lines,
        encoding="utf8-lossy" if is_lossy else "utf8",
        glob=False,
    )
    return lines.select(pl.col("line").str.strip_chars_end("\r").fill_null(""))


def refuse_ragged(
    source: Path | bytes, where: str, separator: str, n_fields: int, n_skipped: int
) -> tuple[int, int]:
    """Refuse records of other length than the header.

    Parameters
    ----------
    where : its name in messages
    n_fields : of the header
    n_skipped : lines before it

    Returns
    -------
    how many lines at the end are blank, and how many records look like several
    """
    lines = scan_lines(source, n_skipped)
    # to the reader, quotes are such at the start of a field alone
    quoted = rf"(^|[{separator}]){_QUOTED}"
    bare = pl.col("line").str.replace_all(quoted, "${1}")
    fields = bare.str.count_matches(separator, literal=True) + 1
    is_some = pl.col("line").str.len_bytes() > 0
    is_ragged = pl.col("is_some") & (pl.col("fields") != n_fields)
    found = (
        lines.select(is_some=is_some, bare=bare, fields=fields)
        .with_row_index("row")
        .select(
            is_open=pl.col("bare").str.contains('"', literal=True).any(),
            n_ragged=is_ragged.sum(),
            row=pl.col("row").filter(is_ragged).first(),
            fields=pl.col("fields").filter(is_ragged).first(),
            n_lines=pl.len(),
            last=pl.col("row").filter(pl.col("is_some")).last(),
        )
        .collect(engine="streaming")
        .row(0, named=True)
    )
    row, n_found, n_ragged, n_open = found["row"], found["fields"], found["n_ragged"], 0
    if found["is_open"]:
        # a quoted field goes on in the next line, or a quote stands within a field
        row, n_found, n_ragged, n_open = _find_ragged_records(lines, where, separator, n_fields)
    if n_ragged:
        many = f" ({n_ragged:,} such rows)" if n_ragged > 1 else ""
        raise InputError(
            f"{where}, row {row:,}: {n_found:,} fields, where the header has {n_fields:,}"
            f"{many}. Fix the line, delete it if it is a comment, or put quotes around a field "
            "that holds the separator."
        )
    return int(found["n_lines"] - 1 - (found["last"] or 0)), n_open


def _find_ragged_records(
    lines: pl.LazyFrame, where: str, separator: str, n_fields: int
) -> tuple[int, int, int, int]:
    """The first ragged record and its fields, how many are, and how many look like several.

    It looks at record by record, which takes longer.
    """
    # what stands in a field does not matter, only that something does
    short = pl.col("line").str.replace_all(rf'[^"{separator}]+', "x")
    texts = lines.select(short).collect(engine="streaming")["line"]
    # one line more, which is a record of its own unless a quote is still open
    reader = csv.reader((f"{text}\n" for text in chain(texts, "x")), delimiter=separator)
    lengths: list[int] = []
    last: list[str] = []
    at, n_open = 0, 0
    with suppress(csv.Error):  # a field of more lines than any has
        for last in reader:
            lengths.append(len(last))
            if reader.line_num > at + 1:
                inside = texts[at : reader.line_num].str.count_matches(separator, literal=True)
                n_open += bool((inside == n_fields - 1).all())
            at = reader.line_num
    if last != ["x"]:
        raise InputError(
            f"{where}: a quote is opened and not closed. Close it, or write a quote within a field "
            "twice."
        )
    ragged = [(row, n) for row, n in enumerate(lengths[:-1]) if n not in (0, n_fields)]
    return *(ragged or [(0, 0)])[0], len(ragged), n_open


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
    if _is_in_thousands(known):
        marked = known.filter(known.str.contains("[.,]"))
        unmarked = known.filter(known.str.contains(_NO_MARK))
        beside = f" beside {plain(repr(unmarked[0]))}" if len(unmarked) else ""
        raise InputError(
            f"column '{plain(column)}' holds {plain(repr(marked[0]))}{beside}: the mark may stand "
            f"between thousands or before decimals ({len(marked):,} such values). Write numbers "
            "without thousands separators."
        )
    values = _parse_number(known)
    if values.dtype == pl.String and has_decimal_comma and _all_match(known, _DECIMAL_COMMA):
        values = _parse_number(known.str.replace(",", ".", literal=True))
        notes.append(f"the comma in column '{plain(column)}' is read as a decimal point")
    return (text, []) if values.dtype == pl.String else (values, notes)


def may_be_in_thousands(numbers: pl.Series) -> bool:
    """Whether numbers may have been written as '1.906' beside '900', told without their text."""
    for part in (numbers.head(_HEAD), numbers):
        size = part.abs()
        is_fraction = size != size.floor()
        # '1.906' is read as 1.906; below 1 and from 1000 on nobody writes thousands so
        thousandths = size * 1000
        is_like = (size > 1) & (size < 1000) & ((thousandths - thousandths.round()).abs() < 1e-6)
        if not (~is_fraction | is_like).all():
            return False
    return True


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
        if _all_match(text, f"{_NO_MARK}|{thousands}"):
            is_marked = text.str.contains(mark, literal=True)
            return bool(is_marked.any()) and not is_marked.all()
    return False


def _parse_label(text: pl.Series, column: str) -> pl.Series:
    """Whole numbers, true and false as such; text that a number would change stays."""
    whole = whole_or_text(text)
    is_as_written = column.endswith(":token") or _all_are(text, pl.Int64)
    if whole.dtype != pl.String or is_as_written or text.str.contains(_INEXACT).any():
        return whole
    # '1.906' beside '900' may be more or less, and as a name it is neither
    return text if _is_in_thousands(text) else _parse_number(text)


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
