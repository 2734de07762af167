"""Files that are damaged or tampered with: bytes, JSON, tables; the same ones for the same seed."""

from __future__ import annotations

import gzip
import io
import json
import re
import struct
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import polars as pl

Mutation = Callable[[bytes, Random], bytes]

EXTREMES = (
    *b"9223372036854775807 -9223372036854775808 18446744073709551616 1e308 -1e308 1e999".split(),
    *b"5e-324 nan NaN -inf Infinity 0 -1 1_000 0x10 true null".split(),
    *(b"", b"9" * 400, b"[1, 2]", b'"', b"\x00", b"\xff", "\u202e\u0000\U0001f600".encode()),
)
_INTEGERS = (0, 1, -1, 0x7F, 0x80, 0x7FFF, 0x7FFFFFFF, -0x80000000, 0x7FFFFFFFFFFFFFFF, -(2**63))


def _span(data: bytes, rng: Random, most: int = 64) -> slice:
    start = rng.randrange(len(data) + 1)
    return slice(start, start + rng.randint(1, most))


def flipped(data: bytes, rng: Random) -> bytes:
    """One to eight bits the other way."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4, 8)) if data else 0):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def cut(data: bytes, rng: Random) -> bytes:
    """Only the beginning, only the end, or without some of the middle."""
    at = rng.randrange(len(data) + 1)
    span = _span(data, rng, max(1, len(data) // 4))
    return rng.choice((data[:at], data[at:], data[: span.start] + data[span.stop :]))


def spliced(data: bytes, rng: Random) -> bytes:
    """With a piece of itself, or of noise, in another place."""
    piece = rng.choice((data[_span(data, rng)], rng.randbytes(rng.randint(1, 16))))
    at = rng.randrange(len(data) + 1)
    return data[:at] + piece + data[at + rng.choice((0, len(piece))) :]


def repeated(data: bytes, rng: Random) -> bytes:
    """With a piece of itself many times over."""
    span = _span(data, rng)
    times = rng.choice((2, 3, 10, 100, 5000))
    return data[: span.start] + data[span] * times + data[span.stop :]


def overwritten(data: bytes, rng: Random) -> bytes:
    """With the least, greatest or odd numbers of one, two, four or eight bytes in a place."""
    size, code = rng.choice(((1, "b"), (2, "<h"), (4, "<i"), (8, "<q")))
    half = 1 << (8 * size - 1)
    number = (rng.choice(_INTEGERS) + half) % (2 * half) - half
    at = rng.randrange(max(1, len(data) - size))
    return data[:at] + struct.pack(code, number) + data[at + size :]


BYTES: tuple[Mutation, ...] = (flipped, flipped, cut, spliced, repeated, overwritten)


def damaged(data: bytes, rng: Random) -> bytes:
    """One to three of the above."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        data = rng.choice(BYTES)(data, rng)
    return data


def other_words(data: bytes, rng: Random) -> bytes:
    """Text with words and numbers of it replaced by those that a reader may stumble over."""
    for _ in range(rng.choice((1, 1, 2, 5))):
        spans = [found.span() for found in re.finditer(rb"[\w.-]+", data)]
        if spans:
            start, stop = rng.choice(spans)
            data = data[:start] + rng.choice(EXTREMES) + data[stop:]
    return data


def compressed(data: bytes, rng: Random) -> bytes:
    """What is inside of a compressed file damaged, and compressed again."""
    return gzip.compress(rng.choice((damaged, other_words))(gzip.decompress(data), rng), 1)


def other_footer(data: bytes, rng: Random) -> bytes:
    """A Parquet file with its last part damaged, which says where all others are."""
    length = int.from_bytes(data[-8:-4], "little")
    body, footer = data[: -8 - length], data[-8 - length : -8]
    footer = rng.choice((flipped, flipped, overwritten, spliced, cut))(footer, rng)
    told = len(footer) if rng.random() < 0.8 else rng.choice((0, 2**31 - 1, len(data), 7))
    return body + footer + struct.pack("<I", told) + b"PAR1"


_MARK = "\ue000replaced\ue000"
_DEEP = 100_000
_TOKENS: tuple[str, ...] = (
    *("null", "true", "false", "0", "-1", "1", '""', '"text"', "[]", "{}", "NaN", "Infinity"),
    *("-Infinity", "1e308", "-1e308", "1e999", "1e-320", "0.5", "-0.5", "2", "1000000", "[[[]]]"),
    *("9" * 30, "9" * 5000, "9223372036854775807", "-9223372036854775809", "1000000000000"),
    *('"1"', '"1e9"', '"nan"', '"\\u0000"', '"\\ud800"', '"=1+1"', '"../../x"', '"gender"'),
    *('{"a": {"a": {}}}', "[null]", '{"gender": null}', '{"gender": "F"}', '["gender", "gender"]'),
    "[" * _DEEP + "]" * _DEEP,
    '{"a":' * _DEEP + "1" + "}" * _DEEP,
    json.dumps("x" * 100_000),
    "[" + "0," * 100_000 + "0]",
)


def other_json(data: bytes, rng: Random) -> bytes:
    """JSON with values of other types, of other sizes and depths, with keys more or fewer."""
    content = json.loads(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        content = _changed(content, rng)
    text = json.dumps(content, ensure_ascii=False)
    while f'"{_MARK}"' in text:
        text = text.replace(f'"{_MARK}"', rng.choice(_TOKENS), 1)
    return text.encode("utf-8", "surrogatepass")


def _places(content: Any) -> list[tuple[Any, Any]]:
    """Every value as its holder and its key there."""
    found, left = [], [content]
    while left:
        holder = left.pop()
        keys: Sequence[Any] = ()
        if isinstance(holder, dict):
            keys = list(holder)
        elif isinstance(holder, list):
            keys = range(len(holder))
        found += [(holder, key) for key in keys]
        left += [holder[key] for key in keys]
    return found


def _changed(content: Any, rng: Random) -> Any:
    places = _places(content)
    if not places or rng.random() < 0.02:
        return _MARK
    holder, key = rng.choice(places)
    other_holder, other_key = rng.choice(places)
    way = rng.random()
    if way < 0.6:
        holder[key] = _MARK
    elif way < 0.75:
        # by way of text, or a value would be inside of itself
        holder[key] = json.loads(json.dumps(other_holder[other_key]))
    elif way < 0.85 and isinstance(holder[key], int | float):
        holder[key] = holder[key] * rng.choice((-1, 2, 0.5, 10**6, 1e300)) + rng.choice((0, 1, -1))
    elif way < 0.95:
        del holder[key]
    elif isinstance(holder, dict):
        holder[rng.choice(("surprise", "", "__class__", "metric"))] = holder.pop(key)
    else:
        holder.append(holder[key])
    return content


def other_table(data: bytes, rng: Random) -> bytes:
    """A sound Parquet file with other rows, columns, types or values."""
    table = pl.read_parquet(io.BytesIO(data))
    out = io.BytesIO()
    try:
        for _ in range(rng.choice((1, 1, 2, 3))):
            table = _other_table(table, rng)
        table.write_parquet(out, compression=rng.choice(("zstd", "snappy", "uncompressed")))
    except pl.exceptions.PolarsError:  # columns of one name, and the like
        return damaged(data, rng)
    return out.getvalue()


_KINDS = (pl.String, pl.Float64, pl.Int64, pl.Boolean, pl.UInt8, pl.Binary, pl.Date, pl.Null)
_VALUES = (None, float("nan"), float("inf"), -1, 2**63 - 1, 1e308, "", "\0", [1])


def _renamed(table: pl.DataFrame, name: str, rng: Random) -> pl.DataFrame:
    return table.rename({name: rng.choice(("surprise", "", "level", "a" * 300))})


def _of_other_rows(table: pl.DataFrame, name: str, rng: Random) -> pl.DataFrame:
    if rng.random() < 0.5:
        return pl.concat([table, table.head(rng.choice((1, 5, 10_000)))])
    return table.sample(fraction=rng.choice((0, 0.5, 1)), shuffle=True, seed=rng.randrange(99))


def _of_other_type(table: pl.DataFrame, name: str, rng: Random) -> pl.DataFrame:
    kind = rng.choice(_KINDS)
    try:
        return table.with_columns(pl.col(name).cast(kind, strict=False))
    except pl.exceptions.PolarsError:
        return table.with_columns(pl.lit(None, dtype=kind).alias(name))


def _of_other_values(table: pl.DataFrame, name: str, rng: Random) -> pl.DataFrame:
    """One value, or all of a column."""
    value, values = rng.choice(_VALUES), table[name].to_list()
    if rng.random() < 0.3 or not values:
        return table.with_columns(pl.lit(value, allow_object=True).alias(name))
    values[rng.randrange(len(values))] = value
    try:
        return table.with_columns(pl.Series(name, values, dtype=table[name].dtype, strict=False))
    except (TypeError, OverflowError, ValueError):
        return table.with_columns(pl.lit(None).alias(name))


_CHANGES = (
    lambda table, name, rng: table.drop(name),
    lambda table, name, rng: table.select(rng.sample(table.columns, table.width)),
    _renamed,
    _of_other_rows,
    _of_other_type,
    _of_other_values,
    _of_other_values,
)


def _other_table(table: pl.DataFrame, rng: Random) -> pl.DataFrame:
    return rng.choice(_CHANGES)(table, rng.choice(table.columns), rng) if table.width else table
