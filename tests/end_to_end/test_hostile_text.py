"""Outside text is shown as text, whatever is in it."""

from __future__ import annotations

import os
import re
import unicodedata
from pathlib import Path

import polars as pl
import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from fairrec.report.text import to_markdown
from fairrec.report.view import build_view
from fairrec.result.folder import load_saved
from tests.builders import make_tables, one_each
from tests.end_to_end.command_line import AUDIT, Ran, run_here, write_tables

LONG = "long " * 2000
SHOWN_AS = {
    "<script>alert('x')</script>": "<script>alert('x')</script>",
    "<img src=x onerror=alert(1)>": "<img src=x onerror=alert(1)>",
    'say "it\'s" `code`': 'say "it\'s" `code`',
    "a|b||c": "a|b||c",
    "first\nsecond\r\nthird": r"first\nsecond\r\nthird",
    "left\tright": r"left\tright",
    "\x1b[31mred\x1b[0m\x1b]0;title\x07": r"\x1b[31mred\x1b[0m\x1b]0;title\x07",
    "[red]not red[/red][/bold]": "[red]not red[/red][/bold]",
    "[here](http://example.org) ![i](x) *b* _i_ # h": (
        "[here](http://example.org) ![i](x) *b* _i_ # h"
    ),
    "abc\u202edef\u200fghi": r"abc\u202edef\u200fghi",
    "дети, 子供, أطفال": "дети, 子供, أطفال",
    "a\u2028b\u2029c\u0085d": r"a\u2028b\u2029c\x85d",
    "\u200b\ufeff": r"\u200b\ufeff",
    "C:\\new\\table\\": "C:\\new\\table\\",
    "a\x00b": r"a\x00b",
    "&lt;b&gt; &amp;": "&lt;b&gt; &amp;",
    "{0} {{x}} %s ${HOME}": "{0} {{x}} %s ${HOME}",
    LONG: "long long long long",
}
"""Values and what a reader must see of them."""
HOSTILE = pytest.mark.parametrize(
    "text", SHOWN_AS, ids=lambda text: re.sub("[^a-zA-Z]+", " ", text)[:12].strip() or "marks"
)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _write(folder: Path = Path(), **tables: pl.DataFrame) -> None:
    write_tables(folder, make_tables()._replace(**tables))


def _audit_of(values: list[str], *options: str, name: str = "who") -> Ran:
    """Audit an attribute with these values: each has eight users, the first is served worst."""
    ids = [f"u{i}" for i in range(8 * len(values))]
    users = pl.DataFrame({"user_id": ids, name: [value for value in values for _ in range(8)]})
    predictions = one_each({user: 4 if i < 8 else 1 + i % 2 for i, user in enumerate(ids)})
    _write(users=users, predictions=predictions)
    return run_here(*AUDIT, "--by", name, "--metrics", "mrr", *options)


def _assert_only_text(shown: str) -> None:
    """Nothing but characters a terminal prints, and new lines."""
    odd = {c for c in shown if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")} - {"\n"}
    assert odd == set()


def _times_shown(shown: str, text: str) -> int:
    """How often the group with this value is named."""
    # tables fold long cells and sentences wrap, so spaces and rules do not count
    squeezed = re.sub(r"[\s│┃]+", "", shown)
    return squeezed.count("who=" + re.sub(r"\s+", "", SHOWN_AS[text]))


@HOSTILE
def test_hostile_values_are_shown_as_text(text: str):
    ran = _audit_of([text, "fine", "good"], "--quiet", "--out", "out", "--no-report")
    assert (ran.code, ran.stderr) == (0, "")
    _assert_only_text(ran.stdout)
    assert "is served worse: mrr@5" in " ".join(ran.stdout.split())
    assert _times_shown(ran.stdout, text) >= 1
    markdown = to_markdown(build_view(load_saved(Path("out"))[0]))
    _assert_only_text(markdown)
    _assert_tables_keep_their_columns(markdown)
    # in the verdict, among the findings and in the gap
    assert _times_shown(_text_of_markdown(markdown), text) >= 3


def _text_of_markdown(markdown: str) -> str:
    """The text a reader sees; tags and links from outside would be an error."""
    parser = MarkdownIt("commonmark", {"html": True}).enable("table")
    tokens = parser.parse(markdown)
    inline = [child for token in tokens if token.type == "inline" for child in token.children]
    assert not [token for token in tokens if token.type == "html_block"]
    kinds = {token.type for token in inline if not _keeps_apart(token)}
    assert kinds <= {"text", "text_special", "strong_open", "strong_close", "softbreak"}
    assert sum(token.type == "heading_open" for token in tokens) == len(
        [line for line in markdown.splitlines() if re.match("#+ ", line)]
    )
    return "\n".join(
        "".join(child.content for child in token.children if not _keeps_apart(child))
        for token in tokens
        if token.type == "inline"
    )


def _keeps_apart(token: Token) -> bool:
    """Whether it is what keeps an address from becoming a link, shown as nothing."""
    return token.type == "html_inline" and token.content == "<!-- -->"


def _assert_tables_keep_their_columns(markdown: str) -> None:
    n_cells = None
    n_rows = 0
    for line in markdown.split("\n"):
        if not line.startswith("|"):
            n_cells = None
            continue
        found = len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) - 1
        n_cells = n_cells or found
        n_rows += 1
        assert found == n_cells
    assert n_rows >= 3 * 3


@HOSTILE
def test_hostile_names_and_ids_are_shown_as_text_and_kept(text: str):
    # a comma parts the names, and spaces around them do not count
    name = text.replace(",", ";").strip()
    ids = [text, *(f"u{i}" for i in range(5))]
    users = pl.DataFrame({"user_id": ids, name: ["a", "b"] * 3})
    _write(users=users, predictions=one_each({one: 1 + i % 2 for i, one in enumerate(ids)}))
    ran = run_here(*AUDIT, "--by", name, "--metrics", "mrr", "--out", "out", "--no-report")
    assert ran.code == 0
    summary = load_saved(Path("out"))[0]
    for shown in (ran.stdout, to_markdown(build_view(summary))):
        _assert_only_text(shown)
        assert "2 groups by " in shown
    assert summary.metrics["mrr@5"].advantaged.group == {name: "a"}
    assert name in pl.read_parquet("out/groups.parquet").columns
    assert set(pl.read_parquet("out/per_user.parquet")["user_id"]) == {*ids}


@HOSTILE
def test_hostile_ids_and_columns_are_escaped_and_cut_in_messages(text: str):
    one, other = (pl.DataFrame({"user_id": [user] * 2, "g": ["x", "y"]}) for user in ("a", text))
    predictions = one_each({"a": 1, text: 1})
    tables = make_tables()
    for written, says in (
        ({"users": one[:1], "predictions": predictions}, "not in users.parquet"),
        ({"users": other, "predictions": predictions}, "appears more than once"),
        ({"users": tables.users.rename({"member": text})}, "No attribute 'g'"),
        (
            {"users": one[:1], "predictions": tables.predictions.rename({"score": text})},
            "no column 'score'",
        ),
    ):
        _write(**written)
        ran = run_here(*AUDIT, "--by", "g")
        assert (ran.code, ran.stdout) == (2, "")
        _assert_only_text(ran.stderr)
        assert len(ran.stderr.splitlines()) == 1
        assert len(ran.stderr) < 1500
        assert says in ran.stderr


def test_a_path_that_is_no_unicode_is_refused(here: Path):
    write_tables(here)
    odd = os.fsdecode(b"caf\xe9.parquet")
    (here / "predictions.parquet").rename(here / odd)
    ran = run_here("audit", odd, "--users", "users.parquet", "--by", "gender")
    assert ran.code == 2
    assert "its path is no Unicode" in ran.stderr
