from __future__ import annotations

from pathlib import Path

from fairrec.report.page.both import both_page
from fairrec.report.page.html import MOST_BYTES
from tests.workflows.two_sides import audit_two_sides


def test_one_small_page_has_both_verdicts_beside_each_other_and_runs_no_script(tmp_path: Path):
    both = audit_two_sides(metrics="mrr@5,ndcg@5,exposure@5", title="<b>Both</b>")
    page = both_page(both.users, both.items, both.command, "./")
    assert len(page.encode()) < MOST_BYTES / 4
    assert "<script" not in page
    assert "http:" not in page.replace("http-equiv", "")
    first, _, rest = page.partition("<nav")
    assert "<bdi>gender=F</bdi> is served worse" in first
    assert "<bdi>kind=b</bdi> is exposed less" in first
    assert "&lt;b&gt;Both&lt;/b&gt;" in first
    assert 'href="./users/report.html"' in first
    assert rest.index('id="users"') < rest.index('id="items"') < rest.index('id="reproduce"')
    assert "The same in 1 more metric</summary>" in rest
    # a class of tables, which would paint verdicts as if they were cells
    assert '<section id="users" class="side"' not in rest


def test_where_no_folder_is_there_nothing_is_linked_to():
    both = audit_two_sides(permutations=0)
    assert "report.html" not in both_page(both.users, both.items, "fairrec audit", "")
    assert both.show().read_text(encoding="utf-8").count("<h1>") == 1
