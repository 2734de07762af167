"""An outcome as files: CSV, LaTeX, a page and pictures."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path

from fairrec.core.atomic_io import atomic_folder, put_table
from fairrec.report.page.html import css_text, page_css, page_template, policy
from fairrec.report.words import TableView
from fairrec_paper.reproduction.layout import Drawing, Outcome
from fairrec_paper.stills import to_pdf, to_svg

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
SPECIAL: dict[str, str | int | None] = {
    **{character: rf"\{character}" for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    # after the end of a row it would begin an argument
    "[": "{[}",
    **{"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "|": r"\textbar{}"},
    **{"<": r"\textless{}", ">": r"\textgreater{}", "\u00b1": r"$\pm$", "\u2212": r"$-$"},
}


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
    items = (rf"\item {latex(note)}" for note in notes)
    return "\n".join((r"\begin{itemize}", *items, r"\end{itemize}")) if notes else ""


def _figure(drawing: Drawing) -> str:
    return rf"""\begin{{figure*}}[htbp]
\centering
\fitted{{\includegraphics{{{drawing.name}.pdf}}}}
\caption{{{latex(drawing.title)}}}
\end{{figure*}}"""


def _table(view: TableView) -> str:
    layout = "".join("r" if is_number else "l" for is_number in view.numeric)
    header, *rows = (" & ".join(map(latex, cells)) + r" \\" for cells in (view.columns, *view.rows))
    lines = [
        *(r"\begin{table*}[htbp]", r"\centering", rf"\caption{{{latex(view.title)}}}"),
        *(r"\fitted{%", rf"\begin{{tabular}}{{{layout}}}", r"\toprule", header, r"\midrule"),
        *(*rows, r"\bottomrule", r"\end{tabular}}"),
    ]
    if view.note:
        lines.append(rf"\par\smallskip\footnotesize {latex(view.note)}")
    return "\n".join([*lines, r"\end{table*}"])


def latex(text: str) -> str:
    r"""Text in which LaTeX sees nothing special, on one line.

    >>> print(latex("50% of A&B \u00b10.1"))
    50\% of A\&B $\pm$0.1
    """
    return " ".join(text.split()).translate(str.maketrans(SPECIAL)).replace("--", "-{}-")


PAGE = "index.html"


def write_outcome(folder: Path, name: str, title: str, outcome: Outcome, command: str) -> None:
    """Write all files of an experiment, or none where one cannot be written."""
    with atomic_folder(folder, owned=(PAGE,)) as part:
        for table in outcome.tables:
            put_table(table.data, part / f"{table.name}.csv", as_csv=True)
        pictures = {drawing.name: to_svg(drawing.chart) for drawing in outcome.drawings}
        texts = {f"{picture}.svg": svg for picture, svg in pictures.items()}
        texts[f"{name}.tex"] = as_latex(title, outcome)
        texts[PAGE] = as_page(title, outcome, pictures, command)
        for picture, svg in pictures.items():
            (part / f"{picture}.pdf").write_bytes(to_pdf(svg))
        for file_name, text in texts.items():
            (part / file_name).write_text(text, encoding="utf-8", newline="\n")


def as_page(title: str, outcome: Outcome, pictures: dict[str, str], command: str) -> str:
    """One HTML file that needs nothing else; pictures are images, so nothing in them can run."""
    from markupsafe import Markup

    figures = [
        {
            "title": drawing.title,
            "file": f"{drawing.name}.svg",
            "data": base64.b64encode(pictures[drawing.name].encode()).decode(),
        }
        for drawing in outcome.drawings
    ]
    return page_template("reproduction.html.j2").render(
        title=title,
        outcome=outcome,
        figures=figures,
        command=command,
        policy=policy(images=True),
        css=Markup(page_css()),
        running_title=Markup(css_text(title[:100])),
    )
