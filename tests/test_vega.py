"""The script that draws the charts is the one that is made of vl-convert, with its notices."""

from __future__ import annotations

import re
import runpy
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MADE = runpy.run_path(str(ROOT / ".ci" / "make_vega.py"))
SCRIPT = MADE["SCRIPT"].read_text("utf-8")


@pytest.mark.slow
def test_the_script_is_what_the_tested_version_makes():
    (pinned,) = re.findall(
        r"^vl-convert-python==(.+)$", (ROOT / "constraints.txt").read_text(), re.M
    )
    if version("vl-convert-python") != pinned:
        pytest.skip(f"vl-convert is not {pinned}, of which the script is made")
    assert MADE["script"]() == SCRIPT, "run python .ci/make_vega.py"


def test_the_script_is_safe_inside_a_page():
    assert "</script" not in SCRIPT.lower() and "<!--" not in SCRIPT
    assert "\r" not in SCRIPT


def test_every_package_in_the_script_has_its_notice():
    notices = MADE["NOTICES"].read_text("utf-8")
    for package in MADE["PACKAGES"]:
        assert re.search(rf"^.*{re.escape(package)}(,|$)", notices, re.M), package
    assert "no licence file" not in notices
    # what a page carries names them
    assert SCRIPT.startswith("/*!") and MADE["NOTICES"].name in SCRIPT[:400]
