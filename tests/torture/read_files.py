"""Every kind of file that FairRec reads: a sound one, how it is tampered with, and who reads it."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
import polars as pl
import pyarrow as pa
import tomli_w

import fairrec
from fairrec.auditing.call_repr import describe_options, read_plan
from fairrec.core.errors import InputError
from fairrec.core.settings import CHECKSUM, PLAN, compute_checksum, parse_toml
from fairrec.counts.levels import levels_text, read_levels
from fairrec.counts.table import write_counts
from fairrec.gating.gate import read_policy
from fairrec.inputs.audit_inputs import open_tables, read_tables
from fairrec.inputs.table_options import TableOptions
from fairrec.loading import load
from tests.builders import Tables, as_lists, make_tables
from tests.grouped_options import group_options
from tests.torture.mutations import (
    Mutation,
    compressed,
    damaged,
    other_footer,
    other_json,
    other_table,
    other_words,
)

Read = Callable[[Path], object]


@dataclass(frozen=True)
class ReadFile:
    """A file of some kind in a folder of its own.

    Parameters
    ----------
    make : writes all files of the folder
    name : the one that is tampered with
    read : given the folder, by those who read it in earnest
    mutations : how it is tampered with
    mend : makes checksums of other files right again, as somebody who means harm does
    """

    kind: str
    make: Callable[[Path], object]
    name: str
    read: Read
    mutations: tuple[Mutation, ...]
    mend: Callable[[Path], object] | None = None


TEXT = (damaged, other_words)
JSON = (other_json, other_json, other_json, damaged)
PARQUET = (damaged, other_footer, other_footer, other_table)
_BY = ("gender", "age:20", "member")


@cache
def tables() -> Tables:
    """Small tables, which are read in a millisecond or two."""
    return make_tables(24)


def _as_csv(table: pl.DataFrame, separator: str = ",") -> bytes:
    flat = table.with_columns(
        pl.col(name).list.join("|") for name, kind in table.schema.items() if kind == pl.List
    )
    return flat.write_csv(separator=separator).encode()


def _as_parquet(table: pl.DataFrame, compression: str = "zstd") -> bytes:
    out = io.BytesIO()
    table.write_parquet(out, compression=compression, row_group_size=40)  # type: ignore[arg-type]
    return out.getvalue()


def _as_arrow_parquet(table: pl.DataFrame) -> bytes:
    """By another writer."""
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(table.to_arrow(), out, row_group_size=40)
    return out.getvalue()


def _as_arrow(table: pl.DataFrame) -> bytes:
    out = io.BytesIO()
    table.write_ipc(out)
    return out.getvalue()


def _zstd(content: bytes) -> bytes:
    return bytes(pa.compress(content, codec="zstd", asbytes=True))


FORMS: dict[str, tuple[Callable[[pl.DataFrame], bytes], tuple[Mutation, ...]]] = {
    "csv": (_as_csv, TEXT),
    "tsv": (lambda table: _as_csv(table, "\t"), TEXT),
    "csv.gz": (lambda table: gzip.compress(_as_csv(table), 1), (damaged, compressed)),
    "csv.zst": (lambda table: _zstd(_as_csv(table)), (damaged,)),
    "jsonl": (lambda table: table.write_ndjson().encode(), TEXT),
    "jsonl.gz": (lambda table: gzip.compress(table.write_ndjson().encode(), 1), (compressed,)),
    "parquet": (_as_parquet, PARQUET),
    "pq": (_as_arrow_parquet, PARQUET),
    "arrow": (_as_arrow, (damaged,)),
}


def _read_tables(role: str, name: str) -> Read:
    def read(folder: Path) -> object:
        given = {**tables()._asdict(), role: folder / name}
        predictions = given.pop("predictions")
        options = TableOptions(by=_BY, **given)
        opened = open_tables(predictions, options)
        return read_tables(opened, options, needs=("labels",), wants=("items", "history"))

    return read


def _table_files() -> list[ReadFile]:
    found = []
    for role in ("predictions", "users", "lists"):
        played = "predictions" if role == "lists" else role
        for ending, (form, mutations) in FORMS.items():
            if role == "lists" and ending not in ("jsonl", "parquet", "arrow"):
                continue
            name = f"{role}.{ending}"

            def make(
                folder: Path,
                name: str = name,
                role: str = role,
                form: Callable[[pl.DataFrame], bytes] = form,
            ) -> None:
                # nothing is read or made before a fork, after which threads of Polars would be gone
                is_lists = role == "lists"
                table = as_lists(tables().predictions) if is_lists else getattr(tables(), role)
                (folder / name).write_bytes(form(table))

            read = _read_tables(played, name)
            found.append(ReadFile(name, make, name, read, mutations))
    return found


def _audit(folder: Path) -> None:
    given = tables()._asdict()
    predictions = given.pop("predictions")
    options = {"by": "gender,member", "permutations": 39, "min_support": 2, "tolerance": "5%"}
    result = fairrec.audit(predictions, **group_options(**given, **options, metrics="ndcg@5,auc"))
    result.save(folder, report=False)


def _read_result(folder: Path) -> None:
    str(load(folder))


def _mitigate(folder: Path) -> None:
    from tests.mitigation.planted import mitigate, planted

    result = mitigate(planted("diversity", n_users=48), "urd@5", strength=0.6)
    result.save(folder, report=False)


def _rerank(folder: Path) -> None:
    from tests.mitigation.planted import planted

    world = planted("diversity", n_users=48)
    fairrec.rerank(
        folder / "reranker.json",
        world.predictions,
        users=world.users,
        items=world.items,
        history=world.history,
        threads=1,
    )


def _compare(folder: Path) -> None:
    first, second = folder / "one", folder / "two"
    for one in (first, second):
        _audit(one)
    fairrec.compare(first, second).save(folder, report=False)


def _counts(folder: Path) -> None:
    given = tables()._asdict()
    counts = fairrec.count(**group_options(**given, by="gender,member", metrics="ndcg@5,auc"))
    write_counts(counts, folder / "counts.parquet")


def _bare_counts(folder: Path) -> None:
    """As another tool writes them."""
    _counts(folder)
    rows = pl.read_parquet(folder / "counts.parquet").filter(~pl.col("family").str.contains(":"))
    rows.drop("missing", "missing^2", strict=False).write_parquet(folder / "counts.parquet")


def _read_counts(folder: Path) -> None:
    fairrec.audit(
        counts=folder / "counts.parquet",
        statistics=fairrec.Statistics(permutations=9),
        min_support=1,
        engine=fairrec.Engine(threads=1),
    )


def _ledger(folder: Path) -> None:
    from tests.scoring.test_ledger_file import paid_ledger

    paid_ledger(folder / "scores.ledger")


def _read_ledger(folder: Path) -> None:
    from tests.scoring.small_candidates import many_candidates, score_of
    from tests.scoring.test_ledger_file import paid_ledger

    scores = paid_ledger(folder / "scores.ledger")
    candidates, users = many_candidates(40)
    owners = np.repeat(users.to_numpy(), np.diff(candidates.offsets))
    items = candidates.item_ids.to_numpy()[candidates.items]
    right = [score_of(user, item) for user, item in zip(owners, items, strict=True)]
    assert np.array_equal(scores, right), "scores that nobody gave"


def _plan(folder: Path) -> None:
    users = folder / "users.parquet"
    tables().users.write_parquet(users)
    given = {"users": users, "by": "gender,member", "metrics": "ndcg@5", "min_support": 2}
    plan = fairrec.plan(**group_options(**given, mean=0.4, sd=0.3, tolerance=0.05))
    plan.save(folder / "plan.toml")


def _refreeze(folder: Path) -> None:
    """The checksum that goes with what a plan says now."""
    file = folder / "plan.toml"
    try:
        content = parse_toml(file.read_bytes(), "plan")
        content[PLAN][CHECKSUM] = compute_checksum(content)
        file.write_text(tomli_w.dumps(content), "utf-8")
    except (InputError, LookupError, TypeError, AttributeError, ValueError):
        # not TOML any more, or nothing that could be written
        return


def _toml(data: bytes, rng: Random) -> bytes:
    """TOML of other values where they can be written, or else of other words."""
    try:
        content = json.dumps(parse_toml(data, "a file"), default=str)
        return tomli_w.dumps(json.loads(other_json(content.encode(), rng))).encode()
    except (InputError, ValueError, TypeError, AttributeError, RecursionError):
        return other_words(data, rng)


_POLICY = """\
[audit]
by = ["gender", "member"]
metrics = ["ndcg@5", "auc"]
alpha = 0.05
min_support = 2
permutations = 39
tolerance = "5%"

[[rule]]
metric = "ndcg@5"
max_worse = 0.05
"""


def _policy(folder: Path) -> None:
    (folder / "fairrec.toml").write_text(_POLICY, "utf-8")


def _levels(folder: Path) -> None:
    text = levels_text({"revenue": [1.0, 10.0, 100.0], "ndcg@5": [0.1, 0.5]})
    (folder / "levels.toml").write_text(text, "utf-8")


def _own_files() -> list[ReadFile]:
    tomls = (_toml, damaged, other_words)
    return [
        ReadFile("result.json", _audit, "result.json", _read_result, JSON),
        ReadFile("groups.parquet", _audit, "groups.parquet", _read_result, PARQUET),
        ReadFile("per_user.parquet", _audit, "per_user.parquet", _read_result, PARQUET),
        ReadFile("run.json of an audit", _audit, "run.json", _read_result, JSON),
        ReadFile("mitigation.json", _mitigate, "mitigation.json", _read_result, JSON),
        ReadFile("changes.parquet", _mitigate, "changes.parquet", _read_result, PARQUET),
        ReadFile("reranker.json", _mitigate, "reranker.json", _rerank, JSON),
        ReadFile("comparison.json", _compare, "comparison.json", _read_result, JSON),
        ReadFile("counts", _counts, "counts.parquet", _read_counts, PARQUET),
        ReadFile("bare counts", _bare_counts, "counts.parquet", _read_counts, PARQUET),
        ReadFile("ledger", _ledger, "scores.ledger", _read_ledger, (damaged,)),
        ReadFile("plan.toml", _plan, "plan.toml", lambda f: read_plan(f / "plan.toml"), tomls),
        ReadFile(
            "plan.toml, frozen again",
            _plan,
            "plan.toml",
            lambda f: read_plan(f / "plan.toml"),
            tomls,
            mend=_refreeze,
        ),
        ReadFile(
            "fairrec.toml",
            _policy,
            "fairrec.toml",
            lambda f: describe_options(f / "fairrec.toml"),
            tomls,
        ),
        ReadFile(
            "policy", _policy, "fairrec.toml", lambda f: read_policy(f / "fairrec.toml"), tomls
        ),
        ReadFile(
            "levels.toml", _levels, "levels.toml", lambda f: read_levels(f / "levels.toml"), tomls
        ),
    ]


@cache
def read_files() -> tuple[ReadFile, ...]:
    """All kinds; the user's tables first."""
    return (*_table_files(), *_own_files())
