"""Annotations that GitHub reads."""

from __future__ import annotations

import json

from fairrec.gating.formats import as_json_text, as_text, to_annotations
from tests.gating.judged_gate import HOSTILE, gate_of, rule_of


def test_what_does_not_pass_is_annotated():
    rules = (rule_of("failed"), rule_of("passed"), rule_of("inconclusive"))
    assert to_annotations(gate_of(*rules, rule_of("failed", "warn"))).split("\n") == [
        "::error title=FairRec failed::hits: what measured: measured",
        "::warning title=FairRec inconclusive::hits: what measured: measured",
        "::warning title=FairRec failed::hits: what measured: measured",
        "",
    ]
    assert to_annotations(gate_of(rule_of("passed"))) == ""


def test_what_counts_as_failed_is_an_error():
    gate = gate_of(rule_of("inconclusive"), inconclusive="fail")
    assert to_annotations(gate).startswith("::error ")


def test_outside_text_begins_no_command():
    text = to_annotations(gate_of(rule_of("failed", text=HOSTILE)))
    assert text.count("\n") == 1 and "50%25" in text


def test_text_between_two_lines_of_a_token_nobody_can_guess_is_no_command():
    printed = []
    for _ in range(2):
        with as_text(printed.append):
            printed.append("##[error]x")
    first, text, last, again, *_ = printed
    token = last.strip(":")
    assert (first, text) == (f"::stop-commands::{token}", "##[error]x")
    assert again != first


def test_json_says_the_same_without_a_command():
    document = json.dumps({"##[error]": ["###[x"]})
    assert "##[" not in as_json_text(document)
    assert json.loads(as_json_text(document)) == json.loads(document)
