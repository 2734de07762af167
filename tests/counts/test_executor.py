"""Parts are worked on in this process: results in order, sums without a change, errors by name."""

from __future__ import annotations

import subprocess
import sys

import pytest

from fairrec.core.audit_options import Engine
from fairrec.core.errors import InputError, PartError
from fairrec.core.threads import available_threads
from fairrec.counts.executor import LocalExecutor, fold, open_executor
from tests.counts.pieces import Piece, added, broken, pieces, refused, sensitive, squared

WORKERS = pytest.mark.parametrize("workers", [1, 3])


@WORKERS
def test_results_come_in_the_order_of_the_parts(workers):
    with LocalExecutor(workers) as executor:
        assert [*executor.map(squared, pieces(9))] == [number**2 for number in range(9)]
        assert executor.submit(squared, Piece(3)).result() == 9


@pytest.mark.parametrize("n_parts", [1, 13])
def test_sums_do_not_depend_on_the_number_of_workers(n_parts):
    sums = []
    for workers in (1, 2, 3):
        with LocalExecutor(workers) as executor:
            sums.append(fold(added, executor.map(sensitive, pieces(n_parts))))
    assert sums[0].tobytes() == sums[1].tobytes() == sums[2].tobytes()


def test_every_value_is_added_once_and_in_order():
    for n in range(1, 40):
        assert fold(lambda left, right: left + right, ([at] for at in range(n))) == [*range(n)]


@WORKERS
def test_parts_are_begun_only_a_little_ahead(workers):
    drawn = []

    def parts():
        for piece in pieces(1000):
            drawn.append(piece)
            yield piece

    with LocalExecutor(workers) as executor:
        results = executor.map(squared, parts())
        for taken in range(20):
            assert next(results) == taken**2
            assert len(drawn) <= taken + 1 + workers
        results.close()


@WORKERS
def test_errors_name_the_part_and_those_of_ours_are_left_as_they_are(workers):
    message = r"^part-003.parquet: failed with KeyError: 'no such thing'$"
    with LocalExecutor(workers) as executor:
        with pytest.raises(PartError, match=message) as caught:
            [*executor.map(broken, pieces(5))]
        assert isinstance(caught.value.__cause__, KeyError)
        with pytest.raises(InputError, match="row 41"):
            [*executor.map(refused, pieces(5))]


def test_workers_share_the_threads():
    assert LocalExecutor().threads == available_threads()
    assert LocalExecutor(10**6).threads == 1


def test_ray_is_loaded_when_it_is_asked_for_only():
    code = (
        "import sys; from fairrec.counts.executor import open_executor\n"
        "from fairrec.core.audit_options import Engine\n"
        "with open_executor(Engine()): print('ray' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"


def test_the_executor_is_chosen_by_the_name_of_the_engine():
    with open_executor(Engine(workers=2)) as executor:
        assert isinstance(executor, LocalExecutor)
    with pytest.raises(InputError, match="'local' or 'ray'"):
        Engine(engine="spark")
