"""What the site shows of the code itself: commands, schemas, docstrings and a live page."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
COMMANDS = HERE / "reference" / "commands"
SCHEMAS = HERE / "reference" / "schemas"
LIVE = HERE / "_live"
"""Files that the site holds as they are. All three folders are made anew and not kept in git."""


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    for folder in (COMMANDS, SCHEMAS, LIVE):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    write_commands()
    write_schemas()
    write_demo_page(LIVE / "live")
    app.connect("autodoc-process-docstring", in_sphinx_words)
    app.connect("build-finished", refuse_network)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write_commands() -> None:
    """A page for each command of both programs, from its parser: what `--help` says."""
    import fairrec.commands
    import fairrec_paper.cli

    for program, app in (
        ("fairrec", fairrec.commands.app),
        ("fairrec-paper", fairrec_paper.cli.app),
    ):
        write_commands_of(program, app)


def write_commands_of(program: str, app: Any) -> None:
    """A page for each command of a program."""
    import typer

    group: Any = typer.main.get_command(app)
    wide = {"terminal_width": 100, "max_content_width": 100}
    context = typer.Context(group, info_name=program, **wide)
    folder = COMMANDS / program
    folder.mkdir()
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        about = command.get_help(typer.Context(command, info_name=name, parent=context, **wide))
        page = f"# {program} {name}\n\n```text\n{about}\n```\n"
        (folder / f"{name}.md").write_text(page, "utf-8")


def write_schemas() -> None:
    """A page for each JSON file of ours: what `fairrec list schema` says."""
    from fairrec.schemas import FILES, schema

    for name, file in FILES.items():
        about = f"{file.about[0].upper()}{file.about[1:]}"
        page = f"# {name}\n\n{about}. From `fairrec list schema {name}`:\n"
        page += f"\n```json\n{json.dumps(schema(name), indent=1)}\n```\n"
        (SCHEMAS / f"{name}.md").write_text(page, "utf-8")


def write_demo_page(folder: Path) -> None:
    """The page of an audit of the demo's world: `report.html`, and nothing else."""
    from fairrec.auditing.audit import audit
    from fairrec.demo.demo import BY, run_demo

    with tempfile.TemporaryDirectory() as name:
        made = Path(name)
        run_demo(made, seed=0, report=False)
        parts = ("predictions", "users", "items", "history")
        tables = {part: made / f"{part}.parquet" for part in parts}
        result = audit(**tables, by=BY, title="Demo", model_name="EASE", tolerance="ndcg@5=0.03")
        result.save(made / "page")
        folder.mkdir(exist_ok=True)
        shutil.copy(made / "page" / "report.html", folder)


FETCHED = re.compile(
    r"""<(?:script|img|iframe|source)\b[^>]*?\bsrc=["']?(?:https?:)?//[^"'> ]*
    |<link\b(?![^>]*\brel=["']?canonical)[^>]*?\bhref=["']?(?:https?:)?//[^"'> ]*
    |@import\s+(?:url\()?["']?(?:https?:)?//[^"') ]*
    |url\(["']?(?:https?:)?//[^"') ]*""",
    re.X | re.I,
)


def refuse_network(app: Any, error: Exception | None) -> None:
    """The site is read offline too: no page or style may fetch anything from another server."""
    if error is not None or app.builder.format != "html":
        return
    out = Path(app.outdir)
    for file in (*out.rglob("*.html"), *out.rglob("*.css")):
        if found := FETCHED.search(file.read_text("utf-8")):
            raise ValueError(f"{file.relative_to(out)} fetches {found[0]}")


SECTION = re.compile(r"^(Parameters|Returns|Raises|Examples|Notes)\n-+$", re.M)


def in_sphinx_words(
    app: Any, what: str, name: str, obj: object, options: object, lines: list[str]
) -> None:
    """Sections of a docstring; what stands behind a parameter's colon describes it."""
    text = "\n".join(lines)
    first, *rest = SECTION.split(text)
    parts = [first]
    for title, body in zip(rest[::2], rest[1::2], strict=True):
        described = re.sub(r"^(\w[\w, *]*?) : ", r"``\1``\n    ", body, flags=re.M)
        parts.append(f".. rubric:: {title}\n{described if title == 'Parameters' else body}")
    lines[:] = "\n".join(parts).split("\n")
