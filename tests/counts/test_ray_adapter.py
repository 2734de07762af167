from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from fairrec.core.audit_options import Engine
from fairrec.core.errors import InputError, PartError
from fairrec.counts import ray_adapter
from fairrec.counts.executor import LocalExecutor, fold, open_executor
from fairrec.counts.ray_adapter import N_ATTEMPTS, RayExecutor
from tests.counts.pieces import (
    Noted,
    Piece,
    added,
    pieces,
    refused,
    sensitive,
    squared,
)
from tests.grouped_options import on_command_line

pytestmark = pytest.mark.slow

pytest.importorskip("ray", reason="Ray is not installed: it is an extra")

STORE_BYTES = 80_000_000


@pytest.fixture(scope="module")
def nodes() -> Iterator[Any]:
    """Three nodes: the first has no CPU, so that tasks run on the two others."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    from ray import cluster_utils

    head = {
        "num_cpus": 0,
        "object_store_memory": STORE_BYTES,
        "include_dashboard": False,
        # a lost node is noticed within about two seconds instead of twenty
        "_system_config": {"health_check_period_ms": 500, "health_check_failure_threshold": 4},
    }
    made = cluster_utils.Cluster(initialize_head=True, head_node_args=head)
    for n_gpus in (0, 1):
        # a GPU that is only said to be there
        made.add_node(num_cpus=1, num_gpus=n_gpus, object_store_memory=STORE_BYTES)
    yield made
    made.shutdown()


@pytest.fixture(scope="module")
def executor(nodes: Any) -> Iterator[RayExecutor]:
    with open_executor(Engine(engine="ray", address=nodes.address)) as joined:
        yield joined


def test_other_versions_on_a_worker_are_refused(executor, monkeypatch):
    monkeypatch.setattr(ray_adapter, "_versions", lambda: ["fairrec 9"])
    message = "a worker has fairrec .*, numpy .* instead of fairrec 9; the numbers could differ"
    with pytest.raises(InputError, match=message):
        [*executor.map(squared, pieces(1))]


@pytest.mark.parametrize("n_parts", [1, 13])
def test_sums_are_those_of_the_local_engine_bit_by_bit(executor, n_parts):
    here = fold(added, LocalExecutor().map(sensitive, pieces(n_parts)))
    there = fold(added, executor.map(sensitive, pieces(n_parts)))
    assert here.tobytes() == there.tobytes()


def test_results_can_be_written_to_and_lambdas_are_sent(executor):
    (result,) = executor.map(lambda piece: np.zeros(200_000), pieces(1))
    result += 1
    assert result.sum() == 200_000


def test_a_gpu_is_given_to_parts_that_want_one(executor):
    def given(piece: Piece) -> list[int]:
        import ray

        return ray.get_gpu_ids()

    def given_half(piece: Piece) -> list[int]:
        return given(piece)

    given_half.n_gpus = 0.5
    assert [*executor.map(given_half, pieces(2))] == [[0], [0]]
    assert [*executor.map(given, pieces(1))] == [[]]


def test_an_error_of_ours_comes_out_as_itself_and_is_not_tried_again(executor, tmp_path):
    noted = Noted(tmp_path, refused)
    with pytest.raises(InputError, match="--min-support 5") as caught, on_command_line():
        [*executor.map(noted, pieces(5))]
    assert type(caught.value) is InputError
    assert noted.calls(Piece(3)) == 1
    with pytest.raises(InputError, match="min_support=5"):
        [*executor.map(refused, pieces(5))]


def test_a_part_that_kills_its_workers_is_refused_by_name(executor, tmp_path):
    def kill(piece: Piece) -> int:
        if piece.number == 1:
            os._exit(1)
        return piece.number

    noted = Noted(tmp_path, kill)
    with pytest.raises(PartError, match=r"^part-001.parquet: failed 3 times.*WorkerCrashedError"):
        [*executor.map(noted, pieces(3))]
    assert noted.calls(Piece(1)) == N_ATTEMPTS
