"""The first screen in a real browser: rows, metrics and cards."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairrec
from tests.end_to_end.opened_page import Opened


def test_the_answer_stands_above_the_fold(opened: Opened):
    page = opened.page
    opened.reload()
    page.set_viewport_size({"width": 1440, "height": 900})
    for part in ("h1", ".about", ".dot-table tbody tr"):
        box = page.locator(part).first.bounding_box()
        assert box["y"] + box["height"] <= 900, part
    assert page.locator(".answer.found").count() == 1
    row = page.locator(".dot-table tbody tr.worse", has_text="gender=F, age=65+").first
    assert "worse; 1 more metric" in row.inner_text()
    order = [page.locator(part).first.bounding_box()["y"] for part in ("h1", "#dots", ".ruled-out")]
    assert order == sorted(order)


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """The page of an audit that finds more than ten groups."""
    rng = np.random.default_rng(2)
    group = rng.integers(0, 40, 8000)
    value = rng.normal(size=8000) + np.where(group < 15, -2.0, 0.0)
    users = pl.DataFrame({"user_id": range(8000), "g": group.astype(str), "m": value})
    result = fairrec.audit(
        values=users,
        by="g",
        tables=fairrec.Tables(better="m=higher"),
        statistics=fairrec.Statistics(permutations=99),
    )
    assert len(result.metrics["m"].findings) == 15
    return result.save(tmp_path_factory.mktemp("many")) / "report.html"


def test_rows_and_cards_are_folded_away_and_back(browser, many):
    opened = Opened(browser, many)
    page = opened.page
    rows, cards = ".dot-table tbody tr", "article.finding"
    # of 40 values those that are significant have rows at first, and ten of them cards
    for parts, what, few, n in ((rows, "Show ", 15, 40), (cards, "Show the cards of ", 10, 15)):
        shown = page.locator(f"{parts}:visible")
        assert shown.count() == few
        page.get_by_role("button", name=f"{what}all {n} groups", exact=True).click()
        assert shown.count() == n
        page.get_by_role("button", name=f"{what}fewer groups", exact=True).click()
        assert shown.count() == few
    assert opened.complaints == []
    opened.context.close()


def test_a_row_leads_to_its_card_although_it_is_folded(browser, many):
    opened = Opened(browser, many)
    page = opened.page
    card = page.locator("article.finding").nth(12)
    assert card.is_hidden()
    page.locator(f"a.open[href='#{card.get_attribute('id')}']").focus()
    page.keyboard.press("Enter")
    assert card.is_visible() and page.locator("#chosen").is_hidden()
    page.emulate_media(media="print")
    assert page.locator("article.finding:visible").count() == 15
    assert page.locator(".unfold:visible").count() == 0
    opened.context.close()


def test_without_scripts_everything_is_readable_and_nothing_waits_for_one(browser, audited, many):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(audited.as_uri())
    assert "is served worse" in page.locator("h1").inner_text()
    assert page.locator("#all tbody tr").count() == 342
    assert page.locator("#all tbody tr").last.is_visible()
    for part in (".dot-table tbody tr", "#groups .words", "main > noscript p"):
        assert page.locator(part).first.is_visible(), part
    for part in (".filters", ".plot", ".choose", "[data-do]", "#more"):
        assert page.locator(part).count() > 0, part
        for one in page.locator(part).all():
            assert not one.is_visible(), part
    link = page.locator("a.open").first
    link.click()
    assert page.url.endswith(link.get_attribute("href"))
    assert page.locator("article.finding").first.is_visible()
    # and no card is folded away
    page.goto(many.as_uri())
    assert page.locator("article.finding:visible").count() == 15
    assert page.locator(".unfold:visible").count() == 0
    context.close()
