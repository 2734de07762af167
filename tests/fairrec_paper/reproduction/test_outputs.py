"""What is written holds the numbers, and outside text stays text; documents are whole."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from fairrec_paper.figures import grouped_bars
from fairrec_paper.reproduction import layout
from fairrec_paper.reproduction.layout import Drawing, Outcome, as_latex, latex, write_outcome

EVIL = "<script>alert(1)</script> & 50% of $x_1$ {a} | b"


def outcome() -> Outcome:
    data = pl.DataFrame({"method": ["dpso", EVIL], "gap": [0.123456, None], "gap_sd": [0.01, None]})
    columns = [("method", layout.text("method")), ("gap", layout.spread("gap"))]
    bars = pl.DataFrame(
        {"data": [EVIL, EVIL], "series": ["here", "published"], "value": [-0.1, 0.3]}
    )
    chart = grouped_bars(bars, EVIL, "larger by")
    table = layout.table("gaps", EVIL, data, columns, EVIL)
    return Outcome((table,), (Drawing("bars", EVIL, chart),), (EVIL,))


def test_every_form_is_written(tmp_path: Path):
    write_outcome(tmp_path / "out", EVIL, outcome(), "fairrec-paper reproduce table2")
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["bars.svg", "gaps.csv", "gaps.tex", "index.html"]
    assert pl.read_csv(tmp_path / "out/gaps.csv")["gap"].to_list() == [0.123456, None]


def test_the_page_runs_no_script_and_needs_no_network(tmp_path: Path):
    write_outcome(tmp_path, EVIL, outcome(), "")
    page = (tmp_path / "index.html").read_text()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "default-src 'none'; script-src 'none'" in page.replace("&#39;", "'")
    assert re.findall(r'(?:src|href)="(?!data:image/svg|#)([^"]*)"', page) == []
    assert "0.123 ±0.0100" in page
    assert "<script" not in (tmp_path / "bars.svg").read_text()


def test_outside_text_stays_text_in_latex():
    assert latex(EVIL) == (
        r"\textless{}script\textgreater{}alert(1)\textless{}/script\textgreater{} \& 50\% of "
        r"\$x\_1\$ \{a\} \textbar{} b"
    )
    # an argument would end with an empty line
    assert latex("a\n\nb") == "a b"
    table = as_latex(outcome().tables[0].view)
    assert r"\begin{tabular}{lr}" in table
    assert r"dpso & 0.123 $\pm$0.0100 \\" in table
    assert rf"\footnotesize {latex(EVIL)}" in table
    begun, ended = (re.findall(rf"\\{end}{{(.*?)}}", table) for end in ("begin", "end"))
    assert sorted(begun) == sorted(ended) == ["table*", "tabular"]
