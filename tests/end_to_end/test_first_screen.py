"""The first screen in a real browser: rows, metrics and the drawer of a group."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairrec
from tests.end_to_end.opened_page import PHONE, Opened
from tests.report.planted import given_result, planted_result


def test_the_answer_stands_above_the_fold(opened: Opened):
    page = opened.page
    opened.reload()
    page.set_viewport_size({"width": 1440, "height": 900})
    for part in ("h1", ".asked", ".ruled-out", ".dot-table tbody tr"):
        box = page.locator(part).first.bounding_box()
        assert box["y"] + box["height"] <= 900, part
    assert page.locator(".answer.found").count() == 1
    row = page.locator(".dot-table tbody tr").first
    assert "gender=F, age=65+" in row.inner_text() and "▼" in row.inner_text()


def test_on_a_phone_the_first_row_is_seen_without_scrolling(browser, tmp_path):
    metrics = ["auc", "mrr@5", "ndcg@5", "hit@5", "precision@5"]
    result = planted_result(metrics=metrics, permutations=99)
    screen = {"width": 390, "height": 844}
    opened = Opened(browser, result.save(tmp_path / "five") / "report.html", viewport=screen)
    row = opened.page.locator(".dot-table tbody tr").first
    for part in ("th", ".plotted"):
        box = row.locator(part).bounding_box()
        assert box["y"] + box["height"] <= 844, part
    opened.context.close()


def test_the_metric_of_the_rows_can_be_chosen(opened: Opened):
    page = opened.page
    shown = page.locator(".dot-table:visible")
    assert shown.count() == 1
    before = shown.locator("thead").inner_text()
    page.locator("#dots-metric").select_option("1")
    assert shown.count() == 1
    assert shown.locator("thead").inner_text() != before
    page.locator("#dots-metric").select_option("0")


def test_on_a_phone_the_rows_have_their_scale(opened: Opened):
    page = opened.page
    page.set_viewport_size(PHONE)
    table = page.locator(".dot-table:visible")
    assert table.locator("thead .ticks i").first.is_visible()
    zero = table.locator("thead .ticks i", has_text="0").and_(page.get_by_text("0", exact=True))
    over = zero.bounding_box()
    line = table.locator(".zero").first.bounding_box()
    assert over["x"] + over["width"] / 2 == pytest.approx(line["x"], abs=2)
    opened.forget()


@pytest.mark.parametrize("how", ["click", "Enter"])
def test_a_group_opens_in_a_drawer_and_the_focus_comes_back(opened: Opened, how: str):
    page = opened.page
    link = page.locator("a.open:visible").first
    if how == "click":
        link.click()
    else:
        link.focus()
        page.keyboard.press("Enter")
    drawer = page.locator("#drawer")
    assert drawer.is_visible()
    text = drawer.inner_text()
    assert "gender=F, age=65+" in text and "auc" in text and "mrr@5" in text
    assert drawer.locator(".bins > span").count() > 2
    # nothing is in the page twice under one name
    ids = page.eval_on_selector_all("[id]", "all => all.map(one => one.id)")
    assert len(ids) == len({*ids})
    assert page.locator("#chosen").is_hidden()
    page.keyboard.press("Escape")
    assert drawer.is_hidden()
    if how == "Enter":
        assert page.evaluate("document.activeElement.classList.contains('open')")


def test_a_group_can_be_marked_from_its_drawer(opened: Opened):
    page = opened.page
    page.locator("a.open:visible").first.click()
    page.locator("#drawer .choose").click()
    assert page.locator("#drawer").is_hidden()
    assert page.locator("#chosen-label").inner_text() == "gender=F, age=65+"
    # the chart of the metric that the group is told by
    opened.wait("Math.abs(document.querySelector('#chart-0').getBoundingClientRect().top) < 100")
    page.keyboard.press("Escape")
    page.locator("article.finding .choose").first.click()
    opened.wait("Math.abs(document.querySelector('#chart-0').getBoundingClientRect().top) < 100")
    # marked no more, it leads nowhere
    page.evaluate("scrollTo(0, 0)")
    page.locator("article.finding .choose").first.evaluate("one => one.click()")
    assert page.locator("#chosen").is_hidden()
    assert page.evaluate("scrollY") == 0


def test_in_given_circumstances_a_difference_beside_a_value_is_called_adjusted(browser, tmp_path):
    opened = Opened(browser, given_result().save(tmp_path / "given") / "report.html")
    page = opened.page
    assert page.locator("#dots-title").inner_text() == (
        "Adjusted difference from other users with the same tenure"
    )
    page.locator("#all tbody button").first.click()
    assert "(adjusted difference −0.0" in page.locator("#chosen-values").inner_text()
    assert opened.complaints == []
    opened.context.close()


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


def test_rows_and_cards_after_ten_are_folded_away_and_back(browser, many):
    opened = Opened(browser, many)
    page = opened.page
    rows, cards = ".dot-table tbody tr", "article.finding"
    for parts, what in ((rows, "Show "), (cards, "Show the cards of ")):
        shown = page.locator(f"{parts}:visible")
        assert shown.count() == 10
        page.get_by_role("button", name=f"{what}all 15 groups", exact=True).click()
        assert shown.count() == 15
        page.get_by_role("button", name=f"{what}the first ten groups", exact=True).click()
        assert shown.count() == 10
    assert opened.complaints == []
    opened.context.close()


def test_a_folded_card_opens_in_the_drawer_under_its_address_and_on_paper(browser, many):
    opened = Opened(browser, many)
    page = opened.page
    card = page.locator("article.finding").nth(12)
    assert card.is_hidden()
    page.get_by_role("button", name="Show all 15 groups", exact=True).click()
    page.locator("a.open:visible").nth(12).click()
    assert page.locator("#drawer article.finding").is_visible()
    page.keyboard.press("Escape")
    page.goto(f"{many.as_uri()}#{card.get_attribute('id')}")
    assert card.is_visible()
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
    for part in (".dot-table tbody tr", "#chart-0 .words", "main > noscript p"):
        assert page.locator(part).first.is_visible(), part
    for part in (".filters", ".plot", ".choose", "[data-do]", "#more", "#copy", "[data-zoom]"):
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
