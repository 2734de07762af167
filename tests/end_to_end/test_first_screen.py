"""The first screen in a real browser: rows, metrics and the drawer of a group."""

from __future__ import annotations

import pytest

from tests.end_to_end.opened_page import PHONE, Opened
from tests.report.text.planted_report import given_result


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
    page.keyboard.press("Escape")


def test_without_scripts_the_answer_its_rows_and_cards_are_readable(browser, audited):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(audited.as_uri())
    assert "is served worse" in page.locator("h1").inner_text()
    assert page.locator(".dot-table tbody tr").first.is_visible()
    link = page.locator("a.open").first
    link.click()
    assert page.url.endswith(link.get_attribute("href"))
    assert page.locator("article.finding").first.is_visible()
    context.close()


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
