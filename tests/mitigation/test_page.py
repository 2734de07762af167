"""The page of a mitigation."""

from __future__ import annotations

from typing import Any

from markupsafe import escape

import fairrec
from fairrec.mitigation.page import mitigation_markdown, mitigation_page
from fairrec.mitigation.view import MitigationView, build_facts, build_mitigation_view
from fairrec.mitigation.words import sentences
from fairrec.report.answer import Answer, Note
from fairrec.report.words import numbers
from tests.mitigation.small_summary import TARGET, WOMEN, detectable, summary_of
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
    target = TARGET.model_copy(update={"detectable": detectable(2)})
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
    assert section.count('data-chart="slope-') == 2
    assert "<b>old" not in section and "x=&lt;b&gt;old" in section
    assert "slope-0" in page.split('id="payload">')[1].split("</script>")[0]


def mitigation_view(**changes: Any) -> MitigationView:
    """One table, a stamp and two sentences."""
    parts = {
        "answer": Answer("open", "the headline", notes=(Note("warning", "a STAMP"),)),
        "stamps": ("a STAMP",),
        "said": ("first said", "then [b]said[/b]"),
        "effects": TABLE,
        "gaps": EMPTY,
        "groups": EMPTY,
        "harmed": EMPTY,
        "trade_offs": (),
        "notes": (),
        "reproduce": "fairrec mitigate audit",
        **changes,
    }
    return MitigationView(**parts)


def test_a_mitigation_begins_with_its_headline_and_its_stamps():
    view = mitigation_view(notes=("odd_one",))
    markdown = mitigation_markdown(view).replace("\\", "")
    parts = ("the headline", "a STAMP", "first said", "then [b]said[/b]", "who=a|b")
    places = [markdown.index(part) for part in parts]
    assert places == sorted(places)
    assert "nothing there" not in markdown


def test_the_answer_names_the_chosen_groups_and_every_metric_before_and_after():
    done = summary_of(TARGET, groups=(WOMEN,))
    answer = build_mitigation_view(done).answer
    assert "1 chosen group: gender=F; " in answer.about[0]
    assert [block.name for block in answer.table.blocks] == [*done.effects]
    chosen = answer.table.blocks[0].rows[0]
    change = TARGET.chosen
    assert chosen.label == "chosen"
    assert chosen.cells[:2] == tuple(numbers(change.before, change.after))
    assert chosen.cells[-1] == change.verdict
