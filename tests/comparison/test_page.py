from __future__ import annotations

import fairrec
from fairrec.comparison import page as pages
from fairrec.comparison.page import comparison_card, comparison_page
from fairrec.comparison.view import build_comparison_view
from tests.compared_audits import audited, users_table
from tests.comparison.small_comparison import compared
from tests.report.page.test_card import BAD, Tags


def test_the_page_has_the_answer_every_group_and_no_script():
    found = compared()
    page = Tags(comparison_page(found.summary, found.changes))
    view = build_comparison_view(found.summary)
    assert view.headline in page.text and view.how in page.text
    assert "script" not in page.tags
    assert "script-src &#39;none&#39;" in comparison_page(found.summary, found.changes)
    # dots, all groups, everyone and what differs
    assert page.tags.count("table") == 4
    assert page.text.count("plan=free") > found.changes.height / 2


def test_a_page_of_very_many_groups_says_what_it_leaves_out(monkeypatch):
    found = compared()
    monkeypatch.setattr(pages, "ROWS_OF_TABLE", 5)
    text = comparison_page(found.summary, found.changes)
    assert f"and {found.changes.height - 5} more in changes.parquet" in text


def test_outside_text_is_shown_as_text():
    users = users_table(**{BAD: [BAD, "fine"] * 300})
    audits = [audited(users, at, title=BAD, model_name=BAD) for at in (1, 2)]
    found = fairrec.compare(*audits)
    for text in (comparison_page(found.summary, found.changes), comparison_card(found.summary)):
        drawn = Tags(text)
        assert "img" not in drawn.tags and "onerror" not in drawn.attributes
        assert BAD in drawn.text


def test_a_card_has_the_answer_and_the_groups_that_changed():
    summary = compared().summary
    card, view = Tags(comparison_card(summary)), build_comparison_view(summary)
    assert {*card.tags} <= {
        *("div", "p", "bdi", "table", "caption", "thead", "tbody", "tr", "th", "td")
    }
    assert view.headline in card.text
    assert all(cell in card.text for row in view.groups.rows for cell in row)
