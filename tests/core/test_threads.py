"""Work in threads, and processes that were forked without them."""

from __future__ import annotations

import threading
import time

import pytest

from fairrec.core.threads import AHEAD, chunks, map_in_threads

THREADS = pytest.mark.parametrize("threads", [1, 2, 5])


@THREADS
@pytest.mark.parametrize("n_tasks", [0, 1, 2, 3, 500])
def test_results_come_in_the_order_of_the_tasks(threads, n_tasks):
    def work(number: int) -> int:
        # the later of two neighbours is often done first
        time.sleep(1e-3 * (number % 2 == 0 and number < 20))
        return number**2

    assert [*map_in_threads(work, range(n_tasks), threads)] == [n**2 for n in range(n_tasks)]


def test_work_is_done_in_several_threads_at_once():
    meeting = threading.Barrier(3, timeout=10)
    assert [*map_in_threads(lambda _: meeting.wait() >= 0, range(3), 3)] == [True] * 3


@THREADS
def test_many_tasks_are_begun_only_a_little_ahead_of_their_results(threads):
    n_begun = 0
    lock = threading.Lock()

    def work(number: int) -> int:
        nonlocal n_begun
        with lock:
            n_begun += 1
        return number

    drawn = 0

    def tasks():
        nonlocal drawn
        for number in range(100_000):
            drawn += 1
            yield number

    results = map_in_threads(work, tasks(), threads)
    for taken in range(200):
        assert next(results) == taken
        assert n_begun <= drawn <= taken + 2 + AHEAD * threads
    results.close()


@THREADS
def test_an_error_is_passed_on_in_its_turn_and_no_further_task_is_begun(threads):
    begun = []

    def work(number: int) -> int:
        begun.append(number)
        if number == 50:
            raise ValueError("number 50")
        return number

    results = map_in_threads(work, range(100_000), threads)
    taken = []
    with pytest.raises(ValueError, match="number 50"):
        taken.extend(results)
    assert [*results] == []
    assert len(begun) <= 51 + AHEAD * threads
    n_begun = len(begun)
    time.sleep(0.02)
    assert len(begun) == n_begun


@pytest.mark.parametrize(("n_rows", "n_chunks", "smallest"), [(10, 3, 1), (7, 20, 1), (9, 4, 4)])
def test_chunks_cover_the_rows_in_order_and_are_about_equal(n_rows, n_chunks, smallest):
    found = chunks(n_rows, n_chunks, smallest)
    assert [row for part in found for row in range(n_rows)[part]] == [*range(n_rows)]
    sizes = [part.stop - part.start for part in found]
    assert len(sizes) <= n_chunks
    assert max(sizes) - min(sizes) <= 1
    assert min(sizes) >= smallest


def test_few_rows_stay_in_one_chunk():
    assert chunks(3, 8, smallest=10) == [slice(0, 3)]
    assert chunks(0, 8) == [slice(0, 0)]
