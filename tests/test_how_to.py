"""The pages of docs/how-to come out as they say, in the folder of a demo."""

from __future__ import annotations

import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from fairrec.demo.demo import run_demo
from tests.end_to_end.command_line import run_here

pytestmark = pytest.mark.slow

HOW_TO = Path(__file__).parents[1] / "docs" / "how-to"
# those without a command: the index, what to do next, and one whose blocks build on each other
APART = ("index", "inconclusive", "fairlearn")
PAGES = sorted(page for page in HOW_TO.glob("*.md") if page.stem not in APART)
BLOCK = re.compile(
    r"(?:Save this as `(?P<file>\S+)`:\s*)?```(?P<kind>python|console)\n(.*?)```", re.S
)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("how-to") / "demo"
    run_demo(folder, report=False)
    return folder


@pytest.fixture
def started():
    processes: list[subprocess.Popen[bytes]] = []
    yield processes
    for process in processes:
        process.kill()
        process.wait()


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_for(port: int) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    pytest.fail(f"nothing answers at port {port}")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_comes_out_as_it_says(page, demo, tmp_path, monkeypatch, started):
    shutil.copytree(demo, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    n_commands = 0
    port = free_port()
    text = page.read_text("utf-8").replace("8765", str(port))
    for block in BLOCK.finditer(text):
        file, kind, content = block.groups()
        if file:
            Path(file).write_text(content, "utf-8")
        elif kind == "python":
            exec(compile(content, page.name, "exec"), {})
        typed = [part.splitlines() for part in re.split(r"^\$ ", content, flags=re.M)[1:]]
        for (command, *lines), (after, *code) in pairwise([*typed, [""]]):
            if command == "echo $?":
                continue
            if command.endswith(" &"):
                started.append(subprocess.Popen([sys.executable, *shlex.split(command)[1:-1]]))
                wait_for(port)
                continue
            ran = run_here(*shlex.split(command)[1:])
            expected = int(code[0]) if after == "echo $?" else 0
            assert ran.code == expected, f"{command}\n{ran.stderr}"
            said = " ".join(ran.stdout.split())
            for line in lines:
                assert line in said, f"{command}\n{line}\n{ran.stdout}"
            n_commands += 1
    assert n_commands


def test_tasks_of_fairlearn_come_out_alike():
    """The page's blocks in their order, the last a frame of fairlearn made of our values."""
    found: dict[str, Any] = {}
    for code in re.findall(r"```python\n(.*?)```", (HOW_TO / "fairlearn.md").read_text(), re.S):
        exec(compile(code, "fairlearn.md", "exec"), found)
    ours = found["result"].by_group("gender")
    assert ours["value"].to_list() == pytest.approx([*found["frame"].by_group])
