"""Where a table can be cut so that each user's rows stay together, if they are together at all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from fairrec.core.arrays import AnyArray, IntArray
from fairrec.core.errors import InputError, plain
from fairrec.core.kernels import kernel
from fairrec.core.progress import Progress
from fairrec.inputs.ids import ids_as_integers_or_text
from fairrec.inputs.parts.codes import id_codes
from fairrec.inputs.parts.stored import Stored

BATCH = 1 << 22
"""Rows of one column that are looked at at a time."""
_FIRST_LOOK = 1 << 20


@dataclass(frozen=True, slots=True)
class Cuts:
    """A table cut at borders of users.

    Parameters
    ----------
    codes : (n_users,), of the users in the order of their rows
    rows : (n_parts + 1,), the row with which each part begins, and the end
    users : (n_parts + 1,), the same in users
    is_text : whether ids are text, as they are compared
    """

    codes: IntArray
    rows: IntArray
    users: IntArray
    is_text: bool


def find_cuts(
    stored: Stored, column: str, n_rows: int, progress: Progress = lambda stage, done, total: None
) -> Cuts | None:
    """Parts of at least `n_rows` rows that end where a user does; None where rows are scattered.

    Only the user ids are read. A code for each user is kept (8 bytes) until it is known that no
    user comes back; where ids rise, nothing has to be looked up.
    """
    forms = Forms(stored, column)
    found: list[IntArray] = []
    rows, users = [0], [0]
    n_users, looked_at = 0, _FIRST_LOOK
    last, is_rising = None, True
    for start, frame in stored.batches(BATCH, column):
        progress("looking for borders of users", start, stored.n_rows)
        heads, starts = user_runs(frame[column])
        codes = forms.codes(heads, starts + start)
        if last is not None and codes[0] == last:
            codes, starts = codes[1:], starts[1:]
        if not len(codes):
            continue
        is_rising = is_rising and (last is None or last < codes[0]) and _rises(codes)
        last = codes[-1]
        found.append(codes)
        starts += start
        while (at := int(np.searchsorted(starts, rows[-1] + n_rows))) < len(starts):
            rows.append(int(starts[at]))
            users.append(n_users + at)
        n_users += len(codes)
        if not is_rising and (n_users > looked_at or start + BATCH >= stored.n_rows):
            found = [np.concatenate(found)]
            if _has_repeats(found[0]):
                return None
            looked_at = 2 * n_users
    rows.append(stored.n_rows)
    users.append(n_users)
    is_text = forms.is_text
    # codes of numbers and of text that looks like one are the same
    return Cuts(np.concatenate(found), np.array(rows), np.array(users), is_text)


def user_runs(ids: pl.Series) -> tuple[pl.Series, IntArray]:
    """The id of each run of equal ids, and where it starts."""
    if ids.dtype.is_integer() and not ids.null_count():
        starts = _run_starts(ids.to_numpy())
        return ids.gather(starts), starts
    is_start = ids.ne_missing(ids.shift(1))
    starts = is_start.arg_true().to_numpy().astype(np.int64)
    if len(ids) and (not len(starts) or starts[0] != 0):
        starts = np.insert(starts, 0, 0)
    return ids.gather(starts), starts


class Forms:
    """Checks the user ids of a table batch by batch, and remembers whether all are numbers."""

    def __init__(self, stored: Stored, column: str) -> None:
        self._stored, self._column = stored, column
        self.is_text = False

    def codes(self, heads: pl.Series, rows: IntArray) -> IntArray:
        """The codes of some ids; those that cannot be ids are refused as in a table as a whole.

        Parameters
        ----------
        rows : of the table, where each id stands
        """
        if heads.null_count():
            first = int(rows[int(heads.is_null().arg_true()[0])])
            self._refuse_nulls(first)
        keys = ids_as_integers_or_text(heads, self._stored.table.where)
        self.is_text = self.is_text or keys.dtype != pl.Int64
        return id_codes(heads)

    def _refuse_nulls(self, row: int) -> None:
        n_nulls = sum(
            int(frame[self._column].null_count())
            for _, frame in self._stored.batches(BATCH, self._column)
        )
        table = self._stored.table
        raise InputError(
            f"{table.place(row)}: column '{plain(self._column)}' is empty ({n_nulls:,} such rows). "
            "Fill it in or drop those rows."
        )


@kernel
def _run_starts(ids: AnyArray) -> IntArray:
    n_runs = 0
    for row in range(len(ids)):
        n_runs += row == 0 or ids[row] != ids[row - 1]
    starts = np.empty(n_runs, dtype=np.int64)
    n_runs = 0
    for row in range(len(ids)):
        if row == 0 or ids[row] != ids[row - 1]:
            starts[n_runs] = row
            n_runs += 1
    return starts


def _rises(codes: IntArray) -> bool:
    return bool((codes[1:] > codes[:-1]).all())


def _has_repeats(codes: IntArray) -> bool:
    in_order = np.sort(codes)
    return bool((in_order[1:] == in_order[:-1]).any())
