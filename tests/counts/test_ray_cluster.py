from __future__ import annotations

import socket
import subprocess
import sys

import pytest

from fairrec.core.audit_options import Engine
from fairrec.core.errors import InputError
from fairrec.counts.executor import open_executor
from tests.grouped_options import on_command_line

pytestmark = pytest.mark.slow


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    """What a fresh process prints, which has no other cluster and no threads left over."""
    command = [sys.executable, "-W", "error", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)


def join(address: str) -> None:
    with open_executor(Engine(engine="ray", address=address)):
        pass


def test_where_ray_is_not_installed_it_is_said_how_to(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"--engine ray.*'fairrec\[ray\]'"), on_command_line():
        join("auto")


@pytest.mark.parametrize("address", ["127.0.0.1:{}", "nobody.invalid:{}"])
def test_where_nobody_listens_it_is_said_at_once(address):
    pytest.importorskip("ray", reason="Ray is not installed: it is an extra")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = address.format(taken.getsockname()[1])
        with pytest.raises(InputError, match="no Ray cluster answers there") as caught:
            join(address)
    assert address in str(caught.value)
    assert "ray start --head" in str(caught.value)


STARTED = """
import os
from fairrec.counts.executor import open_executor
from fairrec.core.audit_options import Engine
from tests.counts.pieces import pieces, squared

os.environ.pop("RAY_ADDRESS", None)
with open_executor(Engine(engine="ray", workers=1)) as executor:
    import ray
    print([*executor.map(squared, pieces(3))], ray.cluster_resources()["CPU"])
    print(os.environ["RAY_USAGE_STATS_ENABLED"])
    # a program that has joined one keeps it
    with open_executor(Engine(engine="ray")) as same:
        print([*same.map(squared, pieces(2))])
    print(ray.is_initialized())
    try:
        with open_executor(Engine(engine="ray", address="auto")):
            pass
    except ValueError as error:
        print(error)
print(ray.is_initialized())
"""


def test_workers_are_started_here_without_noise_and_ended_again():
    pytest.importorskip("ray", reason="Ray is not installed: it is an extra")
    ran = run_python(STARTED)
    *said, joined, ended = ran.stdout.splitlines()
    assert said == ["[0, 1, 4] 1.0", "0", "[0, 1]", "True"], ran.stderr
    assert "joined a Ray cluster already" in joined
    assert ended == "False"
    assert ran.stderr == ""
