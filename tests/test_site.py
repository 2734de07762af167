"""Every page can be reached from the front page, and the README's links are pages of the site."""

from __future__ import annotations

import re
import runpy
import tomllib
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
README = (ROOT / "README.md").read_text("utf-8")
SITE = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]["Documentation"]
MADE = ("_build/", "_live/", "reference/commands/", "reference/schemas/", "reproduction/")
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```", re.M | re.S)


def pages() -> set[str]:
    """All sources of pages that are kept, without their endings."""
    files = (*DOCS.rglob("*.md"), *DOCS.rglob("*.ipynb"))
    names = {file.relative_to(DOCS).with_suffix("").as_posix() for file in files}
    return {name for name in names if not name.startswith(MADE)}


def entries(name: str) -> list[str]:
    """The pages that the navigation has below one."""
    source = DOCS / f"{name}.md"
    found = []
    for block in TOCTREE.findall(source.read_text("utf-8") if source.exists() else ""):
        for line in block.splitlines():
            if not line.strip() or line.startswith(":"):
                continue
            target = re.search(r"<(.+)>$", line)
            path = (source.parent / (target[1] if target else line)).resolve()
            found.append(path.relative_to(DOCS.resolve()).as_posix())
    return found


def test_every_page_is_in_the_navigation_once():
    reached, ahead = ["index"], ["index"]
    while ahead:
        below = [name for name in entries(ahead.pop()) if "*" not in name]
        reached += below
        ahead += below
    assert sorted(reached) == sorted(pages())


def anchors(page: Path) -> set[str]:
    """Headings of a page as the site links to them."""
    text = page.read_text("utf-8")
    if page.suffix == ".ipynb":
        cells = nbformat.reads(text, as_version=4).cells
        text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    titles = re.findall(r"^#{1,4} (.+)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_the_readme_leads_to_files_of_the_repository():
    targets = re.findall(r"\]\(([^)]+)\)", README)
    assert len(targets) > 10
    for target in targets:
        name, _, anchor = target.partition("#")
        assert (ROOT / name).exists(), target
        assert not anchor or anchor in anchors(ROOT / name), target


def test_the_readme_of_a_release_reads_on_a_package_index():
    assert len(README.splitlines()) <= 90
    release = runpy.run_path(str(ROOT / ".ci" / "release.py"))
    assert release["SITE"] == SITE
    for target in re.findall(r"\]\(([^)]+)\)", release["link_absolutely"](README)):
        assert target.startswith("https://"), target


@pytest.mark.parametrize(
    "text",
    [
        '<script async src="https://cdn.example/x.js">',
        "<link rel='stylesheet' href='//fonts.example/a.css'/>",
        "@import url(https://fonts.example/a.css);",
        "src: url('https://fonts.example/a.woff2')",
        '<iframe src="http://example.org">',
    ],
)
def test_what_a_page_fetches_is_seen(text):
    fetched = runpy.run_path(str(DOCS / "site_parts.py"))["FETCHED"]
    assert fetched.search(text)
    assert not fetched.search('<a href="https://example.org">elsewhere</a> <img src="x.png"/>')


def test_sections_of_a_docstring_are_told_to_sphinx():
    tell = runpy.run_path(str(DOCS / "site_parts.py"))["in_sphinx_words"]
    lines = ["What comes back.", "", "Parameters", "----------", "a, b : both", "    of them", ""]
    tell(None, "function", "f", None, None, lines)
    text = "\n".join(lines)
    assert ".. rubric:: Parameters" in text
    assert "``a, b``\n    both\n    of them" in text
