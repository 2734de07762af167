"""A checksum changes with the code that a piece of work rests on, and with no other."""

from __future__ import annotations

import py_compile
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from fairrec.core.errors import InputError
from fairrec.metrics import METRICS
from fairrec.mitigation.reranker import RERANKERS
from fairrec.models.deep.registry import MODELS
from fairrec.reproduction.code_sum import PACKAGE, code_sum, modules_behind
from fairrec.search.searcher import SEARCHERS
from tests.reproduction.changed_package import changed_package

TRIALS = "fairrec.reproduction.trials"
SEARCHES, CHANCE = f"{TRIALS}.searches", f"{TRIALS}.chance"


@pytest.mark.parametrize(
    ("module", "by_search", "by_chance"),
    [
        ("metrics.accuracy", True, True),
        ("groups.lattice", True, True),
        ("models.deep.dcn", True, True),
        ("reproduction.trials.searches", True, False),
        ("search.searchers.swarms", True, False),
        ("reproduction.trials.chance", False, True),
        ("report.words", False, False),
        ("cli.reproduce", False, False),
        ("reproduction.layout", False, False),
        ("reproduction.experiments.table2_effectiveness", False, False),
        ("mitigation.rerankers.greedy", False, False),
        ("datasets.readers.amazon", False, False),
    ],
)
def test_only_code_that_the_work_rests_on_counts(module, by_search, by_chance):
    assert PACKAGE.joinpath(*module.split(".")).with_suffix(".py").exists()
    assert (f"fairrec.{module}" in modules_behind(SEARCHES)) == by_search
    assert (f"fairrec.{module}" in modules_behind(CHANCE)) == by_chance


def test_any_change_of_a_source_changes_the_checksum(tmp_path: Path):
    package = changed_package(tmp_path, "metrics/beyond_accuracy.py")
    assert modules_behind(CHANCE, package) == modules_behind(CHANCE)
    assert code_sum(CHANCE, package) != code_sum(CHANCE)
    particles = f"{TRIALS}.particles"
    assert code_sum(particles, package) == code_sum(particles)


def test_what_is_chosen_by_name_counts():
    searches = modules_behind(SEARCHES)
    mitigation = modules_behind(f"{TRIALS}.mitigation")
    metrics = _homes(METRICS[name].compute for name in METRICS)
    assert "fairrec.metrics.accuracy" in metrics
    assert metrics <= modules_behind(CHANCE)
    assert metrics <= searches & mitigation
    assert _homes(SEARCHERS[name].build for name in SEARCHERS) <= searches
    assert _homes(RERANKERS[name].build for name in RERANKERS) <= mitigation
    assert _homes(MODELS[name] for name in MODELS) <= modules_behind(f"{TRIALS}.training")


def _homes(entries: Iterable[Any]) -> set[str]:
    """The modules of the entries of a registry, without those that tests add."""
    modules = {entry.__module__ for entry in entries}
    return {module for module in modules if module.startswith("fairrec.")}


def test_imports_are_found_wherever_they_stand(tmp_path: Path):
    package = tmp_path / "shop"
    files = {
        "__init__.py": "from shop import till",
        "work.py": "import shop.stock\nfrom shop.prices import PRICE, tax\nimport json",
        "stock.py": "def count():\n    from shop import shelf\n",
        "shelf.py": "if TYPE_CHECKING:\n    from shop.types import Item\n",
        "prices/__init__.py": "PRICE = 3",
        "prices/tax.py": "from shop.report import words\nfrom shop.work import again",
        **dict.fromkeys(("till.py", "types.py", "report/__init__.py", "report/words.py"), ""),
    }
    for name, text in files.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text)
    # the package itself is named by `from shop import shelf`, so what it imports counts too
    names = ("", ".work", ".stock", ".shelf", ".prices", ".prices.tax", ".till")
    assert modules_behind("shop.work", package) == {f"shop{name}" for name in names}


def _without_sources(folder: Path, kind: str) -> Path:
    """The package of a small installation that can be imported, but has no sources."""
    package = folder / "shop"
    package.mkdir()
    for name in ("__init__", "work"):
        (package / f"{name}.py").write_text("PRICE = 3")
        py_compile.compile(str(package / f"{name}.py"), str(package / f"{name}.pyc"))
        (package / f"{name}.py").unlink()
    if kind == "compiled":
        return package
    archive = Path(shutil.make_archive(str(folder / "shop"), "zip", folder, "shop"))
    return archive / "shop"


@pytest.mark.parametrize("kind", ["compiled", "zip"])
def test_without_sources_one_message_says_what_is_needed(kind, tmp_path: Path):
    package = _without_sources(tmp_path, kind)
    with pytest.raises(InputError, match=r"work\.py: cannot be read \(.*Install FairRec with its"):
        code_sum("shop.work", package)
