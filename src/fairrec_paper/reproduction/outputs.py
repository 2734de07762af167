"""An outcome as files: CSV, Parquet, Markdown, LaTeX, SVG, PDF, and a page with all of it."""

from __future__ import annotations

import base64
from pathlib import Path

from fairrec.core.files import put_table
from fairrec.core.folders import whole_folder
from fairrec.report.figures.still import pdf_of, svg_of
from fairrec.report.page.html import css_text, page_css, page_template, policy
from fairrec.report.text.markdown import escape, table_lines
from fairrec_paper.reproduction.latex import as_latex
from fairrec_paper.reproduction.outcome import Outcome

PAGE = "index.html"


def write_outcome(folder: Path, name: str, title: str, outcome: Outcome, command: str) -> None:
    """Write all files of an experiment, or none where one cannot be written."""
    with whole_folder(folder, owned=(PAGE,)) as part:
        for table in outcome.tables:
            put_table(table.data, part / f"{table.name}.csv", as_csv=True)
            put_table(table.data, part / f"{table.name}.parquet")
        pictures = {drawing.name: svg_of(drawing.chart) for drawing in outcome.drawings}
        texts = {f"{picture}.svg": svg for picture, svg in pictures.items()}
        texts[f"{name}.md"] = as_markdown(title, outcome, command)
        texts[f"{name}.tex"] = as_latex(title, outcome)
        texts[PAGE] = as_page(title, outcome, pictures, command)
        for picture, svg in pictures.items():
            (part / f"{picture}.pdf").write_bytes(pdf_of(svg))
        for file_name, text in texts.items():
            (part / file_name).write_text(text, encoding="utf-8", newline="\n")


def as_markdown(title: str, outcome: Outcome, command: str) -> str:
    """Title, figures, tables and notes."""
    lines = [f"# {escape(title)}"]
    if command:
        lines += ["", "```console", f"$ {command}", "```"]
    for drawing in outcome.drawings:
        lines += ["", f"![{escape(drawing.title)}]({drawing.name}.svg)"]
    for table in outcome.tables:
        lines += ["", f"## {escape(table.view.title)}", "", *table_lines(table.view)]
    if outcome.notes:
        lines += ["", *(f"- {escape(note)}" for note in outcome.notes)]
    return "\n".join(lines) + "\n"


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
