"""Files and folders on their way."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fairrec.core.scratch import scratch, sweep


@pytest.mark.parametrize("is_folder", [False, True])
def test_what_is_not_moved_is_gone_in_the_end(tmp_path: Path, is_folder: bool):
    with pytest.raises(KeyboardInterrupt), scratch(tmp_path, "out", is_folder) as part:
        assert part.exists()
        assert part.parent == tmp_path
        raise KeyboardInterrupt
    assert [*tmp_path.iterdir()] == []


def test_what_a_killed_command_left_is_swept_up_and_nothing_else(tmp_path: Path):
    stays = [".out.writing", ".out.notes.writing", ".other.0123abcd.writing", "out"]
    for name in stays:
        (tmp_path / name).write_text("x")
    (tmp_path / ".out.0123abcd.writing").write_text("half")
    (tmp_path / ".out.4567cdef.writing").mkdir()
    (tmp_path / ".out.4567cdef.writing" / "half").write_text("half")
    sweep(tmp_path, "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(stays)


def test_what_another_process_is_writing_stays(tmp_path: Path):
    code = (
        "import sys; from pathlib import Path; from fairrec.core.scratch import scratch\n"
        "with scratch(Path(sys.argv[1]), 'out', is_folder=True) as part:\n"
        "    print(part.name, flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdin is not None and other.stdout is not None
        name = other.stdout.readline().strip()
        sweep(tmp_path, "out")
        assert (tmp_path / name).is_dir()
        other.kill()
        other.wait()
        sweep(tmp_path, "out")
        assert not (tmp_path / name).exists()
