"""The page of a mitigation."""

from __future__ import annotations

from io import StringIO
from typing import Any

from markupsafe import escape
from rich.console import Console

import fairrec
from fairrec.mitigation.page import mitigation_markdown, mitigation_page, print_mitigation
from fairrec.mitigation.view import MitigationView, build_facts
from fairrec.mitigation.words import sentences
from tests.mitigation.small_summary import TARGET, WOMEN, ordered, summary_of
from tests.report.small_view import EMPTY, TABLE
from tests.worlds import random_world


def test_a_mitigation_is_answered_before_it_is_explained():
    users, predictions = random_world(300)
    result = fairrec.audit(
        predictions,
        users=users,
        by="gender",
        metrics="auc",
        statistics=fairrec.Statistics(permutations=0),
    )
    hostile = WOMEN.model_copy(update={"group": {"x": "<b>old</b>"}})
    target = TARGET.model_copy(update={"ordered": ordered((-0.3, "worse"), (0.2, "improved"))})
    done = summary_of(target, groups=(hostile,))
    page = mitigation_page(done, result.summary, result.group_table)
    section = page.split('<section id="mitigation"')[1].split("</section>")[0]
    answers = [section.index(f">{fact.answer}<") for fact in build_facts(done)]
    explained = section.index("How this was done")
    assert answers == sorted(answers) and answers[-1] < explained
    # each sentence once, and only where it is looked for
    for said in sentences(done):
        assert section.count(str(escape(said))) == 1
        assert section.rindex(str(escape(said))) > explained
    assert section.count('data-chart="slope-') == 2 and section.count('class="strip"') == 1
    assert "<b>old" not in section and "x=&lt;b&gt;old" in section
    assert "slope-0" in page.split('id="payload">')[1].split("</script>")[0]


def mitigation_view(**changes: Any) -> MitigationView:
    """One table, a stamp and two sentences."""
    parts = {
        "headline": "the headline",
        "stamps": ("a STAMP",),
        "said": ("first said", "then [b]said[/b]"),
        "effects": TABLE,
        "gaps": EMPTY,
        "groups": EMPTY,
        "harmed": EMPTY,
        "exposure": EMPTY,
        "trade_offs": (),
        "notes": (),
        "reproduce": "fairrec mitigate audit",
        **changes,
    }
    return MitigationView(**parts)


def test_a_mitigation_begins_with_its_headline_and_its_stamps():
    view = mitigation_view(notes=("odd_one",))
    console = Console(file=StringIO(), width=100)
    print_mitigation(view, console)
    markdown = mitigation_markdown(view).replace("\\", "")
    for text in (console.file.getvalue(), markdown):
        parts = ("the headline", "a STAMP", "first said", "then [b]said[/b]", "who=a|b", "odd_one")
        places = [text.index(part) for part in parts]
        assert places == sorted(places)
        assert "nothing there" not in text
