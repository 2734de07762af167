"""Files of every kind that are damaged, cut off or hold odd words are read or refused in words."""

from __future__ import annotations

import gzip
import io
import os
import re
import shutil
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from random import Random

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import fairrec
from fairrec.auditing.choices import read_plan
from fairrec.auditing.options import SETTINGS
from fairrec.core.errors import FairRecError
from fairrec.core.settings import read_settings
from fairrec.counts.levels import levels_text, read_levels
from fairrec.counts.table import write_counts
from fairrec.gating.gate import read_policy
from fairrec.inputs.audit_inputs import open_tables, read_tables
from fairrec.inputs.table_options import TableOptions
from fairrec.loading import load
from tests.builders import Tables, as_lists, make_tables
from tests.grouped_options import group_options

pytestmark = pytest.mark.slow

N_FILES = int(os.environ.get("FAIRREC_TAMPERED", "12"))
"""Files of each kind."""

Mutation = Callable[[bytes, Random], bytes]


def flipped(data: bytes, rng: Random) -> bytes:
    """One to eight bits the other way."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4, 8)) if data else 0):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def cut(data: bytes, rng: Random) -> bytes:
    """Only the beginning, only the end, or without some of the middle."""
    at, length = rng.randrange(len(data) + 1), rng.randint(1, max(1, len(data) // 4))
    return rng.choice((data[:at], data[at:], data[:at] + data[at + length :]))


def spliced(data: bytes, rng: Random) -> bytes:
    """With a piece of itself, or of noise, in another place, once or many times."""
    start, at = rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)
    piece = rng.choice((data[start : start + rng.randint(1, 64)], rng.randbytes(8)))
    return data[:at] + piece * rng.choice((1, 1, 2, 100)) + data[at + rng.choice((0, len(piece))) :]


def damaged(data: bytes, rng: Random) -> bytes:
    """One to three of the above."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        data = rng.choice((flipped, flipped, cut, spliced))(data, rng)
    return data


ODD = (
    *b"9223372036854775807 -9223372036854775808 18446744073709551616 1e308 -1e308".split(),
    *b"5e-324 nan NaN -inf Infinity 0 -1 1_000 0x10 true null".split(),
    *(b"", b"9" * 400, b"[1, 2]", b'"', b"\x00", b"\xff", "\u202e\u0000\U0001f600".encode()),
)


def other_words(data: bytes, rng: Random) -> bytes:
    """Text with words and numbers of it replaced by those that a reader may stumble over."""
    for _ in range(rng.choice((1, 1, 2, 5))):
        spans = [found.span() for found in re.finditer(rb"[\w.-]+", data)]
        if spans:
            start, stop = rng.choice(spans)
            data = data[:start] + rng.choice(ODD) + data[stop:]
    return data


def compressed(data: bytes, rng: Random) -> bytes:
    """What is inside of a compressed file damaged, and compressed again."""
    return gzip.compress(rng.choice((damaged, other_words))(gzip.decompress(data), rng), 1)


@dataclass(frozen=True)
class ReadFile:
    """A file of some kind in a folder of its own.

    Parameters
    ----------
    make : writes all files of the folder
    name : the one that is tampered with
    read : given the folder, by those who read it in earnest
    mutations : how it is tampered with
    """

    kind: str
    make: Callable[[Path], object]
    name: str
    read: Callable[[Path], object]
    mutations: tuple[Mutation, ...] = (damaged,)


TEXT = (damaged, other_words)


@cache
def tables() -> Tables:
    """Small tables, which are read in a millisecond or two."""
    return make_tables(24)


def _as_csv(table: pl.DataFrame, separator: str = ",") -> bytes:
    flat = table.with_columns(
        pl.col(name).list.join("|") for name, kind in table.schema.items() if kind == pl.List
    )
    return flat.write_csv(separator=separator).encode()


def _as_parquet(table: pl.DataFrame) -> bytes:
    out = io.BytesIO()
    table.write_parquet(out, row_group_size=40)
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
    "parquet": (_as_parquet, (damaged,)),
    "arrow": (_as_arrow, (damaged,)),
}


def table_file(role: str, ending: str) -> ReadFile:
    """A table of the user's; `lists` are predictions with one row per user."""
    name, (form, mutations) = f"{role}.{ending}", FORMS[ending]
    played = "predictions" if role == "lists" else role

    def make(folder: Path) -> None:
        is_lists = role == "lists"
        table = as_lists(tables().predictions) if is_lists else getattr(tables(), role)
        (folder / name).write_bytes(form(table))

    def read(folder: Path) -> object:
        given = {**tables()._asdict(), played: folder / name}
        predictions = given.pop("predictions")
        options = TableOptions(by=("gender", "age:20", "member"), **given)
        opened = open_tables(predictions, options)
        return read_tables(opened, options, needs=("labels",), wants=("items", "history"))

    return ReadFile(name, make, name, read, mutations)


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


def _counts(folder: Path) -> None:
    given = tables()._asdict()
    counts = fairrec.count(**group_options(**given, by="gender,member", metrics="ndcg@5,auc"))
    write_counts(counts, folder / "counts.parquet")


def _read_counts(folder: Path) -> None:
    statistics = fairrec.Statistics(permutations=9)
    fairrec.audit(counts=folder / "counts.parquet", statistics=statistics, min_support=1)


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


_SETTINGS = """\
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


def _settings(folder: Path) -> None:
    (folder / "fairrec.toml").write_text(_SETTINGS, "utf-8")


def _levels(folder: Path) -> None:
    text = levels_text({"revenue": [1.0, 10.0, 100.0], "ndcg@5": [0.1, 0.5]})
    (folder / "levels.toml").write_text(text, "utf-8")


FILES = [
    *(table_file(role, ending) for role in ("predictions", "users") for ending in FORMS),
    *(table_file("lists", ending) for ending in ("jsonl", "parquet", "arrow")),
    *(
        ReadFile(name, _audit, name, _read_result)
        for name in ("result.json", "run.json", "groups.parquet", "per_user.parquet")
    ),
    *(
        ReadFile(name, _mitigate, name, _read_result)
        for name in ("mitigation.json", "changes.parquet", "reranker.json")
    ),
    ReadFile("counts", _counts, "counts.parquet", _read_counts),
    ReadFile("plan.toml", _plan, "plan.toml", lambda f: read_plan(f / "plan.toml"), TEXT),
    *(
        ReadFile(
            kind, _settings, "fairrec.toml", lambda f, read=read: read(f / "fairrec.toml"), TEXT
        )
        for kind, read in (
            ("fairrec.toml", partial(read_settings, known=SETTINGS)),
            ("policy", read_policy),
        )
    ),
    ReadFile("ledger", _ledger, "scores.ledger", _read_ledger),
    ReadFile("levels.toml", _levels, "levels.toml", lambda f: read_levels(f / "levels.toml"), TEXT),
]


def tampered(one: ReadFile, seed: str, start: Path, here: Path) -> Path:
    """A folder whose file is not as it was; the same for the same seed."""
    rng = Random(f"{one.kind} {seed}")
    for file in start.iterdir():
        if file.is_file():
            shutil.copyfile(file, here / file.name)
    data = (start / one.name).read_bytes()
    (here / one.name).write_bytes(rng.choice(one.mutations)(data, rng))
    return here


def ended(one: ReadFile, folder: Path) -> tuple[str, str]:
    """How reading ended, in a word, and what was wrong where something was."""
    try:
        one.read(folder)
    except FairRecError as error:
        return ("refused", "") if str(error).strip() else ("no words", repr(error))
    except BaseException as error:  # a panic of a library is no Exception
        return type(error).__name__, traceback.format_exc()
    return "read", ""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("one", FILES, ids=lambda one: one.kind)
def test_tampered_files_are_read_or_refused(one: ReadFile, tmp_path: Path):
    start, here = tmp_path / "start", tmp_path / "here"
    for folder in (start, here):
        folder.mkdir()
    one.make(start)
    # what is refused as it is would be refused in any case
    assert ended(one, start) == ("read", "")
    for number in range(N_FILES):
        end, why = ended(one, tampered(one, f"suite {number}", start, here))
        assert end in ("read", "refused"), f"{number}: {why}"
