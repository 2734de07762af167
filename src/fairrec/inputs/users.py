"""The users table, whole or in parts: the users and their attribute values."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from fairrec.core.arrays import BoolArray, CodeArray, IntArray
from fairrec.core.audited_entity import ITEMS, USERS, Unit
from fairrec.core.errors import InputError, UnknownNameError, plain, unknown_name
from fairrec.core.options import spell
from fairrec.inputs.binning import Binning, bin_numbers, parse_binning
from fairrec.inputs.formats import RowSlice
from fairrec.inputs.frames import Source
from fairrec.inputs.ids import encode, ids_as_integers_or_text
from fairrec.inputs.notes import CHECK_FIRST
from fairrec.inputs.tables import Table

Value = bool | int | float | str


MISSING = "(missing)"
"""The value of a user whose attribute is not known: a group of its own, never dropped."""


OTHER = "(other)"
"""The value of a user whose own is not told, because too few are like this user."""
MULTIVALUED = ("first", "each")
"""What becomes of several values: the first counts, or each is an attribute of its own."""
MARK = "|"
MOST_EACH = 50
"""The most values of one column that may become attributes of their own."""
HAS, LACKS = "yes", "no"
OPEN, CLOSE = "[", "]"
"""Around the value in the name of an attribute that was made of it: `lang[en]`."""
_MANY, _LEAST_OF_ID = 50, 20
_ENOUGH_EACH = 100
"""With this many users for each value, on average, many values need no advice."""


@dataclass(frozen=True, slots=True)
class AttributeSpec:
    """One entry of `by`: the attribute, the column it is read from, its binning.

    Parameters
    ----------
    several : what becomes of several values; None for an attribute of one value
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
        n_values = sum(value != MISSING for value in self.values)
        is_id = n_values >= _LEAST_OF_ID and 2 * n_values > self.n_known
        if self.binning is not None or not (is_id or n_values > _MANY):
            return None
        return (
            f"attribute '{self.name}' has {n_values:,} different values for {self.n_known:,} "
            f"{self.unit.many}; group them, leave it out, or bin numbers: {self.name}:q5"
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


def describe_alike_values(name: str, values: Iterable[object]) -> str:
    """A note on values of an attribute that differ only in how they are written; or nothing.

    >>> describe_alike_values("gender", ["F", "M", "f"])[:38]
    "check: attribute 'gender': 2 values di"
    >>> describe_alike_values("gender", ["F", "M"])
    ''
    """
    texts = pl.Series([value for value in values if isinstance(value, str)], dtype=pl.String)
    # NFKC, and without characters that have no width
    forms = texts.unique().str.normalize("NFKC").str.to_lowercase().str.normalize("NFC")
    forms = forms.str.replace_all(r"\p{Cf}", "").str.replace_all(r"\s+", " ").str.strip_chars()
    n = int(forms.str.replace(r"^0+(\d)", "$1").is_duplicated().sum())
    if not n:
        return ""
    return (
        f"{CHECK_FIRST}attribute '{plain(name)}': {n:,} values differ from another only in case, "
        "blanks, leading zeros or Unicode form, and are groups of their own"
    )


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


def _parse_specs(table: Table, by: Sequence[str]) -> tuple[AttributeSpec, ...]:
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
    specs = _parse_specs(table, by)
    names = [spec.name for spec in specs]
    key = table.key
    frame = table.read(
        {key: table.require(key), **{f"={spec.name}": spec.column for spec in specs}},
        labels=[f"={spec.name}" for spec in specs if spec.binning is None],
    )
    frame = frame.rename({f"={name}": name for name in names if name != key})
    ids, keys = _ids_and_keys(frame[key], table)
    one = table.key.removesuffix("_id")
    table.refuse_duplicates(keys, table.require(table.key), f"Keep one row per {one}.")
    if not keys.is_sorted():
        order = keys.arg_sort()
        frame, ids, keys = frame[order], ids.gather(order), keys.gather(order)
    specs, columns = _with_one_value_each(frame.drop(key), specs, table)
    return Users(ids, keys, columns, specs, table.where)


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
        columns, note = split_values(
            frame[spec.name], spec.name, spec.several, table.where, spec.unit
        )
        for place, (name, column) in enumerate(columns.items()):
            about = () if place or note is None else (note,)
            of_one = replace(spec, name=name, warnings=about, is_further=place > 0)
            found.append((of_one, column))
    refuse_repeated([spec.name for spec, _ in found])
    return tuple(spec for spec, _ in found), pl.DataFrame(
        {spec.name: values for spec, values in found}
    )


def _parse_spec(text: str, table: Table) -> AttributeSpec:
    """`gender`, `age:10`, `langs:first`; a column whose name has a colon is taken as it is."""
    name, colon, how = text.rpartition(":")
    is_whole = not colon or table.attribute_column(text) is not None
    name = text if is_whole else name
    column = table.attribute_column(name)
    if column is not None and column == table.find(table.key):
        one = table.key.removesuffix("_id")
        raise InputError(
            f"Attribute '{plain(name)}' is the {one} id itself. Name attributes of {one}s."
        )
    if column is None:
        parts = re.split(r"\s+x\s+|\s*[*&+]\s*", text)
        if len(parts) > 1 and all(table.attribute_column(part) is not None for part in parts):
            raise UnknownNameError(
                f"{table.where}: No attribute '{plain(text)}'. Name each: {spell('by', parts)}. "
                "Their intersections are audited, too."
            )
        known = [column for column in table.columns if column != table.find(table.key)]
        error = unknown_name("attribute", name, known)
        raise UnknownNameError(f"{table.where}: {error}{table.hint}")
    if is_whole:
        return AttributeSpec(name, column)
    if how in MULTIVALUED:
        return AttributeSpec(name, column, several=how)
    return AttributeSpec(name, column, parse_binning(how, text))


def split_values(
    values: pl.Series, name: str, how: str | None, where: str, unit: Unit = USERS
) -> tuple[dict[str, pl.Series], str | None]:
    """The attributes that a column becomes, each with one value a user at most, and a note."""
    choice = f"{plain(name)}:first or {plain(name)}:each"
    if how is None and isinstance(values.dtype, pl.List | pl.Array):
        raise InputError(
            f"{where}: attribute '{plain(name)}' holds lists, and an attribute has one value "
            f"{unit.a}. Take the first of each, or make an attribute of each value: {choice}"
        )
    if how is None:
        is_text = values.dtype == pl.String
        has_mark = is_text and bool(values.str.contains(MARK, literal=True).any())
        note = f"attribute '{name}' has '{MARK}' in its text; for several values: {choice}"
        return {name: values}, note if has_mark else None
    try:
        lists = list_values(values)
        if how == "first":
            columns = {name: lists.list.first()}
        else:
            columns = _split_each(lists.cast(pl.List(pl.String)), name, where, unit)
    except pl.exceptions.PolarsError as error:
        raise InputError(
            f"{where}: attribute '{plain(name)}' holds {plain(values.dtype)}. Its values must be "
            "text, whole numbers or true/false."
        ) from error
    n_several = int((lists.list.len() > 1).sum())
    many = f"several values for {n_several:,} of {len(values):,} {unit.many}"
    note = f"attribute '{name}' has {many} in the table, taken as {name}:{how}"
    return columns, note if n_several else None


def _split_each(lists: pl.Series, name: str, where: str, unit: Unit) -> dict[str, pl.Series]:
    """For each value, of each user 'yes' or 'no'; null where a user has no value at all."""
    known = lists.explode().drop_nulls().unique().sort()
    if not 0 < len(known) <= MOST_EACH:
        raise InputError(
            f"{where}: attribute '{plain(name)}' has {len(known):,} different values, of which "
            f"{plain(name)}:each would make as many attributes; from 1 to {MOST_EACH} can be. Keep "
            f"the values that matter, or take the first of each {unit.one}: {plain(name)}:first"
        )
    has = pl.col("lists").list.contains
    answers = pl.DataFrame({"lists": lists}).select(
        pl.when(pl.col("lists").list.len() > 0)
        .then(pl.when(has(value)).then(pl.lit(HAS)).otherwise(pl.lit(LACKS)))
        .alias(f"{name}{OPEN}{value}{CLOSE}")
        for value in known
    )
    return answers.to_dict()


def list_values(values: pl.Series) -> pl.Series:
    """The values of each user as a list without gaps; empty where a user has none."""
    if isinstance(values.dtype, pl.Categorical | pl.Enum):
        values = values.cast(pl.String)
    if values.dtype == pl.String:
        part = pl.element().str.strip_chars()
        values = values.str.split(MARK).list.eval(part.filter(part != ""))
    elif isinstance(values.dtype, pl.Array):
        values = values.arr.to_list()
    elif isinstance(values.dtype, pl.Struct):
        raise pl.exceptions.InvalidOperationError("records are no values")
    elif not isinstance(values.dtype, pl.List):
        values = pl.select(pl.concat_list(values)).to_series()
    if values.head(0).explode().dtype.is_float():
        values = values.list.eval(pl.element().filter(pl.element().is_not_nan()))
    return values.list.drop_nulls().fill_null([])


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
    present, n_missing = values.drop_nulls(), values.null_count()
    known: list[Value]
    if spec.binning:
        codes, labels = _bin_column(present, spec, where)
        known = [*labels]
    else:
        codes, distinct = encode(_as_plain_values(present, spec, where))
        known = distinct.to_list()
    warnings = [*spec.warnings]
    if n_missing:
        # the text '(missing)' and no value count as one
        missing_code = known.index(MISSING) if MISSING in known else len(known)
        known += [MISSING] * (missing_code == len(known))
        of_present, codes = codes, np.full(len(values), missing_code, dtype=np.int32)
        codes[values.is_not_null().to_numpy()] = of_present
        # of the attributes that a column became, the first has the note for all
        if not spec.is_further:
            warnings.append(
                f"attribute '{spec.name}' is missing for {n_missing:,} of {len(values):,} "
                f"{spec.unit.many}; they form the value '{MISSING}'"
            )
    binning = spec.binning.in_words if spec.binning else None
    made = Attribute(spec.name, codes, tuple(known), n_missing, binning, unit=spec.unit)
    if made.advice and made.n_known < _ENOUGH_EACH * len(known):
        warnings.append(made.advice)
    return replace(made, warnings=tuple(warnings))


def _as_plain_values(present: pl.Series, spec: AttributeSpec, where: str) -> pl.Series:
    """Whole numbers, true/false and text as such; what is none of them is refused."""
    kind = present.dtype
    if kind.is_float():
        as_whole = present.cast(pl.Int64, strict=False)
        is_whole = not as_whole.null_count() and (as_whole.cast(pl.Float64) == present).all()
        return as_whole if is_whole else present
    # the text of an Enum has an order of its own
    if kind.is_numeric() or kind == pl.Boolean or isinstance(kind, pl.Enum):
        return present
    if isinstance(kind, pl.Datetime):
        present = present.dt.cast_time_unit("us")  # one text for a time, whatever its unit
    # some types, such as durations, have no text
    with suppress(pl.exceptions.PolarsError):
        if not (kind.is_nested() or kind == pl.Object):
            return present.cast(pl.String)
    raise InputError(
        f"{where}: attribute '{plain(spec.name)}' holds {plain(kind)}. An attribute has one "
        f"value {spec.unit.a}: text, a whole number or true/false."
    )


def _bin_column(present: pl.Series, spec: AttributeSpec, where: str) -> tuple[CodeArray, list[str]]:
    assert spec.binning is not None
    if not present.dtype.is_numeric() and len(present):
        texts = present
        if present.dtype == pl.String:
            texts = present.filter(present.cast(pl.Float64, strict=False).is_null())
        shown = (texts if len(texts) else present)[0]
        raise InputError(
            f"{where}: attribute '{spec.name}' is not numeric (it holds {plain(repr(shown))}), so "
            f"it cannot be binned. Name it without the binning: {spell('by', spec.name)}"
        )
    try:
        return bin_numbers(present.cast(pl.Float64).to_numpy(), spec.binning)
    except InputError as error:
        raise InputError(f"{where}: attribute '{plain(spec.name)}': {error}") from error


@dataclass(frozen=True, slots=True)
class CodedAttribute:
    """What all parts share of an attribute.

    Parameters
    ----------
    entry : of `by`, with its binning
    audited, everyone : as it is of the audited users, and of all of the table; without codes
    """

    entry: str
    spec: AttributeSpec
    audited: Attribute
    everyone: Attribute


@dataclass(frozen=True, slots=True)
class UsersSlice(RowSlice):
    """The users of a part.

    Parameters
    ----------
    columns : of the users table
    attributes : all of `by` and the covariates
    """

    columns: tuple[str, ...] = ()
    attributes: tuple[CodedAttribute, ...] = ()

    def open(self) -> Source:
        """Codes under the names of the table, of which none is read."""
        return Source(self.scan(), self.columns)

    def users(self, by: Sequence[str]) -> Users:
        """The users with the attributes named in `by`."""
        of = {at: one for text in by for at, one in enumerate(self.attributes) if one.entry == text}
        specs = tuple(one.spec for one in of.values())
        refuse_repeated([spec.name for spec in specs])
        frame = self.scan().collect().sort("key")
        texts = (pl.col(f"audited {at}").cast(pl.String).alias(of[at].spec.name) for at in of)
        ids, keys = (frame[name].alias("user_id") for name in ("id", "key"))
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
    table: Table, entries: Sequence[str], is_audited: BoolArray
) -> tuple[dict[str, pl.Series], tuple[CodedAttribute, ...]]:
    """Columns of codes of all users, in the order of their ids, and what the codes mean.

    One attribute is read at a time, so that no more than one is in memory as text.

    Parameters
    ----------
    entries : attributes with their binning
    """
    columns: dict[str, pl.Series] = {}
    found: list[CodedAttribute] = []
    audited, everyone = np.flatnonzero(is_audited), np.arange(len(is_audited))
    for entry in entries:
        users = read_users(table, [entry])
        attributes = users.attributes(audited), users.attributes(everyone)
        for spec, mine, of_all in zip(users.specs, *attributes, strict=True):
            codes = np.full(len(is_audited), -1, dtype=np.int32)
            codes[audited] = mine.codes
            for name, one in (("audited", codes), ("all", of_all.codes)):
                columns[f"{name} {len(found)}"] = pl.Series(one).shrink_dtype()
            shared = (replace(one, codes=codes[:0]) for one in (mine, of_all))
            found.append(CodedAttribute(entry, spec, *shared))
    return columns, tuple(found)


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
