"""The section in the file of a model card."""

from __future__ import annotations

from pathlib import Path

import pytest

import fairrec
from fairrec.core.errors import InputError, OutputError
from fairrec.integrations.card import BEGIN, END, put_card
from tests.builders import audit, two_groups
from tests.mitigation.planted import mitigate, planted

BEFORE = "---\nlicense: mit\n---\r\n# Ranker\n\n"
AFTER = "\n## Training\n\ttabs and  blanks  \r\nand no end of line"


def test_a_section_is_put_at_the_end_and_then_replaced(tmp_path: Path):
    file = tmp_path / "README.md"
    file.write_bytes(f"{BEFORE}text".encode())
    put_card(file, "## One\n")
    once = file.read_bytes().decode()
    assert once == f"{BEFORE}text\n\n{BEGIN}\n## One\n{END}\n"
    put_card(file, "## One\n")
    assert file.read_bytes().decode() == once
    file.write_bytes(f"{once}{AFTER}".encode())
    put_card(file, "## Two\n\nlonger\n")
    rest = f"{BEFORE}text\n\n{BEGIN}\n## Two\n\nlonger\n{END}\n{AFTER}"
    assert file.read_bytes().decode() == rest


def test_a_file_that_is_not_there_or_empty_is_made(tmp_path: Path):
    for name in ("new.md", "empty.md"):
        file = tmp_path / name
        if name == "empty.md":
            file.touch()
        put_card(file, "## One\n")
        assert file.read_text() == f"{BEGIN}\n## One\n{END}\n"


@pytest.mark.parametrize("text", [BEGIN, END, f"{END}\n{BEGIN}", f"{BEGIN}{END}{BEGIN}{END}"])
def test_marks_that_do_not_fit_are_refused_and_the_file_stays(tmp_path: Path, text: str):
    file = tmp_path / "README.md"
    file.write_text(text)
    with pytest.raises(InputError, match="needs one of each"):
        put_card(file, "## One\n")
    assert file.read_text() == text


def test_what_is_no_text_or_cannot_be_written_is_an_error_in_words(tmp_path: Path):
    file = tmp_path / "README.md"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="no text in UTF-8"):
        put_card(file, "## One\n")
    with pytest.raises(InputError, match="cannot be read"):
        put_card(tmp_path, "## One\n")
    with pytest.raises(OutputError):
        put_card(tmp_path / "no" / "README.md", "## One\n")


def test_the_card_of_a_mitigation_is_about_the_lists_after_it():
    result = mitigate(planted(), "ndcg@5")
    text = fairrec.card(result)
    assert "The lists were re-ranked by" in text
    assert "re-ranked by" not in fairrec.card(result.audit)
    assert fairrec.card(audit(*two_groups(), by="group")).startswith("## Fairness evaluation\n")


@pytest.mark.parametrize("given", ["folder", Path("folder"), None, 1])
def test_what_is_no_result_has_no_card(given):
    with pytest.raises(InputError, match=r"invalid result: .*fairrec\.load it"):
        fairrec.card(given)
