"""The ledger on disk: paid scores outlive the process, and are never taken for others."""

from __future__ import annotations

import re
import signal
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from fairrec.core.arrays import FloatArray
from fairrec.core.errors import InputError, OutputError, ScoringError
from fairrec.inputs.candidates import CandidateLists
from fairrec.scoring.ledger import Ledger
from fairrec.scoring.model import FunctionModel
from fairrec.scoring.scorer import ModelScorer
from tests.scoring.small_candidates import NotedFunction, candidates_of, many_candidates, score_of

CANDIDATES, USERS = many_candidates(40)
ALL = np.arange(40)
N_WITH_ITEMS = int((np.diff(CANDIDATES.offsets) > 0).sum())


def ledger_at(
    file: Path,
    function: NotedFunction | None = None,
    candidates: CandidateLists = CANDIDATES,
    users: pl.Series = USERS,
    identity: str = "model 1",
) -> Ledger:
    """A ledger on disk with about three users a call."""
    scorer = ModelScorer(FunctionModel(function or NotedFunction()), candidates, users)
    return Ledger(candidates, scorer, 10, file, identity, users)


def paid_ledger(file: Path, **options: Any) -> FloatArray:
    """A file in which everyone is paid for, and the scores."""
    with ledger_at(file, **options) as ledger:
        lists = np.arange(len(options.get("users", USERS)))
        return ledger.pay_for(lists)


def refusal(open_ledger: Callable[[], Ledger]) -> str:
    """What is said about a file that is refused."""
    with pytest.raises(InputError) as caught:
        open_ledger().close()
    return str(caught.value)


def test_a_failure_in_the_middle_keeps_the_calls_before(tmp_path: Path):
    file = tmp_path / "ledger.db"
    first, second = NotedFunction(fails_at_call=4), NotedFunction()
    with ledger_at(file, first) as ledger, pytest.raises(ScoringError):
        ledger.pay_for(ALL)
    with ledger_at(file, second) as ledger:
        assert ledger.users_before == len(first.asked)
        assert ledger.spent_before.calls == 4
        ledger.pay_for(ALL)
    assert len(first.asked + second.asked) == len(set(first.asked + second.asked)) == N_WITH_ITEMS


@pytest.mark.parametrize(
    "users",
    [
        [1, 2, 3],
        ["1", "2", "3"],
        ["a\x00b", "a", "a\x00c"],
        ["", " ", "ü'\n\";--"],
    ],
    ids=repr,
)
def test_users_have_any_id(users: list[Any], tmp_path: Path):
    candidates, ids = candidates_of({user: [1, 2] for user in users})
    scores = paid_ledger(tmp_path / "l.db", candidates=candidates, users=ids)
    with ledger_at(tmp_path / "l.db", candidates=candidates, users=ids) as ledger:
        np.testing.assert_array_equal(ledger.pay_for(np.arange(3)), scores)
        assert (ledger.users, ledger.users_before) == (0, 3)


def test_user_1_is_not_user_text_1(tmp_path: Path):
    file = tmp_path / "ledger.db"
    numbers, text = candidates_of({1: [5]}), candidates_of({"1": [5]})
    paid_ledger(file, candidates=numbers[0], users=numbers[1])
    with ledger_at(file, candidates=text[0], users=text[1]) as ledger:
        assert ledger.users_before == 0
        ledger.pay_for(np.array([0]))
        assert ledger.users == 1
    with ledger_at(file, candidates=numbers[0], users=numbers[1]) as ledger:
        assert (ledger.users_before, ledger.spent_before.users) == (1, 2)


def test_other_users_in_another_order_find_their_own_scores(tmp_path: Path):
    lists = {"a": [1, 2], "b": [3], "c": [2, 9]}
    file = tmp_path / "ledger.db"
    for chosen in ("ab", "cb", "cab"):
        candidates, users = candidates_of({user: lists[user] for user in chosen})
        scores = paid_ledger(file, candidates=candidates, users=users)
        pairs = [score_of(user, item) for user in chosen for item in lists[user]]
        assert scores.tolist() == pairs
    with ledger_at(file, candidates=candidates, users=users) as ledger:
        assert ledger.spent_before.users == 3


@pytest.mark.parametrize("changed", [[1, 2, 3], [2, 1], ["1", "2"]], ids=repr)
def test_other_candidates_of_a_user_are_refused(changed: list[Any], tmp_path: Path):
    file = tmp_path / "ledger.db"
    lists: dict[str, list[Any]] = {user: [1, 2] for user in "abcdefg"}
    candidates, users = candidates_of(lists)
    paid_ledger(file, candidates=candidates, users=users)
    # items are text or numbers for all users
    others = [str(item) for item in (1, 2)] if changed[:1] == ["1"] else [1, 2]
    now = {user: changed if user in "cf" else others for user in lists}
    candidates, users = candidates_of(now)
    message = refusal(lambda: ledger_at(file, candidates=candidates, users=users))
    assert message.startswith(str(file))
    assert "made for other candidates" in message
    shown = "'c', 'f' have" if others == [1, 2] else "'a', 'b', 'c' and 4 more have"
    assert f"those of user {shown}" in message
    assert "Name another file" in message


def test_a_ledger_of_another_model_is_refused_unchanged_and_unlocked(tmp_path: Path):
    file = tmp_path / "ledger.db"
    scores = paid_ledger(file, identity="sha256:aa")
    content = file.read_bytes()
    message = refusal(lambda: ledger_at(file, identity="sha256:bb"))
    assert message.startswith(str(file))
    assert "another model ('sha256:aa', not 'sha256:bb')" in message
    assert "Name another file" in message
    assert file.read_bytes() == content
    np.testing.assert_array_equal(paid_ledger(file, identity="sha256:aa"), scores)


@pytest.mark.parametrize("kind", ["text", "data base"])
def test_a_file_that_is_no_ledger_is_refused_and_left_alone(kind: str, tmp_path: Path):
    file = tmp_path / "precious"
    if kind == "data base":
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("CREATE TABLE scored (kind, user, items, scores)")
    else:
        file.write_text("user_id,score\n" * 100)
    content = file.read_bytes()
    message = refusal(lambda: ledger_at(file))
    assert message.startswith(f"{file} is no ledger")
    assert "Name another file" in message
    assert file.read_bytes() == content


def test_a_ledger_cut_short_is_refused(tmp_path: Path):
    file = tmp_path / "ledger.db"
    paid_ledger(file)
    content = file.read_bytes()
    file.write_bytes(content[: int(0.9 * len(content))])
    message = refusal(lambda: ledger_at(file))
    assert message.startswith(str(file))
    assert "damaged" in message


def test_a_file_that_cannot_be_made_is_refused(tmp_path: Path):
    message = refusal(lambda: ledger_at(tmp_path / "no" / "ledger.db"))
    assert f"there is no folder {tmp_path / 'no'}" in message
    assert f"{tmp_path} is a folder" in refusal(lambda: ledger_at(tmp_path))


def test_a_ledger_that_is_open_is_in_use(tmp_path: Path):
    file = tmp_path / "ledger.db"
    with ledger_at(file) as ledger:
        ledger.pay_for(ALL[:3])
        assert "in use by another run" in refusal(lambda: ledger_at(file))
        ledger.pay_for(ALL)
    with ledger_at(file) as ledger:
        assert ledger.users_before == N_WITH_ITEMS


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
def test_a_full_disk_keeps_the_calls_before(tmp_path: Path):
    import resource

    file = tmp_path / "ledger.db"
    candidates, users = candidates_of({user: list(range(400)) for user in range(9)})
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        with ledger_at(file, None, candidates, users) as ledger:
            ledger.pay_for(np.arange(2))
            resource.setrlimit(resource.RLIMIT_FSIZE, (file.stat().st_size + 8192, limits[1]))
            with pytest.raises(OutputError, match=re.escape(str(file))) as caught:
                ledger.pay_for(np.arange(9))
            n_kept = ledger.users
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert "could not be added" in str(caught.value)
    with ledger_at(file, None, candidates, users) as ledger:
        assert 2 <= n_kept == ledger.users_before < 9
