"""Two hundred generated tables: the same result from every container, or refused by all of them.

A column has values, and each container stores them in a type of its own, its rows and columns in an
order of its own. What a container cannot express is said by the generator, before it is tried.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import polars as pl
import polars.selectors as cs
import pytest

import fairrec
from fairrec.auditing import audit as audit_workflow
from fairrec.auditing import count as count_workflow
from fairrec.counts.merging import merged
from fairrec.inputs.partition import open_parts
from tests.auditing.test_audit_counts import differences
from tests.builders import without_origin
from tests.grouped_options import group_options

N_TABLES, N_BLOCKS = 200, 10
FLOATS = (pl.Float64, pl.Float32, pl.Float16)
WHOLE = (pl.Int64, pl.Int32, pl.UInt16, pl.Float64, pl.Float32)
TEXTS = ("F", "M", " F", "M ", "x,y", 'q"z', "é", "日本", "a\u00a0b")
FINE = (Decimal("0.10000000000000000001"), Decimal("0.1"), Decimal("2.5"))
UNITS: tuple[Literal["ms", "us", "ns"], ...] = ("ms", "us", "ns")
AUTUMN = datetime(2024, 10, 26, 23, 30, tzinfo=UTC)
"""Half an hour before two hours that clocks in Berlin show alike."""


@dataclass
class World:
    """Tables of canonical values, and how each column may be stored.

    Parameters
    ----------
    types : those of a column, of which each container picks one; else it is stored as it is
    cannot : containers that cannot express it
    is_refused : whether there is something wrong with it
    """

    tables: dict[str, pl.DataFrame]
    options: dict[str, Any]
    types: dict[str, tuple[Any, ...]]
    cannot: set[str] = field(default_factory=set)
    is_refused: bool = False


def attribute(rng: np.random.Generator, n: int) -> tuple[pl.Series, str, tuple[Any, ...], set[str]]:
    """An attribute `g`: values, how it is asked for, types, and which containers cannot have it."""
    at = rng.integers(0, 4, n)
    is_known = rng.random(n) < rng.choice([1, 0.8])

    def some(values: Any, **kind: Any) -> pl.Series:
        picked = [
            values[i % len(values)] if known else None
            for i, known in zip(at, is_known, strict=True)
        ]
        return pl.Series("g", picked, **kind)

    texts = [str(text) for text in rng.choice(TEXTS, 4, replace=False)]
    in_order = pl.Enum(sorted({*texts}, key=lambda text: (text.strip(), text)))
    numbers = [0.1, 0.3, 0.7, 0.9]
    made: dict[str, Callable[[], tuple[pl.Series, str, tuple[Any, ...], set[str]]]] = {
        "text": lambda: (some(texts), "g", (pl.String, pl.Categorical, in_order), set()),
        "zeros": lambda: (some(["007", "7", "08"]), "g", (pl.String, pl.Categorical), set()),
        "digits": lambda: (some(["1", "2"]), "g", (pl.String, pl.Categorical), {"csv"}),
        "empty": lambda: (some(["", "x"]), "g", (pl.String, pl.Categorical), {"csv"}),
        "whole": lambda: (
            some([0, 3, 20, 41]),
            str(rng.choice(["g", "g:10", "g:q2"])),
            WHOLE,
            set(),
        ),
        "flags": lambda: (some([True, False]), "g", (pl.Boolean,), set()),
        "fractions": lambda: (
            *(some(numbers), str(rng.choice(["g", "g:0.1", "g:0.3|0.7", "g:q2"]))),
            *((*FLOATS, pl.Decimal(10, 3)), set()),
        ),
        "fine": lambda: (some(FINE, dtype=pl.Decimal(38, 20)), "g", (), set()),
        "dates": lambda: (some([date(2020, 1, 2), date(1999, 12, 31)]), "g", (), set()),
        "times": lambda: (
            some([AUTUMN + timedelta(hours=i) for i in range(4)]).dt.convert_time_zone(
                "Europe/Berlin"
            ),
            *("g", tuple(pl.Datetime(unit, "Europe/Berlin") for unit in UNITS), {"csv"}),
        ),
        "lists": lambda: (
            some([["en"], ["fr", "en"], ["de"], []]).set(pl.Series(~is_known), None),
            *(f"g:{rng.choice(['first', 'each'])}", (), set()),
        ),
    }
    return made[str(rng.choice([*made]))]()


def world(seed: int) -> World:
    """Tables of 12 users; about one in six has something wrong with it."""
    rng = np.random.default_rng(seed)
    n = 12
    ids = pl.Series("user_id", range(1, n + 1))
    if is_text := bool(rng.random() < 0.4):
        ids = pl.Series("user_id", [f"{'u' if user % 2 else '0'}{user}" for user in ids])
    values, by, types, cannot = attribute(rng, n)
    users = pl.DataFrame([ids, values])
    options: dict[str, Any] = {"by": by, "permutations": 20, "min_support": 1, "threads": 1}
    rows = pl.DataFrame(
        {
            "user": np.repeat(np.arange(n), 4),
            "item_id": np.concatenate([rng.choice(9, 4, replace=False) + 1 for _ in range(n)]),
            # whatever holds it keeps all of it
            "score": np.concatenate([rng.permutation(64)[:4] / 16 for _ in range(n)]),
            "label": rng.choice([0.0, 0.1, 0.7, 0.9], 4 * n),
        }
    )
    rows = rows.select(ids.gather(rows["user"]), pl.exclude("user"))
    of = {
        "user_id": (pl.String, pl.Categorical) if is_text else (*WHOLE, pl.String),
        "item_id": (*WHOLE, pl.String),
        **dict.fromkeys(("score", "label", "rating", "watch"), FLOATS),
        "g": types,
    }
    form = str(rng.choice(["rows", "rows", "lists", "held out", "values"]))
    tables = {"predictions": rows, "users": users}
    if form == "lists":
        tables["predictions"] = rows.group_by("user_id", maintain_order=True).agg(pl.all())
        cannot |= {"csv"}
    elif form == "held out":
        test = rows.filter(pl.col("label") > 0).rename({"label": "rating"}).drop("score")
        tables |= {"predictions": rows.drop("label"), "test": test}
    elif form == "values":
        watch = pl.Series("watch", rng.choice([0.1, 0.5, 0.7, float("nan")], n))
        tables = {"values": pl.DataFrame([ids, watch]), "users": users}
    relevant = {"rows": "label>=0.7", "lists": "label>0.1", "held out": "rating>=0.7"}.get(form)
    if relevant is not None and rng.random() < 0.5:
        options["relevant"] = relevant
    if form != "values":
        options["metrics"] = str(rng.choice(["ndcg@3", "mrr@3,recall@2"]))
    found = World(tables, options, of, cannot)
    if rng.random() < 1 / 6:
        found.is_refused = True
        _spoil(found, rng)
    return found


def _spoil(made: World, rng: np.random.Generator) -> None:
    """Put something wrong into it."""
    main = "values" if "values" in made.tables else "predictions"
    table = made.tables[main]
    wrong = {
        "a user twice": lambda: made.tables.update(
            users=pl.concat([made.tables["users"], made.tables["users"][:1]])
        ),
        "a user unknown": lambda: made.tables.update(users=made.tables["users"][1:]),
        "an id missing": lambda: made.tables.update(
            {main: table.with_columns(pl.col("user_id").replace(table["user_id"][0], None))}
        ),
        "an attribute unknown": lambda: made.options.update(by="gg"),
    }
    if main == "predictions" and table["score"].dtype == pl.Float64:
        for name, score in (("missing", None), ("not a number", float("nan"))):
            made_of = table.with_columns(score=pl.col("score").replace(table["score"][5], score))
            wrong[f"a score {name}"] = partial(made.tables.update, predictions=made_of)
        twice = pl.concat([table, table[:1]])
        wrong["an item twice"] = partial(made.tables.update, predictions=twice)
    wrong[str(rng.choice([*wrong]))]()


def stored(table: pl.DataFrame, types: dict[str, Any], rng: np.random.Generator) -> pl.DataFrame:
    """Rows and columns in some order, each column in one of its types."""
    columns = []
    for name in rng.permutation(table.columns):
        kinds = types.get(str(name)) or (table[str(name)].dtype,)
        kind = kinds[int(rng.integers(len(kinds)))]
        if isinstance(table[str(name)].dtype, pl.List) and name in types and types[str(name)]:
            # Polars casts no lists to these
            kind = pl.List(kinds[0] if kind in (pl.Categorical, pl.Float16) else kind)
        columns.append(pl.col(str(name)).cast(kind))
    return table.select(columns)[rng.permutation(table.height)]


def _as_csv(table: pl.DataFrame, path: Path, rng: np.random.Generator) -> Path:
    path = path.with_suffix(str(rng.choice([".csv", ".tsv"])))
    for name, kind in table.schema.items():
        if isinstance(kind, pl.List):
            table = table.with_columns(pl.col(name).list.join("|"))
        elif kind.is_float():
            known = (
                None if one is None or np.isnan(one) else str(one) for one in _each(table[name])
            )
            text = [*known]
            table = table.with_columns(pl.Series(name, text, pl.String))
    table.write_csv(
        path, separator="," if path.suffix == ".csv" else "\t", include_bom=rng.random() < 0.3
    )
    return path


def _each(values: pl.Series) -> list[Any]:
    """Numbers of the width they are stored in."""
    pairs = zip(values.to_numpy(), values.is_not_null(), strict=True)
    return [one if is_known else None for one, is_known in pairs]


def _as_parquet(table: pl.DataFrame, path: Path, rng: np.random.Generator) -> Path:
    path = path.with_suffix(".parquet")
    table.write_parquet(path, row_group_size=int(rng.integers(5, 50)))
    return path


def _as_folder(table: pl.DataFrame, path: Path, rng: np.random.Generator) -> Path:
    (path := path.with_suffix("")).mkdir()
    half = int(rng.integers(table.height))
    for name, part in (("a", table[:half]), ("b", table[half:])):
        part.write_parquet(path / f"{name}.parquet")
    return path


def _as_arrow(table: pl.DataFrame, path: Path, rng: np.random.Generator) -> Any:
    if rng.random() < 0.5:
        return table.to_arrow()
    table.write_ipc(path := path.with_suffix(".arrow"))
    return path


def _as_pandas(table: pl.DataFrame, path: Path, rng: np.random.Generator) -> Any:
    if rng.random() < 0.3 and pl.Float16 not in table.dtypes:
        return table.to_pandas(use_pyarrow_extension_array=True)
    frame = pd.DataFrame(index=range(table.height))
    for values in table:
        kind = values.dtype
        if kind == pl.Float16 or kind.is_decimal() or kind == pl.Date or rng.random() < 0.2:
            objects = _each(values) if kind.is_float() else values.to_list()
            if isinstance(kind, pl.List):
                objects = [None if one is None else one.to_numpy() for one in values]
            column = pd.Series(objects, dtype=object)
            frame[values.name] = column.astype("f2") if kind == pl.Float16 else column
        else:
            frame[values.name] = values.to_pandas()
    return frame


CONTAINERS: dict[str, Callable[[pl.DataFrame, Path, np.random.Generator], Any]] = {
    "polars": lambda table, path, rng: table if rng.random() < 0.5 else table.lazy(),
    "csv": _as_csv,
    "parquet": _as_parquet,
    "folder": _as_folder,
    "arrow": _as_arrow,
    "pandas": _as_pandas,
}


def held(made: World, container: str, folder: Path, seed: int) -> dict[str, Any]:
    """The arguments of an audit, each table in a container."""
    rng = np.random.default_rng([seed, [*CONTAINERS].index(container)])
    (folder := folder / f"{seed}-{container}").mkdir()
    tables = {
        name: CONTAINERS[container](stored(table, made.types, rng), folder / f"{name}.x", rng)
        for name, table in made.tables.items()
    }
    return {**tables, **made.options}


def read(text: str) -> Any:
    """What JSON says, without the names of tables."""
    return json.loads(re.sub(r"the (\w+) table|\b(\w+)\.(csv|tsv|parquet|arrow)", r"\1\2", text))


def refusal(error: fairrec.FairRecError) -> str:
    """What is wrong; rows are in another order, and ids of another type."""
    told = read(json.dumps(str(error)))
    return re.sub(r", row \d+|['\d.]| is (nan|empty) .*| twice .*", "", told)


def numbers(result: fairrec.AuditResult) -> dict[str, Any]:
    """Figures, groups, verdicts and notes, in whatever container the tables were."""
    found = without_origin(json.loads(result.to_json()))
    found["groups"] = result.group_table.sort(pl.all()).rows()
    return dict(read(json.dumps(found, default=str)))


def audited(given: dict[str, Any]) -> dict[str, Any] | str:
    """The result, or why there is none."""
    try:
        return numbers(fairrec.audit(**group_options(**given)))
    except fairrec.FairRecError as error:
        return refusal(error)


def counted(given: dict[str, Any]) -> fairrec.Counts | str:
    """The counts behind the result, or why there are none."""
    beside = ("permutations", "min_support")
    try:
        return fairrec.count(
            **group_options(**{name: given[name] for name in given if name not in beside})
        )
    except fairrec.FairRecError as error:
        return refusal(error)


def notes_of(counts: fairrec.Counts) -> Any:
    """What is said of the tables, without their names."""
    return read(json.dumps(counts.info.warnings))


def rows_of(counts: fairrec.Counts | str) -> Any:
    """In some order, without the last digits of sums."""
    if isinstance(counts, str):
        return counts
    return counts.rows.with_columns(cs.float().round(9)).sort(pl.all()).rows()


def halves(made: World) -> list[World]:
    """The same tables of every second user, and of the others."""
    ids = made.tables["users"]["user_id"]
    found = []
    for at in range(2):
        is_in = pl.col("user_id").is_in(ids.gather_every(2, at).to_list())
        some = {name: table.filter(is_in) for name, table in made.tables.items()}
        found.append(replace(made, tables=some))
    return found


def figures(found: dict[str, Any]) -> dict[str, Any]:
    """What does not rest on permutations or levels, which are others where users are counted."""
    groups = [[row[:2], row[3], row[8], row[12]] for row in found["groups"]]
    means = {name: [one["mean"], one["sd"]] for name, one in found["metrics"].items()}
    return {"groups": groups, "metrics": means, "attributes": found["attributes"]}


def results(
    seed: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[str, Any, Any]]:
    """What is made of a table, what it is, and what it ought to be."""
    made = world(seed)
    able = [name for name in CONTAINERS if name not in made.cannot]
    given = {name: held(made, name, folder, seed) for name in able}
    expected, of_polars = audited(given["polars"]), counted(given["polars"])
    yield "is refused", isinstance(expected, str), made.is_refused
    for at, name in enumerate(able[1:]):
        if (seed + at) % 2:
            yield f"in {name}", audited(given[name]), expected
            continue
        # much faster, and all that statistics see of a table
        found = counted(given[name])
        yield f"counts in {name}", rows_of(found), rows_of(of_polars)
        if isinstance(found, fairrec.Counts) and isinstance(of_polars, fairrec.Counts):
            yield f"notes in {name}", *(notes_of(one) for one in (found, of_polars))
    with monkeypatch.context() as cut:
        cut.setattr(count_workflow, "is_large", lambda *_: True)
        in_parts = counted(given["folder"])
    yield "in parts", rows_of(in_parts), rows_of(of_polars)
    if isinstance(expected, str) or isinstance(in_parts, str):
        return
    # quantiles and values are those of all users
    if seed // N_BLOCKS % 2 and not re.search(":(q|each)", made.options["by"]):
        counts = [
            counted(held(half, able[(seed + at) % len(able)], folder, seed + N_TABLES * (1 + at)))
            for at, half in enumerate(halves(made))
        ]
        yield "as counts", rows_of(merged(counts, disjoint=True)), rows_of(in_parts)
    if seed % 4 == 0:
        options = {name: made.options[name] for name in ("permutations", "min_support", "threads")}
        found = numbers(fairrec.audit(**group_options(counts=in_parts, **options)))
        yield "as counts, figures", differences(figures(expected), figures(found)), []
    if seed % 8 == 0:
        with monkeypatch.context() as cut:
            cut.setattr(audit_workflow, "is_large", lambda *_: True)
            whole = audited(given["folder"])
        notes = [note for note in whole["warnings"] if "not looked at unasked" not in note]
        yield "in parts, notes", sorted(notes), sorted(expected["warnings"])
        yield "in parts, groups", whole["groups"], found["groups"]


@pytest.mark.parametrize(
    "block", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, N_BLOCKS))]
)
def test_a_table_has_the_same_result_in_every_container(
    block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(count_workflow, "open_parts", partial(open_parts, n_rows=30))
    for seed in range(block, N_TABLES, N_BLOCKS):
        for name, found, expected in results(seed, tmp_path, monkeypatch):
            assert found == expected, f"table {seed} {name}"
