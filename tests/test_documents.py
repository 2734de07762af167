"""The code in the documents runs as it stands there."""

from __future__ import annotations

import re
import runpy
import shlex
from pathlib import Path

import pytest
import yaml

from fairrec.metrics import METRICS
from fairrec.result.tables import RESERVED
from tests.end_to_end.command_line import run_here

ROOT = Path(__file__).parents[1]
BUILT_UP = ("counterfactual.md", "inputs.md", "plan.md")
CODE = re.compile(r"```python\n(.*?)```", re.S)


PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs").glob("[!_]*/*.md")),
]


def code_blocks() -> list[tuple[str, str]]:
    # some pages have a test of their own, as their blocks build on each other or register things
    own = ("how-to", "contributing")
    pages = [page for page in PAGES if page.name not in BUILT_UP and page.parent.name not in own]
    return [(page.name, code) for page in pages for code in CODE.findall(page.read_text())]


@pytest.mark.parametrize(("page", "code"), code_blocks())
def test_code_in_documents_runs(page, code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if "import mlflow" in code:
        pytest.importorskip("mlflow", reason="MLflow is not installed: it is an extra")
        monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
        monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    known = set(METRICS)
    try:
        exec(compile(code, page, "exec"), {})
    finally:
        for name in set(METRICS) - known:
            METRICS.remove(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", BUILT_UP)
def test_every_example_of_a_page_runs(name, tmp_path, monkeypatch):
    """In the order of the page, so that commands find the tables and settings it makes."""
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / name).read_text()
    n_commands = 0
    for kind, block in re.findall(r"```(python|console|toml)\n(.*?)```", page, re.S):
        if kind == "python":
            exec(compile(block, name, "exec"), {})
            continue
        if kind == "toml":
            (tmp_path / "fairrec.toml").write_text(block)
            continue
        for line in block.splitlines():
            assert line.startswith("$ fairrec "), line
            ran = run_here(*shlex.split(line)[2:], "--permutations", "50")
            assert ran.code == 0, f"{line}\n{ran.stderr}"
            n_commands += 1
    assert n_commands > 5


def test_the_page_on_options_says_what_is_declared():
    made = runpy.run_path(str(ROOT / "docs" / "make_options.py"))
    assert made["PAGE"].read_text("utf-8") == made["page"](), "run python docs/make_options.py"


@pytest.fixture
def reproduction(monkeypatch):
    # its modules lie beside it
    monkeypatch.syspath_prepend(ROOT / "docs")
    return runpy.run_path(str(ROOT / "docs" / "make_reproduction.py"))


def test_the_tables_of_the_reproduction_are_those_of_its_files(reproduction):
    for page in reproduction["PAGES"]:
        text = page.read_text("utf-8")
        assert reproduction["filled"](text) == text, "run python docs/make_reproduction.py"
        # a mark that is not well formed would be passed over
        assert text.count("<!-- from ") == len(reproduction["MARKED"].findall(text)) > 0


def test_another_figure_in_a_table_of_the_reproduction_is_seen(reproduction):
    page, *_ = reproduction["PAGES"]
    text = page.read_text("utf-8")
    one_digit = re.compile(r"[0-8](?=[.%])")
    other = reproduction["MARKED"].sub(lambda mark: one_digit.sub("9", mark[0], count=1), text)
    changed = [one != two for one, two in zip(text.splitlines(), other.splitlines(), strict=True)]
    assert sum(changed) == text.count("<!-- from ")
    assert reproduction["filled"](other) == text


def test_every_result_in_a_table_of_the_reproduction_is_from_its_files(reproduction):
    page, *_ = reproduction["PAGES"]
    by_hand = reproduction["MARKED"].sub("", page.read_text("utf-8"))
    tables = [line for line in by_hand.splitlines() if line.startswith("|") and "](" not in line]
    assert not [line for line in tables if re.search(r"\d", line)]


def test_files_of_the_reproduction_name_no_folder_of_a_machine(reproduction):
    files = [*reproduction["FILES"].rglob("*.csv")]
    assert files
    for file in files:
        assert not re.search(r"(^|[\s\"'=,])/\w", file.read_text("utf-8")), file


def test_files_of_a_new_run_replace_those_of_the_reproduction(reproduction, tmp_path):
    copy = reproduction["copy"]
    kept, run = tmp_path / "kept", tmp_path / "run"
    copy.__globals__["FILES"] = kept
    for name in ("ours/table2/claims.csv", "ours/table2/claims.parquet", "ours/table3/gaps.csv"):
        (run / name).parent.mkdir(parents=True, exist_ok=True)
        (run / name).write_text(name)
    assert copy(run) == 1
    assert (kept / "ours/table2/claims.csv").read_text() == "ours/table2/claims.csv"


def test_the_page_on_inputs_names_the_columns_of_groups():
    page = (ROOT / "docs" / "inputs.md").read_text()
    about = page[page.index("- `groups.parquet`") : page.index("- `per_user.parquet`")]
    # those of an interval that is named are understood
    understood = {f"{name}_{end}" for name in ("value", "difference") for end in ("low", "high")}
    for name in {*RESERVED} - understood - {"metric"}:
        assert f"`{name}`" in about, name


def test_the_job_for_kubernetes_starts_fairrec_on_ray():
    page = (ROOT / "docs" / "scale.md").read_text()
    (block,) = re.findall(r"```yaml\n(.*?)```", page, re.S)
    job = yaml.safe_load(block)["spec"]
    command = shlex.split(job["entrypoint"])
    assert command[:2] == ["fairrec", "count"]
    assert command[command.index("--engine") + 1] == "ray"
    groups = [job["rayClusterSpec"]["headGroupSpec"], *job["rayClusterSpec"]["workerGroupSpecs"]]
    # heads and workers see the same files
    first, *others = [group["template"]["spec"] for group in groups]
    assert first["volumes"]
    assert others == [first]


def test_links_between_documents_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
