"""The users table, whole or in parts: which users there are, with which attribute values."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from fairrec.core.arrays import BoolArray, CodeArray, IntArray
from fairrec.core.audited_entity import ITEMS, USERS, Unit
from fairrec.core.errors import InputError, UnknownNameError, keep_spellings, plain, unknown_name
from fairrec.core.options import spell
from fairrec.inputs.binning import Binning, bin_numbers, parse_binning
from fairrec.inputs.formats import RowSlice, scan_rows
from fairrec.inputs.frames import Rows, Source
from fairrec.inputs.ids import encode, ids_as_integers_or_text
from fairrec.inputs.multivalued import CLOSE, HAS, HOW, LACKS, OPEN, split_values
from fairrec.inputs.tables import Table

Value = bool | int | float | str


MISSING = "(missing)"
"""The value of a user whose attribute is not known: a group of its own, never dropped."""


OTHER = "(other)"
"""The value of a user whose own is not told, because too few are like this user."""
_MANY_NUMBERS, _MANY_TEXTS, _LEAST_TEXTS = 50, 1000, 20


_ENOUGH_EACH = 100
"""With so many users for each value, on average, many values need no advice."""


@dataclass(frozen=True, slots=True)
class AttributeSpec:
    """One entry of `by`: the attribute, the column it is read from, its binning.

    Parameters
    ----------
    several : what becomes of several values, where that was said
    warnings : what the reader should know about the column
    is_further : whether the column became other attributes before, of which this one says no more
    unit : what has a value of it each
    """

    name: str
    column: str
    binning: Binning | None = None
    several: str | None = None
    warnings: tuple[str, ...] = ()
    is_further: bool = False
    unit: Unit = USERS


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute of all users: a code per user and the value behind each code.

    Parameters
    ----------
    codes : (n_users,), positions in `values`
    values : in sorted order, `(missing)` last
    """

    name: str
    codes: CodeArray = field(repr=False)
    values: tuple[Value, ...]
    n_missing: int = 0
    binning: str | None = None
    warnings: tuple[str, ...] = ()
    unit: Unit = USERS

    @property
    def labels(self) -> pl.Series:
        """(n_users,), the value of each user as text."""
        texts = [str(value) for value in self.values]
        return pl.Series(self.name, texts, pl.String).gather(self.codes)

    @property
    def n_known(self) -> int:
        """The users who have a value."""
        return len(self.codes) - self.n_missing

    @property
    def advice(self) -> str | None:
        """What to do where there are so many values that each may be a group of a few users."""
        known = [value for value in self.values if value != MISSING]
        if self.binning is not None or not known:
            return None
        n_values = len(known)
        if all(isinstance(value, int | float) for value in known):
            if n_values <= _MANY_NUMBERS:
                return None
            return (
                f"attribute '{self.name}' has {n_values:,} different numbers; to group near ones, "
                f"bin it: {self.name}:q5"
            )
        if n_values >= _LEAST_TEXTS and 2 * n_values > self.n_known:
            return (
                f"attribute '{self.name}' has {n_values:,} different values for {self.n_known:,} "
                f"{self.unit.many}, so it looks like an id or free text; leave it out, or group "
                "its values first"
            )
        if n_values <= _MANY_TEXTS:
            return None
        return (
            f"attribute '{self.name}' has {n_values:,} different values; group its values first, "
            "or leave it out"
        )


def multivalued_column(name: str, values: Iterable[object]) -> str | None:
    """The column of which an attribute is one of several values; None for any other.

    Also of tables that have been counted or saved, which keep names and values alone.

    >>> multivalued_column("lang[en]", ("no", "yes"))
    'lang'
    >>> multivalued_column("gender", ("F", "M"))
    """
    column, is_one, _ = name.partition(OPEN)
    answers = {*values} - {MISSING, OTHER}
    is_split = bool(is_one) and name.endswith(CLOSE) and {HAS, LACKS} >= answers
    return column if is_split else None


@dataclass(frozen=True, slots=True)
class Users:
    """The users table, one row a user, sorted by key so that row order changes nothing.

    Parameters
    ----------
    ids : as they came, for output
    keys : as they are compared: whole numbers where all are, text otherwise
    """

    ids: pl.Series
    keys: pl.Series
    columns: pl.DataFrame
    specs: tuple[AttributeSpec, ...]
    where: str

    def attributes(self, rows: IntArray) -> tuple[Attribute, ...]:
        """The attributes of the users in `rows`."""
        columns = self.columns[rows] if len(rows) < len(self.ids) else self.columns
        return tuple(encode_attribute(columns[spec.name], spec, self.where) for spec in self.specs)


def attribute_specs(table: Table, by: Sequence[str]) -> tuple[AttributeSpec, ...]:
    """What `by` asks for; an error for what the table does not have, and for nothing."""
    unit = ITEMS if table.name == "items" else USERS
    specs = tuple(replace(_parse_spec(text, table), unit=unit) for text in by)
    if not specs:
        example = spell("by", ["gender", "age"])
        raise InputError(f"No attribute is named. Say which define the groups: {example}")
    refuse_repeated([spec.name for spec in specs])
    return specs


def read_users(table: Table, by: Sequence[str]) -> Users:
    """The users and the attributes named in `by`, of a whole table or of a part."""
    if isinstance(table.row_slice, UsersSlice):
        return table.row_slice.users(by)
    specs = attribute_specs(table, by)
    names = [spec.name for spec in specs]
    key = table.key
    frame = table.read(
        {key: table.require(key), **{f"={spec.name}": spec.column for spec in specs}},
        labels=[f"={spec.name}" for spec in specs if spec.binning is None],
    )
    frame = frame.rename({f"={name}": name for name in names if name != key})
    ids, keys = _ids_and_keys(frame[key], table)
    refuse_users_twice(keys, table)
    if not keys.is_sorted():
        order = keys.arg_sort()
        frame, ids, keys = frame[order], ids.gather(order), keys.gather(order)
    specs, columns = _with_one_value_each(frame.drop(key), specs, table)
    return Users(ids, keys, columns, specs, table.where)


def read_attribute(table: Table, text: str) -> tuple[tuple[AttributeSpec, ...], pl.DataFrame]:
    """The attribute, or attributes, that an entry of `by` names, in the order of the rows."""
    spec = _parse_spec(text, table)
    labels = [] if spec.binning else ["=it"]
    frame = table.read({"=it": spec.column}, labels=labels).rename({"=it": spec.name})
    return _with_one_value_each(frame, (spec,), table)


def read_ids(table: Table) -> tuple[pl.Series, pl.Series]:
    """Ids of users as they came and as they are compared, in the order of the rows."""
    key = table.key
    return _ids_and_keys(table.read({key: table.require(key)})[key], table)


def refuse_users_twice(keys: pl.Series, table: Table) -> None:
    """An error where a user has more than one row."""
    one = table.key.removesuffix("_id")
    table.refuse_duplicates(keys, table.require(table.key), f"Keep one row per {one}.")


def _ids_and_keys(given: pl.Series, table: Table) -> tuple[pl.Series, pl.Series]:
    keys = ids_as_integers_or_text(given, table.where)
    # text in CSV may be a number, and a float only stands for one
    return keys if table.is_csv or given.dtype.is_float() else given, keys


def refuse_repeated(names: Sequence[str]) -> None:
    """An error for an attribute that is named twice."""
    for name, number in Counter(names).items():
        if number > 1:
            raise InputError(
                f"Attribute '{plain(name)}' is named twice in {spell('by')}. Name it once."
            )


def _with_one_value_each(
    frame: pl.DataFrame, specs: Sequence[AttributeSpec], table: Table
) -> tuple[tuple[AttributeSpec, ...], pl.DataFrame]:
    """Attributes with at most one value a user, and their columns."""
    found: list[tuple[AttributeSpec, pl.Series]] = []
    for spec in specs:
        if spec.binning:
            found.append((spec, frame[spec.name]))
            continue
        values, n_blanks = _without_blanks(frame[spec.name], table.is_csv)
        about_blanks = (
            f"attribute '{plain(spec.name)}': blanks around the text of {n_blanks:,} of "
            f"{len(values):,} {spec.unit.many} are not a part of it"
        )
        columns, note = split_values(values, spec.name, spec.several, table.where, spec.unit)
        notes = tuple(filter(None, (about_blanks if n_blanks else None, note)))
        for place, (name, column) in enumerate(columns.items()):
            about = () if place else notes
            of_one = replace(spec, name=name, warnings=about, is_further=place > 0)
            found.append((of_one, column))
    refuse_repeated([spec.name for spec, _ in found])
    return tuple(spec for spec, _ in found), pl.DataFrame(
        {spec.name: values for spec, values in found}
    )


def _without_blanks(values: pl.Series, is_csv: bool) -> tuple[pl.Series, int]:
    """Text without blanks around it, so that 'F ' is 'F', and how many texts had some."""
    kind = values.dtype
    if not isinstance(kind, pl.String | pl.Categorical | pl.Enum):
        return values, 0
    text = values.cast(pl.String)
    bare = text.str.strip_chars()
    n_blanks = int((bare != text).sum())
    if not n_blanks:
        return values, 0
    if isinstance(kind, pl.Enum):
        bare = bare.cast(pl.Enum(kind.categories.str.strip_chars().unique(maintain_order=True)))
    # an empty field of a text file is no value
    return bare.replace("", None) if is_csv else bare, n_blanks


def _parse_spec(text: str, table: Table) -> AttributeSpec:
    """`gender`, `age:10`, `langs:first`; a column whose name has a colon is taken as it is."""
    column = table.attribute_column(text)
    name, colon, how = text.rpartition(":")
    for said in (text, name) if column is None else (text,):
        found = table.attribute_column(said)
        if found is not None and found == table.find(table.key):
            one = table.key.removesuffix("_id")
            raise InputError(
                f"Attribute '{plain(said)}' is the {one} id itself. Name attributes of {one}s."
            )
    if column is not None:
        return AttributeSpec(text, column)
    if colon:
        column = table.attribute_column(name)
        if column is not None and how in HOW:
            return AttributeSpec(name, column, several=how)
        if column is not None:
            return AttributeSpec(name, column, parse_binning(how, text))
    known = [column for column in table.columns if column != table.find(table.key)]
    error = unknown_name("attribute", name if colon else text, known)
    raise UnknownNameError(f"{table.where}: {keep_spellings(error)}{table.hint}")


def encode_attribute(values: pl.Series, spec: AttributeSpec, where: str) -> Attribute:
    """The attribute of users with these values; those without one have the value `(missing)`."""
    if values.dtype.is_decimal():
        # warehouses write whole numbers as decimals, and beyond 2^53 two of them may be one float
        whole = values.cast(pl.Int64, strict=False)
        values = whole if whole.cast(values.dtype).equals(values) else values.cast(pl.Float64)
    if values.dtype.is_float():
        values = values.fill_nan(None)
        if values.is_infinite().any():
            raise InputError(
                f"{where}: attribute '{plain(spec.name)}' has infinite values. Make them "
                "finite or leave them empty."
            )
    n_missing = values.null_count()
    present = values.drop_nulls() if n_missing else values
    warnings = [*spec.warnings]
    if spec.binning:
        present_codes, labels = _bin_column(present, spec, where)
        known: list[Value] = list(labels)
        if spec.binning.quantiles and len(labels) < spec.binning.quantiles:
            warnings.append(
                f"attribute '{spec.name}': too few different numbers, so {len(labels)} bins "
                f"instead of the {spec.binning.quantiles} quantiles asked for"
            )
    else:
        present = _as_plain_values(present, spec, where)
        present_codes, distinct = encode(present)
        known = distinct.to_list()
    if not n_missing:
        return _attribute(spec, present_codes, known, 0, warnings)
    if MISSING in known:
        missing_code = known.index(MISSING)
        warnings.append(f"attribute '{spec.name}': the text '{MISSING}' and no value count as one")
    else:
        missing_code = len(known)
        known.append(MISSING)
    codes = np.full(len(values), missing_code, dtype=np.int32)
    codes[values.is_not_null().to_numpy()] = present_codes
    # of the attributes that a column became, the first tells it for all
    if not spec.is_further:
        warnings.append(
            f"attribute '{spec.name}' is missing for {n_missing:,} of {len(values):,} "
            f"{spec.unit.many}; they form the value '{MISSING}'"
        )
    return _attribute(spec, codes, known, n_missing, warnings)


def _as_plain_values(present: pl.Series, spec: AttributeSpec, where: str) -> pl.Series:
    """Whole numbers, true/false and text as such; what is none of them is refused."""
    kind = present.dtype
    if kind.is_float():
        as_whole = present.cast(pl.Int64, strict=False)
        is_whole = not as_whole.null_count() and (as_whole.cast(pl.Float64) == present).all()
        return as_whole if is_whole else present
    if kind.is_numeric() or kind == pl.Boolean:
        return present
    if isinstance(kind, pl.Enum):
        return present  # text in an order of its own
    try:
        if not kind.is_nested():
            return present.cast(pl.String)
    except pl.exceptions.PolarsError:
        pass
    raise InputError(
        f"{where}: attribute '{plain(spec.name)}' holds {plain(kind)}. "
        f"An attribute has one value {spec.unit.a}: text, a whole number or true/false."
    )


def _attribute(
    spec: AttributeSpec,
    codes: CodeArray,
    values: list[Value],
    n_missing: int,
    warnings: list[str],
) -> Attribute:
    binning = spec.binning.in_words if spec.binning else None
    made = Attribute(spec.name, codes, tuple(values), n_missing, binning, unit=spec.unit)
    if made.advice and made.n_known < _ENOUGH_EACH * len(values):
        warnings.append(made.advice)
    return replace(made, warnings=tuple(warnings))


def _bin_column(present: pl.Series, spec: AttributeSpec, where: str) -> tuple[CodeArray, list[str]]:
    assert spec.binning is not None
    if not present.dtype.is_numeric() and len(present):
        texts = present
        if present.dtype == pl.String:
            texts = present.filter(present.cast(pl.Float64, strict=False).is_null())
        (shown,) = (texts if len(texts) else present).head(1).to_list()
        raise InputError(
            f"{where}: attribute '{spec.name}' is not numeric (it holds "
            f"{plain(repr(shown))}), so it cannot be binned. "
            f"Name it without the binning: {spell('by', spec.name)}"
        )
    try:
        return bin_numbers(present.cast(pl.Float64).to_numpy(), spec.binning)
    except InputError as error:
        raise InputError(
            f"{where}: attribute '{plain(spec.name)}': {keep_spellings(error)}"
        ) from error


@dataclass(frozen=True, slots=True)
class CodedAttribute:
    """What all parts share of an attribute.

    Parameters
    ----------
    asked : as it was asked for, with its binning
    audited, everyone : as it is of the audited users, and of all of the table; without codes
    """

    asked: str
    spec: AttributeSpec
    audited: Attribute
    everyone: Attribute


@dataclass(frozen=True, slots=True)
class UsersSlice(RowSlice):
    """The users of a part.

    Parameters
    ----------
    columns : of the users table
    attributes : all that were asked for
    """

    columns: tuple[str, ...] = ()
    attributes: tuple[CodedAttribute, ...] = ()

    def open(self) -> Source:
        """Codes under the names of the table, of which none is read."""
        return Rows(scan_rows(self.rows), self.columns)

    def users(self, by: Sequence[str]) -> Users:
        """The users with the attributes named in `by`."""
        of = {at: one for text in by for at, one in enumerate(self.attributes) if one.asked == text}
        specs = tuple(one.spec for one in of.values())
        refuse_repeated([spec.name for spec in specs])
        frame = scan_rows(self.rows).collect()
        key = "key" if "key" in frame.columns else "id"
        frame = frame.sort(key)
        # text, so that nobody takes codes for numbers to be binned
        texts = (pl.col(f"audited {at}").cast(pl.String).alias(of[at].spec.name) for at in of)
        ids, keys = (frame[name].alias("user_id") for name in ("id", key))
        return CodedUsers(ids, keys, frame.select(texts), specs, self.where, frame, of)


@dataclass(frozen=True, slots=True)
class CodedUsers(Users):
    """Users whose attributes are known by codes; see `Users`."""

    frame: pl.DataFrame
    coded: Mapping[int, CodedAttribute]

    def attributes(self, rows: IntArray) -> tuple[Attribute, ...]:
        """The attributes of the users in `rows`: as of all audited users where these are such."""
        found = []
        for at, one in self.coded.items():
            shared, codes = one.audited, self.frame[f"audited {at}"].to_numpy()[rows]
            if len(codes) and codes.min() < 0:
                shared, codes = one.everyone, self.frame[f"all {at}"].to_numpy()[rows]
            is_missing = np.array([value == MISSING for value in shared.values], dtype=bool)
            n_missing = int(is_missing[codes].sum())
            codes = codes.astype(np.int32)
            found.append(replace(shared, codes=codes, n_missing=n_missing, warnings=()))
        return tuple(found)


def encode_attributes(
    table: Table, asked: Sequence[str], is_audited: BoolArray
) -> tuple[dict[str, pl.Series], tuple[CodedAttribute, ...]]:
    """Columns of codes of all users, in the order of the rows, and what the codes mean.

    One attribute is read at a time, so that no more than one is there as text.

    Parameters
    ----------
    asked : attributes with their binning
    """
    columns: dict[str, pl.Series] = {}
    found: list[CodedAttribute] = []
    for text in asked:
        specs, values = read_attribute(table, text)
        for spec in specs:
            mine = of_all = encode_attribute(values[spec.name], spec, table.where)
            if not is_audited.all():
                audited = values[spec.name].filter(pl.Series(is_audited))
                mine = encode_attribute(audited, spec, table.where)
                columns[f"all {len(found)}"] = _narrow(of_all)
            codes = np.full(len(is_audited), -1, dtype=np.int32)
            codes[is_audited] = mine.codes
            columns[f"audited {len(found)}"] = _narrow(replace(mine, codes=codes))
            shared = (replace(one, codes=codes[:0]) for one in (mine, of_all))
            found.append(CodedAttribute(text, spec, *shared))
    return columns, tuple(found)


def _narrow(attribute: Attribute) -> pl.Series:
    """The codes, and -1, in as few bytes as they fit."""
    n_values = len(attribute.values)
    kind = np.int8 if n_values < 1 << 7 else np.int16 if n_values < 1 << 15 else np.int32
    return pl.Series(attribute.codes.astype(kind))


def users_sum(ids: pl.Series, labels: Iterable[pl.Series]) -> str:
    """The SHA-256 checksum of ids in their order, and of the named attributes in any.

    >>> a, b = pl.Series("a", ["x", "y"]), pl.Series("b", ["1", "2"])
    >>> users_sum(pl.Series([1, 2]), [a, b]) == users_sum(pl.Series(["1", "2"]), [b, a])
    True
    """
    digest = hashlib.sha256()
    for column in (ids.alias(""), *sorted(labels, key=lambda label: label.name)):
        text = column.cast(pl.String)
        digest.update(f"{len(column.name)} {column.name}\n".encode())
        # with the lengths, so that no value can run into the next one
        digest.update(text.str.len_bytes().to_numpy().astype(np.dtype("<u4")).tobytes())
        digest.update("".join(text.to_list()).encode())
    return digest.hexdigest()
