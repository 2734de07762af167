"""Functions named on the command line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fairrec.core.errors import InputError
from fairrec.scoring.model import load_function
from tests.grouped_options import on_command_line

MODULE = """
import functools
limit = 3
def score(user_ids, item_ids):
    return [0.0] * len(user_ids)
def one_argument(user_ids):
    return user_ids
class Ranker:
    def score(self, user_ids, item_ids):
        return [1.0] * len(user_ids)
ranker = Ranker()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    package = tmp_path / "own_rankers"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "good.py").write_text(MODULE)
    (package / "broken.py").write_text("raise RuntimeError('no weights here')")
    (package / "misspelt.py").write_text("def score(:\n")
    (package / "needy.py").write_text("import no_such_package_anywhere")
    yield tmp_path
    import sys

    for name in [name for name in sys.modules if name.startswith("own_rankers")]:
        del sys.modules[name]


def test_a_function_is_found_from_the_current_folder(folder: Path):
    function, name = load_function("own_rankers.good:score")
    assert function(["a", "b"], [1, 2]) == [0.0, 0.0]
    assert name.startswith("scorer own_rankers.good:score of file ")
    method, _ = load_function("own_rankers.good:ranker.score")
    assert method(["a"], [1]) == [1.0]


def test_the_name_changes_with_the_file(folder: Path):
    import sys

    _, before = load_function("own_rankers.good:score")
    del sys.modules["own_rankers.good"]
    (folder / "own_rankers/good.py").write_text(MODULE + "\n# fixed\n")
    _, after = load_function("own_rankers.good:score")
    assert before != after


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("own_rankers.good", "expected package.module:function, got"),
        (":score", "expected package.module:function, got"),
        ("own_rankers.good:", "expected package.module:function, got"),
        ("no_such_module:score", "there is no module 'no_such_module'"),
        ("own_rankers.missing:score", "there is no module 'own_rankers.missing'"),
        ("own_rankers.needy:score", "there is no module 'no_such_package_anywhere'"),
        ("own_rankers.broken:score", "RuntimeError: no weights here"),
        ("own_rankers.misspelt:score", "SyntaxError"),
        ("own_rankers.good:scoer", "Did you mean 'score'?"),
        ("own_rankers.good:limit", "is a int, no function"),
        ("own_rankers.good:one_argument", "called as score(user_ids, item_ids), but takes"),
    ],
)
def test_import_trouble_is_explained(text: str, says: str, folder: Path):
    with pytest.raises(InputError, match=re.escape(says)) as caught, on_command_line():
        load_function(text)
    assert str(caught.value).startswith((f"--scorer {text}", "invalid --scorer: "))


def test_a_function_without_a_signature_or_a_file_is_taken_as_it_is(folder: Path):
    (folder / "own_rankers" / "built_in.py").write_text("score = max\n")
    function, name = load_function("own_rankers.built_in:score")
    assert function is max
    # no file vouches for a function of Python's own
    assert name == "scorer own_rankers.built_in:score"
