from __future__ import annotations

import io

from rich.console import Console

from fairrec.report.text.both import both_markdown, print_both
from tests.workflows.two_sides import audit_two_sides


def test_both_answers_come_first_then_each_audit():
    both = audit_two_sides(metrics="mrr@5,exposure@5", matters="mrr@5=0.9,exposure@5=0.001")
    stream = io.StringIO()
    print_both(both, Console(file=stream, width=120))
    said = stream.getvalue()
    head, users, items = (
        said.split("\n\n", 1)[0],
        *said.split("\n\nusers -")[1].split("\n\nitems -"),
    )
    assert "gender=F is served worse" in head
    assert "kind=b is exposed less" in head
    assert "worse by more than matters" in head
    assert "mrr@5" in users
    assert "exposure@5" not in users
    assert "exposure@5" in items
    assert "mrr@5" not in items


def test_markdown_has_both_answers_in_a_table():
    said = both_markdown(audit_two_sides(permutations=0))
    assert said.startswith("# FairRec audit of both sides\n\n| side | verdict | answer |")
    assert "| users | not tested |" in said
    assert said.index("\n# Users\n") < said.index("\n# Items\n")
    assert "# FairRec audit\n" not in said
