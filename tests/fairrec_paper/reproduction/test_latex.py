"""A document is whole, and outside text stays text in it."""

from __future__ import annotations

import re

import pytest

from fairrec_paper.reproduction.outputs import as_latex, latex
from tests.fairrec_paper.reproduction.test_outputs import EVIL, outcome


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


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[2pt]", "{[}2pt]"),
        ("\u00e9\u0142", "\u00e9\u0142"),
        ("\u03b8", "{[}U+03B8]"),
        ("a\0", "a{[}U+0000]"),
    ],
)
def test_no_character_stops_the_engine(text, shown):
    assert latex(text) == shown
