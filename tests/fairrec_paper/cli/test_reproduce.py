"""`fairrec-paper reproduce`: every experiment in a quick run, taken up again, and its options."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from fairrec_paper.reproduction.reproducing import EXPERIMENTS
from tests.fairrec_paper.command_line import run_paper

pytestmark = pytest.mark.slow

NAMES = [
    "table1",
    "table2",
    "table3",
    "table3-appendix",
    "table-mitigation",
    "table-attributes",
    "figure-initialise",
    "figure-correlation",
    "figure-vanilla",
    "figure-efficiency",
    "figure-hyper",
]


SMALL = ("--quick", "--datasets", "movielens-1m,amazon-electronics")
"""Every experiment has one of these data sets."""


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reproduced")
    ran = run_paper("reproduce", "all", *SMALL, "--out", str(folder))
    assert ran.code == 0, ran.stderr
    return folder


def test_all_experiments_are_listed():
    ran = run_paper("reproduce", "--list")
    assert (ran.code, ran.stderr) == (0, "")
    assert [*EXPERIMENTS] == NAMES
    for name in NAMES:
        assert f"{name}: {EXPERIMENTS[name].label}. {EXPERIMENTS[name].title}" in ran.stdout


@pytest.mark.parametrize("name", NAMES)
def test_an_experiment_writes_every_form_and_says_that_it_is_synthetic(name: str, out: Path):
    files = {path.name for path in (out / name).iterdir()}
    tables = {file.removesuffix(".csv") for file in files if file.endswith(".csv")}
    assert tables
    page = (out / name / "index.html").read_text()
    captions = [(out / name / f"{table}.tex").read_text().splitlines()[2] for table in tables]
    assert all("ynthetic" in caption or "Published" in caption for caption in captions)
    assert "ynthetic" in page[page.index("<h1>") : page.index("</h1>")]
    drawings = [file for file in files if file.endswith(".svg")]
    assert bool(drawings) == name.startswith("figure-")
    for drawing in drawings:
        ElementTree.parse(out / name / drawing)
        assert f"({drawing})" in page


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "Name an experiment and a folder"),
        (("tabel2", "--out", "out"), "Did you mean 'table2'"),
        (("table2", "--out", "out", "--models", ","), "invalid --models: expected"),
        (("table2", "--out", "out", "--datasets", "movielens"), "Did you mean 'movielens-1m'"),
        (("table2", "--out", "out", "--data", "nowhere"), "nowhere: no bundle there"),
        (("table2", "--out", "file"), "is a file, not a folder"),
        (("table1", "--out", "out", "--quick", "--models", "taste"), "about trained models"),
    ],
)
def test_what_cannot_be_done_is_said_in_words(arguments, says, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("")
    ran = run_paper("reproduce", *arguments)
    assert (ran.code, ran.stdout) == (2, "")
    assert says in ran.stderr
