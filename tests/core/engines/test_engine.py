from __future__ import annotations

import subprocess
import sys

import pytest

from fairrec.core.engines.engine import failed, open_engine, steps
from fairrec.core.engines.local import LocalEngine
from fairrec.core.engines.options import EngineOptions
from tests.core.engines.pieces import Piece, pieces, squared


def test_the_engine_is_chosen_by_its_name():
    with open_engine(EngineOptions()) as engine:
        assert isinstance(engine, LocalEngine)
        assert [*engine.map(squared, pieces(3))] == [0, 1, 4]


def test_ray_is_loaded_when_it_is_asked_for_only():
    code = (
        "import sys; from fairrec.core.engines.engine import open_engine\n"
        "from fairrec.core.engines.options import EngineOptions\n"
        "with open_engine(EngineOptions()): print('ray' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"


@pytest.mark.parametrize("size", [lambda piece: 1, lambda piece: 100])
def test_progress_is_told_by_parts_or_by_their_size(size):
    said = []
    total = sum(map(size, pieces(4)))
    done = steps(lambda *step: said.append(step), "counting", total, size)
    with open_engine(EngineOptions()) as engine:
        assert [*engine.map(squared, pieces(4), done)]
    each = size(Piece(0))
    assert said == [("counting", each * number, total) for number in range(5)]


def test_what_a_part_says_is_shown_on_one_line():
    assert "\n" not in str(failed("a\nb", "Error: c\nd"))
    assert len(str(failed("x" * 10_000, "y" * 10_000))) < 1000
