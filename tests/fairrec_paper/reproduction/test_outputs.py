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
    write_outcome(tmp_path / "out", "table2", EVIL, outcome(), "fairrec-paper reproduce table2")
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == [
        "bars.pdf",
        "bars.svg",
        "gaps.csv",
        "index.html",
        "table2.tex",
    ]
    assert (tmp_path / "out/bars.pdf").read_bytes().startswith(b"%PDF-")
    assert pl.read_csv(tmp_path / "out/gaps.csv")["gap"].to_list() == [0.123456, None]


def test_a_later_page_shows_nothing_of_an_earlier_one(tmp_path: Path):
    write_outcome(tmp_path, "table2", EVIL, outcome(), "")
    table = layout.table(
        "others", "other table", pl.DataFrame({"n": [1]}), [("n", layout.text("n"))]
    )
    write_outcome(tmp_path, "table2", "second", Outcome((table,)), "")
    assert (tmp_path / "gaps.csv").exists()
    for name in ("index.html", "table2.tex"):
        text = (tmp_path / name).read_text()
        assert "other table" in text, name
        assert not re.search(r"dpso|alert|bars\.svg|0\.123", text), name


def test_the_page_runs_no_script_and_needs_no_network(tmp_path: Path):
    write_outcome(tmp_path, "table2", EVIL, outcome(), "")
    page = (tmp_path / "index.html").read_text()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "default-src 'none'; script-src 'none'" in page.replace("&#39;", "'")
    assert re.findall(r'(?:src|href)="(?!data:image/svg|#)([^"]*)"', page) == []
    assert "0.123 ±0.0100" in page
    assert "<script" not in (tmp_path / "bars.svg").read_text()


def outside_of_comments(document: str) -> str:
    return re.sub(r"(?<!\\)%.*", "", document)


def test_what_is_opened_is_closed():
    document = outside_of_comments(as_latex(EVIL, outcome()))
    begun, ended = (re.findall(rf"\\{end}{{(.*?)}}", document) for end in ("begin", "end"))
    assert sorted(begun) == sorted(ended)
    assert sorted(begun) == ["document", "figure*", "itemize", "table*", "tabular"]
    bare = re.sub(r"\\[{}]", "", document)
    assert bare.count("{") == bare.count("}")


def test_every_table_has_its_note_and_every_figure_is_included():
    document = as_latex("title", outcome())
    assert r"\fitted{\includegraphics{bars.pdf}}" in document
    assert r"\begin{tabular}{lr}" in document
    assert r"dpso & 0.123 $\pm$0.0100 \\" in document
    table = document[document.index(r"\begin{table*}") : document.index(r"\end{table*}")]
    assert rf"\footnotesize {latex(EVIL)}" in table
    assert rf"\item {latex(EVIL)}" in document


def test_outside_text_stays_text():
    assert latex(EVIL) == (
        r"\textless{}script\textgreater{}alert(1)\textless{}/script\textgreater{} \& 50\% of "
        r"\$x\_1\$ \{a\} \textbar{} b"
    )
    # a comment ends with its line, and so would an argument with an empty one
    assert as_latex("a\n\\input{b}", outcome()).startswith("% a \\input{b}\n")
    assert latex("a\n\nb") == "a b"
