"""What is released: contents, the same bytes twice, and workflows that call what there is."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from datetime import date
from pathlib import Path

import pytest
import yaml

from fairrec.core.version import __version__

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z]\w*):", (ROOT / "Makefile").read_text(), re.M))

spec = importlib.util.spec_from_file_location("release", ROOT / ".ci" / "release.py")
release = importlib.util.module_from_spec(spec)
spec.loader.exec_module(release)


@pytest.fixture(scope="module")
def tracked() -> list[str]:
    if not (ROOT / ".git").exists():
        pytest.skip("what is in git cannot be told here")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True)
    # those that are deleted and not committed are not built
    return [file for file in listed.stdout.decode().splitlines() if (ROOT / file).exists()]


def copied(tracked: list[str], tree: Path) -> Path:
    for file in tracked:
        if file.startswith(release.PACKAGES) or file in release.BESIDE:
            (tree / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / file, tree / file)
    return tree


def built_in(tree: Path, kind: str, out: Path) -> Path:
    """As a front end would, without one: warnings are errors."""
    code = f"from setuptools import build_meta; build_meta.build_{kind}({str(out)!r})"
    out.mkdir()
    command = [sys.executable, "-W", "error", "-c", code]
    subprocess.run(command, cwd=tree, check=True, capture_output=True)
    (made,) = out.iterdir()
    return made


@pytest.mark.slow
def test_the_archives_hold_the_package_the_licences_and_nothing_else(tracked, tmp_path):
    tree = copied(tracked, tmp_path / "tree")
    # what may lie about in a tree, and is not to be shipped
    for stray in ("tests/test_x.py", "src/fairrec/report/page/templates/made.html", "data.parquet"):
        (tree / stray).parent.mkdir(parents=True, exist_ok=True)
        (tree / stray).write_text("stray")
    sdist = built_in(tree, "sdist", tmp_path / "sdist")
    with pytest.raises(SystemExit, match=r"missing \[\], not expected \['[^']*made\.html'\]"):
        release.refuse_other_contents(sdist, tracked)
    (tree / "src/fairrec/report/page/templates/made.html").unlink()
    shutil.rmtree(tree / "src" / "fairrec.egg-info")
    sdist = built_in(tree, "sdist", tmp_path / "sdist_again")
    release.refuse_other_contents(sdist, tracked)
    with pytest.raises(SystemExit, match=r"missing \['[^']*/src/fairrec/none\.py'\]"):
        release.refuse_other_contents(sdist, [*tracked, "src/fairrec/none.py"])
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    wheel = built_in(tmp_path / "unpacked" / f"fairrec-{__version__}", "wheel", tmp_path / "wheel")
    release.refuse_other_contents(wheel, tracked)


def test_metadata_says_the_licence_the_pythons_and_where_to_look():
    assert PROJECT["license"] == "MIT"
    assert not [one for one in PROJECT["classifiers"] if one.startswith("License")]
    for file in PROJECT["license-files"]:
        assert (ROOT / file).is_file()
    assert {"Documentation", "Source", "Changelog", "Issues"} <= {*PROJECT["urls"]}
    tested = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text())
    matrix = tested["jobs"]["tests"]["strategy"]["matrix"]["python"]
    said = [
        one.removeprefix("Programming Language :: Python :: ") for one in PROJECT["classifiers"]
    ]
    said = [one for one in said if re.fullmatch(r"3\.\d+", one)]
    # no claim without a test
    assert said and {*said} <= {*matrix}
    assert PROJECT["requires-python"] == f">={matrix[0]}"


def test_citation_has_the_version_and_what_the_format_asks_for():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert cited["cff-version"] == "1.2.0"
    assert str(cited["version"]) == __version__
    assert {"message", "title", "authors"} <= {*cited}
    (paper,) = cited["references"]
    assert {"type", "title", "authors"} <= {*paper}
    assert paper["authors"][0]["family-names"] == "Guo"


def test_the_changelog_is_in_the_usual_form():
    text = (ROOT / "CHANGELOG.md").read_text()
    headings = re.findall(r"^## (.+)$", text, re.M)
    assert headings[0] == "[Unreleased]"
    for heading in headings[1:]:
        version, day = re.fullmatch(r"\[(\d+\.\d+\.\d+)\] - (\S+)", heading).groups()
        assert version and date.fromisoformat(day)
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert {*re.findall(r"^### (.+)$", text, re.M)} <= kinds


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_workflows_call_what_there_is(file):
    workflow = yaml.safe_load(file.read_text())
    # YAML takes the word `on` for true
    assert workflow[True] and workflow["permissions"] == {"contents": "read"}
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    n_called = 0
    for step in steps:
        if "uses" in step:
            # a tag can be moved, a commit cannot
            assert re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}", step["uses"])
            continue
        for target in re.findall(r"\bmake (\w+)", step["run"]):
            assert target in TARGETS, f"{file.name}: make {target}"
            n_called += 1
        for script in re.findall(r"^(\.ci/\w+)", step["run"]):
            assert (ROOT / script).is_file()
    assert n_called


def test_the_bill_of_materials_has_the_version_and_what_is_in_the_script_of_the_page(tmp_path):
    file = tmp_path / "sbom.json"
    file.write_text('{"components": [], "metadata": {"component": {"name": "fairrec"}}}')
    command = [sys.executable, str(ROOT / ".ci" / "sbom.py"), str(file)]
    subprocess.run(command, check=True)
    root = json.loads(file.read_text())["metadata"]["component"]
    assert root["version"] == __version__
    assert "pkg:npm/vega-lite@6.4.1" in [one["purl"] for one in root["components"]]


def test_the_lock_has_the_tested_versions_with_hashes():
    lock = (ROOT / "requirements.lock").read_text()
    entries = re.split(r"\n(?=\S)", lock.strip())
    versions: dict[str, set[str]] = {}
    for entry in entries:
        name, version = re.match(r"([a-z0-9-]+)==(\S+)", entry).groups()
        versions.setdefault(name, set()).add(version)
        assert "--hash=sha256:" in entry, name
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        if not line.startswith("#"):
            name, version = line.split("==")
            # its builds have one version and different files
            wanted = set() if name == "torch" else {version}
            assert versions.get(name, set()) == wanted, f"{name}: run make lock"
    asked = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["dev"]]
    names = {re.split(r"[\[<>=]", one)[0].lower() for one in asked} - {"fairrec"}
    assert names <= {*versions}, "run make lock"
