"""The file of a ledger: scores that outlive the process that paid for them.

A SQLite data base. Its rollback journal makes each call of the scorer one transaction: killed
at any moment, the process leaves a file with every call before and nothing of the one at hand.
Against write-ahead logging, which is quicker, all that is paid for is always in the one file.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from fairrec.core.arrays import AnyArray, FloatArray, IntArray
from fairrec.core.errors import InputError, OutputError, list_some, plain
from fairrec.inputs.candidates import CandidateLists
from fairrec.scoring.features import NO_FEATURES, JoinedFeatures

APPLICATION_ID = 0x46524C47  # "FRLG"
_ROWS_AT_ONCE = 8192
_HASH_BYTES = 16
_ANOTHER_FILE = "Name another file for the ledger."
_NO_LEDGER = f" is no ledger of FairRec, and is left as it is. {_ANOTHER_FILE}"
_DAMAGED = f": this ledger is damaged. Restore it from a copy. {_ANOTHER_FILE}"
_REASONS = {
    sqlite3.SQLITE_NOTADB: _NO_LEDGER,
    sqlite3.SQLITE_BUSY: f": this ledger is in use by another run. {_ANOTHER_FILE}",
    sqlite3.SQLITE_READONLY: f": the ledger cannot be written there. {_ANOTHER_FILE}",
    sqlite3.SQLITE_CANTOPEN: f": the ledger cannot be written there. {_ANOTHER_FILE}",
}
"""Kinds of errors, and what follows the name of the file."""

_LAYOUT = (
    "CREATE TABLE scorer (identity TEXT NOT NULL)",
    "CREATE TABLE spent (users INTEGER NOT NULL, rows INTEGER NOT NULL, calls INTEGER NOT NULL, "
    "seconds REAL NOT NULL)",
    "INSERT INTO spent VALUES (0, 0, 0, 0.0)",
    # kind: 'integer' or 'text', so that user 1 is not user '1'; items: hash of the candidate items
    # in order, with features; scores: float64, little-endian, in that order
    "CREATE TABLE scored (kind TEXT NOT NULL, user TEXT NOT NULL, items BLOB NOT NULL, "
    "scores BLOB NOT NULL, UNIQUE (kind, user))",
    f"PRAGMA application_id = {APPLICATION_ID}",
)


@dataclass(frozen=True, slots=True)
class Spent:
    """What scoring has cost: calls that returned scores, their seconds added up."""

    users: int = 0
    rows: int = 0
    calls: int = 0
    seconds: float = 0.0


class LedgerFile:
    """A ledger on disk, locked until it is closed.

    Parameters
    ----------
    user_ids : (n_lists,), the user of each list
    identity : names the scorer; a file of another one is refused
    features : what the scorer is given of users and items; scores for others are refused
    """

    def __init__(
        self,
        path: Path,
        candidates: CandidateLists,
        user_ids: pl.Series,
        identity: str,
        features: JoinedFeatures = NO_FEATURES,
    ) -> None:
        self.path = path
        self._offsets = candidates.offsets
        self._items = candidates.items
        self._kind = _kind(user_ids)
        self._users = user_ids.cast(pl.String).to_list()
        self._features = _feature_bytes(features.per_user)
        of_items = _feature_bytes(features.per_item)
        self._item_hashes = _item_hashes(candidates.item_ids, of_items)
        self._connection = self._connect()
        with self._closed_where_refused():
            # other processes are kept out until this one ends, however it ends
            self._connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.execute("BEGIN EXCLUSIVE")
            self._open(identity)
            self.spent = Spent(*self._row("SELECT users, rows, calls, seconds FROM spent"))

    def add(self, lists: IntArray, scores: FloatArray, seconds: float) -> None:
        """Keep what one call of the scorer returned: all of it or nothing."""
        part = scores.astype("<f8").tobytes()
        ends = 8 * np.cumsum(self._offsets[lists + 1] - self._offsets[lists])
        rows, start = [], 0
        for one, end, items in zip(lists.tolist(), ends.tolist(), self._hashes(lists), strict=True):
            rows.append((self._kind, self._users[one], items, part[start:end]))
            start = end
        with self._errors(), self._connection:
            self._connection.execute("BEGIN")
            self._connection.executemany("INSERT INTO scored VALUES (?, ?, ?, ?)", rows)
            self._connection.execute(
                "UPDATE spent SET users = users + ?, rows = rows + ?, calls = calls + 1, "
                "seconds = seconds + ?",
                (len(lists), len(scores), seconds),
            )

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def _connect(self) -> sqlite3.Connection:
        # an absolute path, because ':memory:' would be no file
        path = self.path.absolute()
        if not path.parent.is_dir():
            raise InputError(f"{self.path}: there is no folder {path.parent}. {_ANOTHER_FILE}")
        if path.is_dir():
            raise InputError(f"{self.path} is a folder. Name a file for the ledger.")
        with self._errors():
            return sqlite3.connect(path, timeout=0, isolation_level=None)

    def _open(self, identity: str) -> None:
        """Lay out a new file, or make sure that it is a ledger of this scorer."""
        if self._row("PRAGMA schema_version") == (0,):
            # a process killed in here leaves a file without tables, which is new again
            for statement in _LAYOUT:
                self._connection.execute(statement)
            self._connection.execute("INSERT INTO scorer VALUES (?)", (identity,))
            return
        if self._row("PRAGMA application_id") != (APPLICATION_ID,):
            raise InputError(f"{self.path}{_NO_LEDGER}")
        (found,) = self._row("SELECT identity FROM scorer")
        if found != identity:
            raise InputError(
                f"{self.path}: the scores in this ledger are of another model "
                f"('{plain(found, 300)}', not '{plain(identity, 300)}'). {_ANOTHER_FILE}"
            )

    def read(self) -> tuple[IntArray, FloatArray]:
        """The lists whose scores are in the file, and those scores; other candidates are refused.

        A file that is refused is closed.
        """
        with self._closed_where_refused():
            return self._read()

    def _read(self) -> tuple[IntArray, FloatArray]:
        if self._row("PRAGMA quick_check(1)") != ("ok",):
            raise InputError(f"{self.path}{_DAMAGED}")
        list_of_user = {user: number for number, user in enumerate(self._users)}
        cursor = self._connection.execute(
            "SELECT user, items, CAST(scores AS BLOB) FROM scored WHERE kind = ?", (self._kind,)
        )
        lists: list[int] = []
        parts: list[bytes] = []
        changed: list[str] = []
        while rows := cursor.fetchmany(_ROWS_AT_ONCE):
            rows = [row for row in rows if row[0] in list_of_user]
            mine = [list_of_user[row[0]] for row in rows]
            hashes = self._hashes(np.array(mine, dtype=np.int64))
            changed += [row[0] for row, items in zip(rows, hashes, strict=True) if row[1] != items]
            lists += mine
            parts.append(b"".join(row[2] for row in rows))
        if changed:
            shown = [int(user) if self._kind == "integer" else user for user in changed[:3]]
            raise InputError(
                f"{self.path}: this ledger was made for other candidates or features: those of "
                f"user {list_some(shown, len(changed))} have changed. {_ANOTHER_FILE}"
            )
        found, scores = np.array(lists, dtype=np.int64), b"".join(parts)
        # a write that changes nothing: where it fails, it does so before anything is paid for
        self._connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        self._connection.execute("COMMIT")
        return found, np.frombuffer(scores, dtype="<f8")

    def _row(self, query: str) -> tuple[Any, ...]:
        """The first row of a query; a ledger always has one."""
        return tuple(self._connection.execute(query).fetchone())

    def _hashes(self, lists: IntArray) -> list[bytes]:
        """For each list the hash of its items in order, which no other list has a part in."""
        starts, stops = self._offsets[lists].tolist(), self._offsets[lists + 1].tolist()
        hashes, items = self._item_hashes, self._items
        mine = [self._features[one] if self._features else b"" for one in lists.tolist()]
        return [
            blake2b(hashes[items[start:stop]].tobytes() + one, digest_size=_HASH_BYTES).digest()
            for start, stop, one in zip(starts, stops, mine, strict=True)
        ]

    @contextmanager
    def _closed_where_refused(self) -> Iterator[None]:
        try:
            with self._errors():
                yield
        except BaseException:
            self.close()
            raise

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Say in words what SQLite reports."""
        try:
            yield
        except sqlite3.ProgrammingError:
            # closed, or used in another thread: no fault of the file
            raise
        except sqlite3.Error as error:
            # the lower byte is the kind of error, the rest its details
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
            if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
                raise OutputError(
                    f"{self.path}: scores could not be added to the ledger ({error}); those of "
                    "the calls before are kept. Make room there and start again."
                ) from error
            reason = _REASONS.get(code, _DAMAGED)
            raise InputError(f"{self.path}{reason} ({plain(error)})") from error


def _kind(ids: pl.Series) -> str:
    return "integer" if ids.dtype.is_integer() else "text"


def _feature_bytes(features: Mapping[str, AnyArray]) -> list[bytes]:
    """What is given of each user or item; nothing where there are no features."""
    names = sorted(features)
    values = zip(*(features[name].tolist() for name in names), strict=True)
    return [repr([*zip(names, one, strict=True)]).encode() for one in values]


def _item_hashes(item_ids: pl.Series, features: list[bytes]) -> AnyArray:
    """(n_items, 16) bytes, a hash of each id and its type, whatever other items there are."""
    kind = _kind(item_ids)
    hashes = b"".join(
        blake2b(f"{kind} {item}".encode() + of_item, digest_size=_HASH_BYTES).digest()
        for item, of_item in zip(
            item_ids.cast(pl.String).to_list(), features or [b""] * len(item_ids), strict=True
        )
    )
    return np.frombuffer(hashes, dtype=np.uint8).reshape(-1, _HASH_BYTES)
