"""The ledger on disk: paid scores outlive the process, and are never taken for others."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
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
N_KILLS = int(os.environ.get("FAIRREC_KILLS", "3"))
"""Moments at which a process with a ledger is killed."""
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


def test_scores_in_the_file_are_free(tmp_path: Path):
    file = tmp_path / "ledger.db"
    scores = paid_ledger(file)
    function = NotedFunction()
    with ledger_at(file, function) as ledger:
        assert ledger.users_before == N_WITH_ITEMS
        assert ledger.is_scored.all()
        np.testing.assert_array_equal(ledger.pay_for(ALL), scores)
        assert (ledger.users, ledger.calls, function.calls) == (0, 0, [])


def test_the_file_has_the_same_scores_as_memory(tmp_path: Path):
    in_memory = Ledger(CANDIDATES, ModelScorer(FunctionModel(NotedFunction()), CANDIDATES, USERS))
    np.testing.assert_array_equal(paid_ledger(tmp_path / "ledger.db"), in_memory.pay_for(ALL))


def test_costs_of_all_processes_add_up(tmp_path: Path):
    file = tmp_path / "ledger.db"
    users = rows = calls = 0
    seconds = 0.0
    for lists in (ALL[:10], ALL[5:30], ALL[:3]):
        with ledger_at(file) as ledger:
            ledger.pay_for(lists)
            users, rows = users + ledger.users, rows + ledger.rows
            calls, seconds = calls + ledger.calls, seconds + ledger.seconds
    assert ledger.calls == 0  # the last three are among the first ten
    with ledger_at(file) as ledger:
        before = ledger.spent_before
        assert (before.users, before.rows, before.calls) == (users, rows, calls)
        assert before.seconds == pytest.approx(seconds)
        assert before.users == ledger.users_before


def test_one_file_beside_nothing_else_is_left(tmp_path: Path):
    paid_ledger(tmp_path / "ledger.db")
    assert [file.name for file in tmp_path.iterdir()] == ["ledger.db"]


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
        [2**63 + 1, 2**63 + 2, 5],
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


def test_another_model_is_refused(tmp_path: Path):
    file = tmp_path / "ledger.db"
    paid_ledger(file, identity="sha256:aa")
    message = refusal(lambda: ledger_at(file, identity="sha256:bb"))
    assert message.startswith(str(file))
    assert "another model ('sha256:aa', not 'sha256:bb')" in message
    assert "Name another file" in message
    paid_ledger(file, identity="sha256:aa")


@pytest.mark.parametrize("changed", [[1, 2, 3], [2, 1], [1], [1, 4], [], ["1", "2"]], ids=repr)
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


def test_a_refused_ledger_is_not_changed_and_not_locked(tmp_path: Path):
    file = tmp_path / "ledger.db"
    scores = paid_ledger(file)
    content = file.read_bytes()
    refusal(lambda: ledger_at(file, identity="another"))
    assert file.read_bytes() == content
    np.testing.assert_array_equal(paid_ledger(file), scores)


def make_text(file: Path) -> None:
    file.write_text("user_id,score\n" * 100)


def make_short_text(file: Path) -> None:
    file.write_text("hi")


def make_other_data_base(file: Path) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE scored (kind, user, items, scores)")
    connection.close()


@pytest.mark.parametrize("make", [make_text, make_short_text, make_other_data_base])
def test_a_file_that_is_no_ledger_is_refused_and_left_alone(
    make: Callable[[Path], None], tmp_path: Path
):
    file = tmp_path / "precious"
    make(file)
    content = file.read_bytes()
    message = refusal(lambda: ledger_at(file))
    assert message.startswith(f"{file} is no ledger")
    assert "Name another file" in message
    assert file.read_bytes() == content


def test_an_empty_file_is_a_new_ledger(tmp_path: Path):
    # a process killed before its first write leaves one
    file = tmp_path / "ledger.db"
    file.touch()
    paid_ledger(file)


@pytest.mark.parametrize("table", ["scorer", "spent"])
def test_a_ledger_without_its_model_or_its_costs_is_refused(table: str, tmp_path: Path):
    file = tmp_path / "ledger.db"
    paid_ledger(file)
    with sqlite3.connect(file) as connection:
        connection.execute(f"DELETE FROM {table}")
    connection.close()
    assert "damaged" in refusal(lambda: ledger_at(file))


@pytest.mark.parametrize("kept", [0.3, 0.5, 0.9])
def test_a_ledger_cut_short_is_refused(kept: float, tmp_path: Path):
    file = tmp_path / "ledger.db"
    paid_ledger(file)
    content = file.read_bytes()
    file.write_bytes(content[: int(kept * len(content))])
    message = refusal(lambda: ledger_at(file))
    assert message.startswith(str(file))
    assert "damaged" in message


def test_a_layout_that_is_no_text_is_damage(tmp_path: Path):
    file = tmp_path / "ledger.db"
    paid_ledger(file)
    content = file.read_bytes()
    for word in (b"CREATE TABLE", b"spent"):
        file.write_bytes(content.replace(word, word[:-1] + b"\xc1", 1))
        assert "damaged" in refusal(lambda: ledger_at(file))


def test_a_missing_folder_is_named(tmp_path: Path):
    message = refusal(lambda: ledger_at(tmp_path / "no" / "ledger.db"))
    assert f"there is no folder {tmp_path / 'no'}" in message


def test_a_folder_is_no_ledger(tmp_path: Path):
    assert f"{tmp_path} is a folder" in refusal(lambda: ledger_at(tmp_path))


def test_a_name_that_is_too_long_is_refused(tmp_path: Path):
    message = refusal(lambda: ledger_at(tmp_path / ("x" * 300)))
    assert "the ledger cannot be written there" in message


def test_a_file_below_a_file_has_no_folder(tmp_path: Path):
    (tmp_path / "file").touch()
    assert "there is no folder" in refusal(lambda: ledger_at(tmp_path / "file" / "ledger.db"))


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs a folder nobody may write to")
def test_a_folder_that_cannot_be_written_is_named():
    message = refusal(lambda: ledger_at(Path("/proc/self/ledger.db")))
    assert message.startswith("/proc/self/ledger.db: the ledger cannot be written there")


@pytest.fixture
def locked_folder() -> Iterator[Path]:
    """A folder with `ledger.db` that may be read but not written, whoever runs the tests."""
    if sys.platform == "win32":
        pytest.skip("permissions are of another kind there")
    with TemporaryDirectory() as name:
        folder = Path(name)
        paid_ledger(folder / "ledger.db")
        (folder / "ledger.db").chmod(0o666)
        folder.chmod(0o555)
        owner = os.geteuid()
        if owner == 0:
            os.seteuid(65534)
        yield folder
        os.seteuid(owner)


@pytest.mark.parametrize("name", ["ledger.db", "new.db"])
def test_where_nothing_can_be_written_nothing_is_paid(name: str, locked_folder: Path):
    # an open file would not do: SQLite needs its journal beside it
    message = refusal(lambda: ledger_at(locked_folder / name))
    assert message.startswith(f"{locked_folder / name}: the ledger cannot be written there")


def test_a_file_is_never_mistaken_for_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    paid_ledger(Path(":memory:"))
    assert (tmp_path / ":memory:").stat().st_size > 0


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


def test_a_ledger_open_in_this_process_is_in_use(tmp_path: Path):
    file = tmp_path / "ledger.db"
    with ledger_at(file) as ledger:
        ledger.pay_for(ALL[:3])
        assert "in use" in refusal(lambda: ledger_at(file))
        ledger.pay_for(ALL)
    with ledger_at(file) as ledger:
        assert ledger.users_before == N_WITH_ITEMS


CHILD = textwrap.dedent(
    """
    import sys, time
    from pathlib import Path
    import numpy as np
    from fairrec.scoring.ledger import Ledger
    from fairrec.scoring.model import FunctionModel
    from fairrec.scoring.scorer import ModelScorer
    from tests.scoring.small_candidates import NotedFunction, many_candidates

    file, log, n_users, most_calls = Path(sys.argv[1]), Path(sys.argv[2]), *map(int, sys.argv[3:])
    candidates, users = many_candidates(n_users)
    scored = NotedFunction()

    def function(user_ids, item_ids):
        scores = scored(user_ids, item_ids)
        with log.open("a") as stream:
            stream.writelines(f"{user}\\n" for user in scored.calls[-1])
        print("asked", flush=True)
        time.sleep(0.001)
        if len(scored.calls) == most_calls:
            sys.stdin.read()
        return scores

    scorer = ModelScorer(FunctionModel(function), candidates, users)
    with Ledger(candidates, scorer, 20, file, "m", users) as ledger:
        print("open", flush=True)
        scores = ledger.pay_for(np.arange(n_users))
        print("scored", flush=True)
        sys.stdin.read()
    """
)


def start_child(file: Path, log: Path, n_users: int, most_calls: int = 0) -> subprocess.Popen[str]:
    """A process that scores everyone; it says 'open' once it holds the ledger.

    Parameters
    ----------
    most_calls : the last one of them is never answered; 0 for no limit
    """
    arguments = [str(file), str(log), str(n_users), str(most_calls)]
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "open\n"
    return child


@pytest.mark.slow
def test_a_ledger_open_in_another_process_is_in_use_until_it_ends(tmp_path: Path):
    file = tmp_path / "ledger.db"
    candidates, users = many_candidates(20)
    with start_child(file, tmp_path / "log", 20) as child:
        assert child.stdout is not None
        assert "scored\n" in iter(child.stdout.readline, "")
        message = refusal(lambda: ledger_at(file, None, candidates, users, "m"))
        child.kill()
    assert message.startswith(str(file))
    assert "in use by another run" in message
    with ledger_at(file, None, candidates, users, "m") as ledger:
        assert ledger.is_scored.all()


@pytest.mark.slow
def test_killed_at_any_moment_nothing_kept_is_paid_again(tmp_path: Path):
    file, log = tmp_path / "ledger.db", tmp_path / "log"
    # on a machine of any speed, a start keeps a call and does not come to the end
    n_users, most_calls = 150 * N_KILLS, 20
    candidates, users = many_candidates(n_users)
    wanted = users.to_numpy()[np.diff(candidates.offsets) > 0]
    kept: set[str] = set()
    for delay in np.random.default_rng(0).uniform(0, 0.05, N_KILLS):
        log.write_text("")
        with start_child(file, log, n_users, most_calls) as child:
            assert child.stdout is not None
            # who asks a second time has kept what the first call gave
            assert [child.stdout.readline() for _ in range(2)] == ["asked\n"] * 2
            with pytest.raises(subprocess.TimeoutExpired):
                child.wait(timeout=delay)
            child.kill()
        asked = log.read_text().split()
        assert not kept & set(asked)
        with ledger_at(file, None, candidates, users, "m") as ledger:
            kept_now = set(users.to_numpy()[ledger.is_scored]) & set(wanted)
            assert ledger.spent_before.users == len(kept_now)
        # only the call under way is lost: at most 20 candidates, the last ones asked for
        lost = [user for user in asked if user not in kept_now]
        assert len(lost) <= 20
        assert asked[len(asked) - len(lost) :] == lost
        assert kept_now == kept | set(asked) - set(lost)
        assert len(kept) < len(kept_now) < len(wanted)
        kept = kept_now

    unbroken = Ledger(
        candidates, ModelScorer(FunctionModel(NotedFunction()), candidates, users), 20
    )
    function = NotedFunction()
    with ledger_at(file, function, candidates, users, "m") as ledger:
        lists = np.arange(n_users)
        np.testing.assert_array_equal(ledger.pay_for(lists), unbroken.pay_for(lists))
        assert sorted(function.asked) == sorted(set(wanted) - kept)
        assert ledger.spent.users == len(wanted)
