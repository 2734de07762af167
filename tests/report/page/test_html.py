"""Pages of audits in which some metric has no group or no test."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from markupsafe import escape

import fairrec
from fairrec.metrics import METRICS
from fairrec.mitigation.view import facts
from fairrec.mitigation.words import sentences
from fairrec.report.page import html
from fairrec.report.page.build import build_page_view
from fairrec.report.page.html import make_ready, page_html
from tests.mitigation.small_summary import TARGET, WOMEN, ordered, summary_of
from tests.worlds import random_world


@pytest.fixture
def rare_metric():
    @fairrec.metric("rare", bounds=(0, 1))
    def rare(lists):
        """Defined for two users."""
        return np.where(np.arange(lists.n_users) < 2, 0.5, np.nan)

    yield "rare"
    METRICS.remove("rare")


def audit(**options):
    users, predictions = random_world(300)
    return fairrec.audit(predictions, users=users, by=["gender", "age"], **options)


def test_metric_without_a_group_has_a_place_without_a_chart(rare_metric):
    result = audit(metrics=["auc", rare_metric], min_support=5, permutations=99)
    view = build_page_view(result.summary, result.group_table)
    # 298 of 300 users have no value
    assert view.summary == "Inconclusive in auc and rare."
    page = page_html(result.summary, result.group_table)
    assert page.count('data-chart="chart-') == 1
    let_pass = audit(metrics=["auc", rare_metric], min_support=5, permutations=99, max_undefined=1)
    assert "not tested: rare" in build_page_view(let_pass.summary, let_pass.group_table).summary


def test_who_is_missing_is_said_above_the_verdicts(rare_metric):
    result = audit(metrics=["auc", rare_metric], permutations=19)
    page = page_html(result.summary, result.group_table)
    said = "rare is undefined for 298 of 300 users (99%)"
    assert page.index("<h1>") < page.index(said) < page.index('id="verdicts"')


def test_names_from_right_to_left_do_not_move_numbers_and_a_command_stays_as_it_is():
    n = 400
    town = np.where(np.arange(n) % 4 == 0, "\u062d\u0644\u0628", "x")
    values = pl.DataFrame({"user_id": np.arange(n), "town": town, "m": 1.0 * (town == "x")})
    result = fairrec.audit(values=values, by="town", better="m=higher", permutations=99)
    told = result.summary.model_copy(update={"command": "fairrec audit \u062d\u0644\u0628"})
    page = page_html(told, result.group_table)
    assert "town=\u2068\u062d\u0644\u0628\u2069 (\u2212" in page
    assert "fairrec audit \u062d\u0644\u0628</code>" in page


def test_ratios_have_a_section_where_there_are_any():
    result = audit(metrics=["hit@5", "auc"], permutations=0)
    page = page_html(result.summary, result.group_table)
    assert page.index('id="table"') < page.index('<section id="ratios"') < page.index('id="data"')
    assert '<a href="#ratios">' in page
    assert "How unequal users are" in page
    none = audit(metrics=["pooled_auc"], permutations=0)
    assert "#ratios" not in page_html(none.summary, none.group_table).split("<body>")[1]


def test_page_without_tests_speaks_of_none():
    result = audit(metrics=["auc"], permutations=0)
    view = build_page_view(result.summary, result.group_table)
    assert view.summary == "Nothing was tested against chance."
    page = page_html(result.summary, result.group_table)
    assert "Nothing was tested against chance, so nothing could be found." in page
    assert "what chance alone shows" not in page


def test_a_mitigation_is_answered_before_it_is_explained():
    result = audit(metrics=["auc"], permutations=0)
    hostile = WOMEN.model_copy(update={"group": {"x": "<b>old</b>"}})
    target = TARGET.model_copy(update={"ordered": ordered((-0.3, "worse"), (0.2, "improved"))})
    done = summary_of(target, groups=(hostile,))
    page = page_html(result.summary, result.group_table, mitigation=done)
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


def test_what_is_made_ready_is_all_that_a_page_loads(monkeypatch: pytest.MonkeyPatch):
    result = audit(metrics=["auc"], permutations=0)
    html._environment.cache_clear()
    make_ready()
    loader, loaded = html._environment().loader, []

    def refuse(environment, name, *args):
        loaded.append(name)
        raise AssertionError(name)

    monkeypatch.setattr(loader, "load", refuse)
    assert "</html>" in page_html(result.summary, result.group_table)
    assert loaded == []
    with pytest.raises(AssertionError, match=r"trend\.html\.j2"):
        html.page_template("trend.html.j2")
