"""The templates for contributors do what their pages say: contract suite, style, and end to end."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import polars as pl
import pytest
from pytest import approx

import fairrec
from fairrec.core.registry import Registry
from fairrec.metrics import METRICS
from fairrec.mitigation.reranker import RERANKERS
from fairrec.scoring.protocols import PROTOCOLS
from fairrec.search.searcher import SEARCHERS
from fairrec_paper.datasets.bundle import DATASETS, prepare, read_bundle
from tests.grouped_options import group_options
from tests.scoring.http import served_world
from tests.scoring.http.faulty_server import score
from tests.worlds import random_world

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "contributing"
MOST_LINES = 40
KINDS: dict[str, tuple[Registry[Any], str]] = {
    "metric": (METRICS, "rbp"),
    "searcher": (SEARCHERS, "largest"),
    "reranker": (RERANKERS, "less_known"),
    "reader": (DATASETS, "example"),
    "protocol": (PROTOCOLS, "rows"),
}
SUITES = {"metric": "metrics", "searcher": "searchers", "reranker": "rerankers"}


def template(kind: str) -> str:
    page = (PAGES / f"add-a-{kind}.md").read_text("utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.S)
    return code


@pytest.fixture
def added() -> Iterator[Callable[[str], None]]:
    """Runs a template; what it registers is gone afterwards."""
    before = {kind: set(registry) for kind, (registry, _) in KINDS.items()}

    def add(kind: str) -> None:
        exec(compile(template(kind), f"add-a-{kind}.md", "exec"), {"__name__": "template"})
        registry, name = KINDS[kind]
        assert set(registry) - before[kind] == {name}

    yield add
    for kind, (registry, _) in KINDS.items():
        for name in set(registry) - before[kind]:
            registry.remove(name)


@pytest.mark.parametrize("kind", KINDS)
def test_a_template_is_short_and_in_the_style_of_the_package(kind, tmp_path):
    assert len(template(kind).splitlines()) <= MOST_LINES
    file = tmp_path / "template.py"
    file.write_text(template(kind))
    for command in (["check"], ["format", "--check"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--no-cache"]
        done = subprocess.run(
            [*ruff, "--config", str(ROOT / "pyproject.toml"), str(file)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def contracts(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What pytest says of the contract suites for all templates, which it takes for plugins."""
    folder = tmp_path_factory.mktemp("templates")
    suites = [f"tests/contracts/test_{suite}_contract.py" for suite in SUITES.values()]
    options = ["-v", "-p", "no:cacheprovider", "-k", " or ".join(KINDS[kind][1] for kind in SUITES)]
    for kind in SUITES:
        (folder / f"template_of_a_{kind}.py").write_text(template(kind))
        options += ["-p", f"template_of_a_{kind}"]
    paths = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *suites, *options],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("kind", SUITES)
def test_a_template_passes_the_contract_suite(kind, contracts):
    name = KINDS[kind][1]
    passed = re.findall(rf"^\S+{SUITES[kind]}_contract.py::.*\b{name}\b.* PASSED", contracts, re.M)
    assert len(passed) >= 4


def test_the_metric_of_the_template_is_audited(added):
    added("metric")
    users, predictions = random_world(worse_served={"gender": "F"}, effect=3.0)
    result = fairrec.audit(predictions, users=users, by="gender", metrics="rbp@10")
    assert result.gap("rbp@10").disadvantaged.group == {"gender": "F"}
    first_of_all = predictions.with_columns(score=pl.col("label").cast(pl.List(pl.Float64)))
    perfect = fairrec.audit(first_of_all, users=users, by="gender", metrics="rbp@10")
    # one relevant item, at the first place
    assert perfect.group_table["value"].to_list() == approx([1 - 0.8] * 2)


def test_the_searcher_of_the_template_asks_for_large_groups_first(added):
    added("searcher")
    users, predictions = random_world(n_users=400)
    sizes = users["age"].value_counts(sort=True)
    # a few more than it has, as some others are in the reference sample
    search = fairrec.Search("largest", budget_users=sizes["count"][0] + 4, reference=0.01)
    settings = {"metrics": "mrr@5", "min_support": 10, "permutations": 19}
    result = fairrec.audit(
        predictions, **group_options(users=users, by="age", search=search, **settings)
    )
    scored = result.group_table.filter("is_fully_scored")
    assert scored["age"].to_list() == [sizes["age"][0]]


def test_the_reranker_of_the_template_shows_what_fewer_know(added):
    added("reranker")
    users, predictions = random_world(n_users=300, worse_served={"gender": "F"}, effect=3.0)
    rng = np.random.default_rng(0)
    history = pl.DataFrame(
        {"user_id": rng.integers(0, 300, 3000), "item_id": rng.binomial(100, 0.5, 3000)}
    )
    done = fairrec.mitigate(
        predictions,
        metric="mrr@5",
        users=users,
        by="gender",
        history=history,
        reranker="less_known",
        groups="worst:10%",
        strength=0.9,
        statistics=fairrec.Statistics(permutations=19),
        metrics=["novelty@5"],
    )
    effect = done.summary.effects["novelty@5"]
    assert effect.chosen.change > 0 == effect.others.change


def test_the_reader_of_the_template_prepares_a_bundle(added, tmp_path):
    added("reader")
    raw = tmp_path / "raw"
    raw.mkdir()
    (raw / "people.csv").write_text("user_id,gender\n1,F\n2,\n3,M\n")
    (raw / "ratings.csv").write_text("user_id,item_id,rating\n1,a,5\n1,b,2\n2,a,4\n2,a,1\n")
    prepare("example", raw, tmp_path / "bundle")
    bundle = read_bundle(tmp_path / "bundle")
    assert bundle.interactions["is_positive"].to_list() == [True, False, True]
    assert bundle.users.rows() == [("1", "F"), ("2", None)]
    for note in ("same user and item, dropped: 1", "without interactions, dropped: 1"):
        assert any(note in said for said in bundle.manifest.notes), note
    (raw / "ratings.csv").write_text("user_id,item_id,rating\n9,a,5\n")
    with pytest.raises(fairrec.FairRecError, match=r"ratings\.csv, row 2"):
        prepare("example", raw, tmp_path / "bundle")


class Handler(BaseHTTPRequestHandler):
    """A server that speaks the protocol of the template."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["instances"]
        scores = [score(row["user_id"], row["item_id"]) for row in asked]
        reply = json.dumps({"predictions": scores}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_: object) -> None:
        """Nothing on standard error."""


@contextmanager
def serving() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/score"
        server.shutdown()


def test_the_protocol_of_the_template_gives_the_scores_of_the_model(added):
    added("protocol")
    with serving() as url:
        asked = served_world.audit(fairrec.Endpoint(url, protocol="rows"))
    here = served_world.audit(served_world.in_process)
    assert served_world.answer_of(asked) == served_world.answer_of(here)
