"""An outcome as a LaTeX document: it compiles as it is, with `pdflatex` and common packages."""

from __future__ import annotations

from collections.abc import Sequence

from fairrec.report.text.table_view import TableView
from fairrec_paper.reproduction.outcome import Drawing, Outcome

PREAMBLE = r"""\documentclass{article}
\usepackage[margin=2cm]{geometry}
\usepackage{booktabs,graphicx}
% no wider than the text and no higher than a page
\newsavebox{\fittedbox}
\newcommand{\fitted}[1]{%
  \sbox{\fittedbox}{#1}%
  \ifdim\wd\fittedbox>\linewidth
    \sbox{\fittedbox}{\resizebox{\linewidth}{!}{\usebox{\fittedbox}}}\fi
  \ifdim\dimexpr\ht\fittedbox+\dp\fittedbox\relax>0.8\textheight
    \sbox{\fittedbox}{\resizebox*{!}{0.8\textheight}{\usebox{\fittedbox}}}\fi
  \usebox{\fittedbox}}"""
SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    # after the end of a row it would begin an argument
    "[": "{[}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "\u00b1": r"$\pm$",
    "\u2212": r"$-$",
}
LAST_LETTER = 0x17F
"""Of the Latin alphabets; `pdflatex` stops at characters that its fonts do not have."""
QUOTES_AND_DASHES = "\u2013\u2014\u2018\u2019\u201c\u201d\u2026"


def as_latex(title: str, outcome: Outcome) -> str:
    """All figures, tables and notes; figures are the PDF files beside it."""
    parts = [
        f"% {' '.join(title.split())}",
        "% elsewhere: take the body, and of the preamble the packages and \\fitted",
        PREAMBLE,
        r"\begin{document}",
        rf"\section*{{{latex(title)}}}",
        _notes(outcome.notes),
        *map(_figure, outcome.drawings),
        *(_table(table.view) for table in outcome.tables),
        r"\end{document}",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _notes(notes: Sequence[str]) -> str:
    if not notes:
        return ""
    items = (rf"\item {latex(note)}" for note in notes)
    return "\n".join((r"\begin{itemize}", *items, r"\end{itemize}"))


def _figure(drawing: Drawing) -> str:
    return "\n".join(
        (
            r"\begin{figure*}[htbp]",
            r"\centering",
            rf"\fitted{{\includegraphics{{{drawing.name}.pdf}}}}",
            rf"\caption{{{latex(drawing.title)}}}",
            r"\end{figure*}",
        )
    )


def _table(view: TableView) -> str:
    layout = "".join("r" if is_number else "l" for is_number in view.numeric)

    def line(cells: Sequence[str]) -> str:
        return " & ".join(latex(cell) for cell in cells) + r" \\"

    return "\n".join(
        (
            r"\begin{table*}[htbp]",
            r"\centering",
            rf"\caption{{{latex(view.title)}}}",
            r"\fitted{%",
            rf"\begin{{tabular}}{{{layout}}}",
            r"\toprule",
            line(view.columns),
            r"\midrule",
            *(line(row) for row in view.rows),
            r"\bottomrule",
            r"\end{tabular}}",
            *([rf"\par\smallskip\footnotesize {latex(view.note)}"] if view.note else []),
            r"\end{table*}",
        )
    )


def latex(text: str) -> str:
    r"""Text in which LaTeX sees nothing special, on one line.

    >>> print(latex("50% of A&B \u00b10.1"))
    50\% of A\&B $\pm$0.1
    >>> print(latex("--k \u4e2d"))
    -{}-k {[}U+4E2D]
    """
    shown = (_shown(character) for character in " ".join(text.split()))
    return "".join(shown).replace("--", "-{}-")


def _shown(character: str) -> str:
    if character in SPECIAL:
        return SPECIAL[character]
    is_known = ord(character) <= LAST_LETTER or character in QUOTES_AND_DASHES
    return character if is_known and character.isprintable() else f"{{[}}U+{ord(character):04X}]"
