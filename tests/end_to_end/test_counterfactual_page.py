"""The page of a counterfactual in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.counterfactuals.flipped_world import blind, direct, flipped


@pytest.mark.parametrize("model", [direct, blind])
def test_every_column_of_the_changes_is_on_the_screen(browser: Any, tmp_path: Path, model: Any):
    found = flipped(model, metrics="changed@3,affected@3,rbo@3,tau,mrr@3,ndcg@3", permutations=0)
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    page.goto((found.save(tmp_path / "out") / "report.html").as_uri())
    tables = page.locator("#changes .scroll").all()
    assert len(tables) == 2
    for table in tables:
        assert table.evaluate("one => one.scrollWidth - one.clientWidth") == 0
    # an arrow is not torn apart, and a change stands on one line
    cell = page.get_by_role("cell", name="gender=F → gender=M").bounding_box()
    assert cell["height"] < 60
    page.close()
