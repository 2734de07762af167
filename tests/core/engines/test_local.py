from __future__ import annotations

import threading

import numpy as np
import pytest

from fairrec.core.engines.local import AHEAD, LocalEngine
from fairrec.core.errors import InputError, PartError
from fairrec.core.threads import available_threads
from tests.core.engines.pieces import added, broken, pieces, refused, sensitive, squared

WORKERS = pytest.mark.parametrize("workers", [1, 2, 3])


@WORKERS
def test_results_come_in_the_order_of_the_parts(workers):
    told = []
    results = LocalEngine(workers).map(squared, pieces(9), told.append)
    assert [*results] == [number**2 for number in range(9)]
    assert told == pieces(9)


@pytest.mark.parametrize("n_parts", [1, 2, 7, 13])
def test_sums_do_not_depend_on_the_number_of_workers(n_parts):
    sums = [LocalEngine(workers).fold(sensitive, pieces(n_parts), added) for workers in (1, 2, 3)]
    assert sums[0].tobytes() == sums[1].tobytes() == sums[2].tobytes()


def test_another_order_would_give_other_bits():
    parts = pieces(13)
    there, back = (LocalEngine().fold(sensitive, some, added) for some in (parts, parts[::-1]))
    assert there.tobytes() != back.tobytes()
    assert np.allclose(there, back)


@WORKERS
def test_parts_are_begun_only_a_little_ahead(workers):
    drawn = []

    def parts():
        for piece in pieces(1000):
            drawn.append(piece)
            yield piece

    results = LocalEngine(workers).map(squared, parts())
    for taken in range(20):
        assert next(results) == taken**2
        assert len(drawn) <= taken + 2 + AHEAD * workers
    results.close()


def test_parts_are_worked_on_at_once():
    meeting = threading.Barrier(2, timeout=10)
    assert [*LocalEngine(2).map(lambda _: meeting.wait() >= 0, pieces(2))] == [True] * 2


@WORKERS
def test_errors_name_the_part_and_those_of_ours_are_left_as_they_are(workers):
    engine = LocalEngine(workers)
    message = r"^part-003.parquet: failed with KeyError: 'no such thing'$"
    with pytest.raises(PartError, match=message) as caught:
        engine.fold(broken, pieces(5), lambda left, right: left + right)
    assert isinstance(caught.value.__cause__, KeyError)
    with pytest.raises(InputError, match="row 41"):
        [*engine.map(refused, pieces(5))]


def test_workers_share_the_threads():
    assert LocalEngine().threads == available_threads()
    assert LocalEngine(10**6).threads == 1
