from __future__ import annotations

import io

from rich.console import Console

import fairrec
from fairrec.report.page.build import build_page_view
from fairrec.report.page.html import page_html
from fairrec.report.text.markdown import to_markdown
from fairrec.report.text.terminal import print_text
from fairrec.report.text.view import build_view, plan_lines, settings_line
from fairrec.result.schema import AuditSummary, PlanSummary, SettingsSummary
from tests.builders import make_tables

SETTINGS = SettingsSummary(file="fairrec.toml", sha256="0123456789abcdef", options=("by", "alpha"))


def result():
    tables = make_tables()
    return fairrec.audit(
        tables.predictions,
        users=tables.users,
        by="gender",
        metrics="auc",
        statistics=fairrec.Statistics(permutations=9),
    )


def with_plan(*deviations: str, file: str = "plan.toml") -> AuditSummary:
    plan = PlanSummary(file=file, checksum="abc123" * 10, options=("by",), deviations=deviations)
    return result().summary.model_copy(update={"plan": plan})


def test_without_a_plan_nothing_is_said_of_one():
    assert plan_lines(result().summary) == ()
    assert settings_line(result().summary) == ""


def test_an_audit_without_deviations_is_as_planned():
    assert plan_lines(with_plan()) == ("As planned (plan.toml, checksum abc123abc123).",)


def test_each_deviation_is_a_line():
    assert plan_lines(with_plan("alpha 0.1 (planned 0.05)", "by a\nb (planned a)")) == (
        "Planned (plan.toml, checksum abc123abc123), with 2 deviations.",
        "Deviates from the plan: alpha 0.1 (planned 0.05).",
        r"Deviates from the plan: by a\nb (planned a).",
    )


def test_they_stand_before_the_verdicts_in_every_layout():
    summary = with_plan("alpha 0.1 (planned 0.05)")
    view = build_view(summary)
    console = Console(record=True, width=200, file=io.StringIO())
    print_text(view, console)
    page = page_html(summary, result().group_table)
    for text in (console.export_text(), to_markdown(view).replace("\\", ""), page):
        at = text.index("Deviates from the plan: alpha 0.1 (planned 0.05).")
        verdict = text.index('id="verdicts"') if text is page else text.index("auc", at)
        assert at < verdict
        assert text.index("Planned (plan.toml") < at


def test_the_name_of_a_plan_is_no_markup():
    page = page_html(with_plan(file="<script>.toml"), result().group_table)
    assert "As planned (<script>" not in page
    assert "As planned (&lt;script&gt;.toml" in page


def test_settings_stand_with_how_to_reproduce():
    summary = result().summary.model_copy(update={"settings": SETTINGS})
    assert settings_line(summary) == "fairrec.toml, checksum 0123456789ab: by, alpha"
    assert build_view(summary).reproduce.endswith(
        "seed 0; settings from fairrec.toml, checksum 0123456789ab: by, alpha)"
    )
    page = build_page_view(summary, result().group_table)
    assert page.reproduce.settings[0] == ("settings from", settings_line(summary))
    none = SETTINGS.model_copy(update={"options": ()})
    assert settings_line(summary.model_copy(update={"settings": none})).endswith(": none")
