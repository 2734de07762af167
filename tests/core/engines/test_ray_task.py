from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

from fairrec.core.engines import ray_task
from fairrec.core.engines.ray_task import Setup, UnforeseenError, run
from fairrec.core.errors import InputError

cloudpickle = pytest.importorskip("ray.cloudpickle", reason="Ray is not installed: it is an extra")


@pytest.fixture(autouse=True)
def _no_functions(monkeypatch):
    monkeypatch.setattr(ray_task, "_functions", {})
    monkeypatch.setenv("POLARS_MAX_THREADS", "1")


def called(function, *inputs, setup=None):
    pickled = [cloudpickle.dumps(one) for one in (function, *inputs)]
    done, result = run(setup or Setup.of("a"), *pickled)
    assert done is None
    return cloudpickle.loads(result)


def test_a_function_is_called_with_what_was_pickled():
    assert called(lambda left, right: left + right, [1], [2]) == [1, 2]


def test_a_function_is_loaded_once_and_few_are_kept():
    def count(numbers=[]):  # noqa: B006
        numbers.append(1)
        return len(numbers)

    assert [called(count, setup=Setup.of(key)) for key in "aabab"] == [1, 2, 1, 3, 2]
    # the third takes the place of the first
    assert [called(count, setup=Setup.of(key)) for key in "cba"] == [1, 3, 1]
    assert len(ray_task._functions) == 2


def test_errors_of_ours_pass_and_others_are_tried_again():
    def refuse(error):
        raise error

    with pytest.raises(InputError, match="row 41"):
        called(refuse, InputError("row 41"))
    with pytest.raises(UnforeseenError, match=r"^KeyError: 'a'$"):
        called(refuse, KeyError("a"))
    with pytest.raises(UnforeseenError, match="UnpicklingError"):
        run(Setup.of("b"), b"no function")


def test_other_versions_on_a_worker_are_refused():
    there = Setup.of("a")
    other = replace(there, versions=there.versions | {"numpy": "1.0", "fairrec": "9"})
    message = "a worker has fairrec .* instead of 9, numpy .* instead of 1.0; the numbers"
    with pytest.raises(InputError, match=message):
        called(lambda: 1, setup=other)


def test_polars_is_not_loaded_before_its_threads_are_set():
    code = "import fairrec.core.engines.ray_task, sys; print('polars' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"
