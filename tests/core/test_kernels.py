from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import fairrec
from fairrec.core.kernels import kernel

CAP_DAC_OVERRIDE, PR_CAPBSET_DROP = 1, 24

PROGRAM = """
import fairrec.auditing.audit
from fairrec.core.kernels import make_ready
make_ready()
print(fairrec.__file__)
"""
"""Loads all kernels of an audit and runs one."""


def obey_permissions() -> None:
    """Root may write anywhere; without this capability what follows may not."""
    ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0)


def run_kernels(root: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Kernels of the package below a folder, with a home there, in a process of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    kept.pop("XDG_CACHE_HOME", None)
    return subprocess.run(
        [sys.executable, "-B", "-c", PROGRAM],
        env={**kept, "PYTHONPATH": str(root), "HOME": str(root / "home"), **environment},
        cwd=root,
        preexec_fn=obey_permissions,
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture
def installed(tmp_path: Path):
    """A folder with a copy of the package and a home, both read-only."""
    root = tmp_path / "installed"
    unwanted = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(fairrec.__file__).parent, root / "fairrec", ignore=unwanted)
    (root / "home").mkdir()
    folders = [root, *(folder for folder in root.rglob("*") if folder.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    yield root
    for folder in folders:
        folder.chmod(0o755)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="how to make root obey is known for Linux")
def test_kernels_run_where_neither_the_installation_nor_the_home_can_be_written(
    installed: Path, tmp_path: Path
):
    before = sorted(installed.rglob("*"))
    done = run_kernels(installed)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{installed / 'fairrec' / '__init__.py'}\n"
    # one note, in words, for all kernels
    (note,) = done.stderr.splitlines()
    assert note.startswith("Note: compiled kernels cannot be kept")
    assert "NUMBA_CACHE_DIR" in note
    assert sorted(installed.rglob("*")) == before
    # and doing what the note says helps
    cache = tmp_path / "cache"
    done = run_kernels(installed, NUMBA_CACHE_DIR=str(cache))
    assert (done.returncode, done.stderr) == (0, "")
    assert [*cache.rglob("*.nbc")]


@kernel
def doubled(values: np.ndarray) -> np.ndarray:
    return 2 * values


def test_a_kernel_is_compiled_once_and_kept_on_disk(monkeypatch, tmp_path):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    kept = kernel(doubled.py_func)
    assert kept(np.array([1.5])).tolist() == [3.0]
    assert len([*tmp_path.rglob("*.nbc")]) == 1
    again = kernel(doubled.py_func)
    assert again(np.array([2.0])).tolist() == [4.0]
    assert sum(again.stats.cache_hits.values()) == 1
    assert sum(again.stats.cache_misses.values()) == 0


@pytest.mark.slow
def test_being_made_ready_loads_what_the_first_call_of_a_kernel_loads():
    code = (
        "import sys\n"
        "from fairrec.core.kernels import make_ready\n"
        "make_ready()\n"
        "import numpy as np\n"
        "from fairrec.statistics.draws import _shuffle\n"
        "loaded = {*sys.modules}\n"
        "_shuffle(np.zeros(4, np.int32), np.array([0, 4]), np.zeros(4))\n"
        "print([name for name in {*sys.modules} - loaded if name.startswith('numba')])"
    )
    asked = [sys.executable, "-c", code]
    # the first process may have to compile, which loads more
    subprocess.run(asked, capture_output=True, check=True)
    done = subprocess.run(asked, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
