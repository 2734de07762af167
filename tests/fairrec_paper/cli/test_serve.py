from __future__ import annotations

from pathlib import Path

import pytest

from tests.fairrec_paper.command_line import run_paper


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ((), "no run there"),
        (("--token-env", "NO_SUCH_VARIABLE"), "--token-env: the environment variable"),
        (("--device", "tpu"), "invalid --device: expected 'auto', 'cpu' or 'cuda', got tpu"),
    ],
)
def test_what_cannot_be_served_is_said_in_words(options, says, tmp_path: Path):
    ran = run_paper("serve", str(tmp_path / "run"), *options)
    assert (ran.code, ran.stdout) == (2, "")
    assert says in ran.stderr
