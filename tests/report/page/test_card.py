from __future__ import annotations

from html.parser import HTMLParser

from fairrec.report.page.html import card_html
from fairrec.report.view import build_view
from tests.builders import audit, two_groups
from tests.report.page.planted_page import planted

BAD = '<img src=x onerror="alert(1)">'


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_card_has_the_answer_and_every_finding_of_the_report():
    summary = planted().summary
    view, card = build_view(summary), Tags(card_html(summary))
    assert view.overview.headline in card.text
    assert view.overview.detail in card.text
    assert view.findings.rows
    assert all(text in card.text for row in view.findings.rows for text in row)
    assert card.tags.count("tr") == 1 + len(view.findings.rows)


def test_a_card_runs_and_asks_for_nothing_and_shows_outside_text_as_text():
    tables = two_groups(40, **{BAD: [BAD, "fine"] * 20})
    result = audit(*tables, by=BAD, permutations=99, title=BAD, model_name=BAD)
    card = Tags(result._repr_html_())
    assert {*card.tags} <= {
        *("div", "p", "bdi", "table", "caption", "thead", "tbody", "tr", "th", "td")
    }
    assert card.attributes <= {"style", "scope"}
    assert card.text.count(BAD) >= 4


def test_without_findings_there_is_no_table():
    card = Tags(card_html(audit(*two_groups(), by="group", permutations=0).summary))
    assert "table" not in card.tags
    assert "Nothing was tested against chance" in card.text


def test_who_is_missing_is_said_on_the_card_too():
    predictions, users = two_groups(40)
    is_served = ~predictions["user_id"].is_in(users["user_id"][:9].implode())
    undefined = predictions.with_columns(label=predictions["label"] * is_served)
    summary = audit(undefined, users, by="group", permutations=99).summary
    missing = build_view(summary).missing
    assert missing
    assert all(line in Tags(card_html(summary)).text for line in missing)
