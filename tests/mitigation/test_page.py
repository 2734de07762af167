"""The page of a mitigation."""

from __future__ import annotations

from markupsafe import escape

import fairrec
from fairrec.mitigation.page import mitigation_page
from fairrec.mitigation.view import facts
from fairrec.mitigation.words import sentences
from tests.mitigation.small_summary import TARGET, WOMEN, ordered, summary_of
from tests.worlds import random_world


def test_a_mitigation_is_answered_before_it_is_explained():
    users, predictions = random_world(300)
    result = fairrec.audit(predictions, users=users, by="gender", metrics="auc", permutations=0)
    hostile = WOMEN.model_copy(update={"group": {"x": "<b>old</b>"}})
    target = TARGET.model_copy(update={"ordered": ordered((-0.3, "worse"), (0.2, "improved"))})
    done = summary_of(target, groups=(hostile,))
    page = mitigation_page(done, result.summary, result.group_table)
    section = page.split('<section id="mitigation"')[1].split("</section>")[0]
    answers = [section.index(f">{fact.answer}<") for fact in facts(done)]
    explained = section.index("How this was done")
    assert answers == sorted(answers) and answers[-1] < explained
    # each sentence once, and only where it is looked for
    for said in sentences(done):
        assert section.count(str(escape(said))) == 1
        assert section.rindex(str(escape(said))) > explained
    assert section.count('data-chart="slope-') == 2 and section.count('class="strip"') == 1
    assert "<b>old" not in section and "x=&lt;b&gt;old" in section
    assert "slope-0" in page.split('id="payload">')[1].split("</script>")[0]
