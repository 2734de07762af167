"""Text files of fields: which character separates them, and how columns of them are read."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path

import polars as pl

from fairrec.core.errors import InputError, plain
from fairrec.inputs.frames import Role
from fairrec.inputs.text_values import HEAD, are_fine, may_be_in_thousands, meant

SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "'|'", "::": "'::'"}
"""What may stand between two fields, in words."""


_NAMED_SEPARATOR = re.compile(r'"?sep=([,;\t|])"?')
"""The first line by which Excel is told the separator."""


_NAMED_COLUMNS = "The first line has to name the columns."


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
        self._source = source
        self._where = where
        lines = _first_lines(source, where)
        named = _NAMED_SEPARATOR.fullmatch(lines[0])
        self._n_skipped = 1 if named and any(lines[1:]) else 0
        lines = lines[self._n_skipped :]
        self._separator = named[1] if named and self._n_skipped else _separator_of(lines, usual)
        self._header = _fields(lines, self._separator)[0]
        _refuse_twice(self._header, where)
        self.columns = (
            self._header if self._separator == "::" else self._scan().collect_schema().names()
        )
        self.hint = _about_header(self._header)
        if len(self.columns) == 1:
            known = ", ".join([*SEPARATORS.values()][:-1])
            self.hint = (
                f"The file has one column: between two fields there must be {known} or "
                f"{SEPARATORS['::']}."
            )
        self._n_blank: int | None = None
        self.notes: list[str] = []
        if len(self.columns) > 1 and self._separator not in usual:
            self.notes.append(
                f"{where}: fields are separated by {SEPARATORS[self._separator]}, "
                f"not by {SEPARATORS[usual[0]]}"
            )

    def kinds(self) -> Mapping[str, pl.DataType]:
        """What the text in each column stands for, found by reading all of it."""
        table = self._read_fields({column: column for column in self.columns})
        return {column: self._kind(table[column], column) for column in self.columns}

    def read(self, columns: Mapping[str, str], roles: Mapping[str, Role]) -> pl.DataFrame:
        """Some columns, read as text and turned into what they are read for."""
        others = {columns[name] for name, role in roles.items() if role is not Role.NUMBER}
        numbers = [column for column in columns.values() if column not in others]
        table = self._read_fields(columns, numbers)
        for name, column in columns.items():
            if table[name].dtype == pl.String:
                values, notes = self._meant(table[name], column, roles[name])
                table = table.with_columns(values.alias(name))
                said = (f"{self._where}: {note}" for note in notes)
                self.notes += [note for note in said if note not in self.notes]
            else:
                self._refuse_thousands(table[name], column)
        return table

    def _kind(self, text: pl.Series, column: str) -> pl.DataType:
        try:
            return self._meant(text, column, Role.ANY)[0].dtype
        except InputError:
            # numbers that cannot be read: refused where they are wanted
            return pl.Float64()

    def _meant(self, text: pl.Series, column: str, role: Role) -> tuple[pl.Series, list[str]]:
        try:
            return meant(text, column, role, has_decimal_comma=self._separator != ",")
        except InputError as error:
            raise InputError(f"{self._where}: {error}") from error

    def _refuse_thousands(self, numbers: pl.Series, column: str) -> None:
        """Refuse numbers read at once whose text shows that they may be in thousands."""
        if not may_be_in_thousands(numbers):
            return
        mark = pl.col(column).str.contains(".", literal=True)
        n_marked = self._scan().select(mark.sum()).collect().item()
        if 0 < n_marked < len(numbers) - numbers.null_count():
            self._meant(self._scan().select(column).collect()[column], column, Role.NUMBER)

    def _read_fields(self, columns: Mapping[str, str], numbers: Sequence[str] = ()) -> pl.DataFrame:
        """Some columns as text, or as numbers where all of those that shall be are."""
        picked = [pl.col(column).alias(name) for name, column in columns.items()]
        if self._separator == "::":
            return _split_lines(self._source, self._header, self._where, "::").select(picked)
        if self._n_blank is None:
            self._n_blank = refuse_ragged(
                self._source, self._where, self._separator, len(self._header), self._n_skipped
            )
        head = self._scan().select(numbers).head(HEAD).collect()
        numbers = [column for column in numbers if not are_fine(head[column])]
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
    head = scan_lines(source, n_lines=HEAD).collect()["line"].to_list()
    if not any(head):
        raise pl.exceptions.NoDataError("the file is empty")
    if len(head) == 1 and "\r" in head[0]:
        raise InputError(
            f"{where}: its lines end with a carriage return alone, as nobody writes them today, so "
            "that the file is one line. Save it with the line ends of Unix or Windows."
        )
    return head


def _fields(lines: Sequence[str], separator: str) -> list[list[str]]:
    """The fields of the records in some lines, quotes undone."""
    if separator == "::":
        return [line.split(separator) for line in lines if line]
    try:
        return [record for record in csv.reader(_ended(lines), delimiter=separator) if record]
    except csv.Error:
        return [line.split(separator) for line in lines if line]


def _ended(lines: Sequence[str]) -> list[str]:
    return [f"{line}\n" for line in lines]


def _separator_of(lines: Sequence[str], usual: Sequence[str]) -> str:
    """The separator by which all records have as many fields as the header, and the most of them.

    The usual one is taken where it does, and also where none does: what is wrong then is said by
    the reader, not by a guess.
    """
    counts = {}
    for separator in SEPARATORS:
        records = _fields(lines, separator)
        if any('"' in name for name in records[0]):
            continue  # it stands within quotes
        # the last one may go on in lines that were not looked at
        whole = records[:-1] if len(records) > 1 and len(lines) == HEAD else records
        counts[separator] = [len(record) for record in whole] or [1]
    split = [separator for separator, numbers in counts.items() if numbers[0] > 1]
    even = [separator for separator in split if len({*counts[separator]}) == 1]
    for found in (even, split):
        if found:
            by_fields = max(found, key=lambda separator: counts[separator][0])
            return next((separator for separator in usual if separator in found), by_fields)
    return usual[0]


def _about_header(header: Sequence[str]) -> str:
    """What to try where a column is missing and the first line looks like data, or nothing."""
    for name in header:
        try:
            float(name)
        except ValueError:
            continue
        return f"{plain(repr(name))} looks like data. {_NAMED_COLUMNS}"
    return ""


def _refuse_twice(header: Sequence[str], where: str) -> None:
    for name, number in Counter(header).items():
        if name and number > 1:
            raise InputError(
                f"{where}: {number} columns are named {plain(repr(name))}. Give each a name of "
                f"its own. {_NAMED_COLUMNS}"
            )


def _split_lines(
    source: Path | bytes, header: Sequence[str], where: str, separator: str
) -> pl.DataFrame:
    """The fields of all lines but the first, separated by more than one character."""
    rows = scan_lines(source, is_lossy=False).collect()["line"].slice(1)
    rows = rows.filter(rows != "")
    fields = rows.str.split(separator)
    uneven = (fields.list.len() != len(header)).arg_true()
    if len(uneven):
        raise InputError(
            f"{where}, row {uneven[0] + 1}: {len(fields[int(uneven[0])])} fields, where the header "
            f"has {len(header)} ({len(uneven):,} such rows). Fix the line or save it as CSV."
        )
    return pl.DataFrame(
        [fields.list.get(place).replace("", None).alias(name) for place, name in enumerate(header)],
    )


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


_QUOTED = r'"(?:[^"]|"")*"'


_FIX = (
    "Fix the line, delete it if it is a comment, or put quotes around a field that holds the "
    "separator."
)


def refuse_ragged(
    source: Path | bytes, where: str, separator: str, n_fields: int, n_skipped: int
) -> int:
    """How many lines at the end are blank; refuses records of other length than the header.

    Parameters
    ----------
    where : its name in messages
    n_fields : of the header
    n_skipped : lines before it
    """
    lines = scan_lines(source, n_skipped)
    # to the reader, quotes are such at the start of a field alone
    quoted = rf"(^|[{separator}]){_QUOTED}"
    bare = pl.col("line").str.replace_all(quoted, "${1}")
    fields = bare.str.count_matches(separator, literal=True) + 1
    is_some = pl.col("line").str.len_bytes() > 0
    is_uneven = pl.col("is_some") & (pl.col("fields") != n_fields)
    found = (
        lines.select(is_some=is_some, bare=bare, fields=fields)
        .with_row_index("row")
        .select(
            is_open=pl.col("bare").str.contains('"', literal=True).any(),
            n_uneven=is_uneven.sum(),
            row=pl.col("row").filter(is_uneven).first(),
            fields=pl.col("fields").filter(is_uneven).first(),
            n_lines=pl.len(),
            last=pl.col("row").filter(pl.col("is_some")).last(),
        )
        .collect(engine="streaming")
        .row(0, named=True)
    )
    if found["is_open"]:
        # a quoted field goes on in the next line, or a quote stands within a field
        _refuse_uneven_records(lines, where, separator, n_fields)
    elif found["n_uneven"]:
        _refuse(where, found["row"], found["fields"], n_fields, found["n_uneven"])
    return int(found["n_lines"] - 1 - (found["last"] or 0))


def _refuse_uneven_records(lines: pl.LazyFrame, where: str, separator: str, n_fields: int) -> None:
    """The same record by record, which takes longer."""
    # what stands in a field does not matter, only that something does
    short = pl.col("line").str.replace_all(rf'[^"{separator}]+', "x")
    texts = lines.select(short).collect(engine="streaming")["line"]
    # one line more, which is a record of its own unless a quote is still open
    ended = (f"{text}\n" for text in chain(texts, "x"))
    lengths: list[int] = []
    last: list[str] = []
    with suppress(csv.Error):  # a field of more lines than any has
        for last in csv.reader(ended, delimiter=separator):
            lengths.append(len(last))
    if last != ["x"]:
        raise InputError(
            f"{where}: a quote is opened and not closed. Close it, or write a quote within a field "
            "twice."
        )
    uneven = [(row, n) for row, n in enumerate(lengths[:-1]) if n not in (0, n_fields)]
    if uneven:
        _refuse(where, *uneven[0], n_fields, len(uneven))


def _refuse(where: str, row: int, n_found: int, n_fields: int, n_uneven: int) -> None:
    many = f" ({n_uneven:,} such rows)" if n_uneven > 1 else ""
    raise InputError(
        f"{where}, row {row:,}: {n_found:,} fields, where the header has {n_fields:,}{many}. {_FIX}"
    )
