from __future__ import annotations

import pytest

from fairrec.core import audit_options
from fairrec.core.audit_options import memory_of_machine, most_memory, refuse_larger
from fairrec.core.errors import InputError
from tests.grouped_options import on_command_line


def test_a_container_has_no_more_than_its_limit(monkeypatch, tmp_path):
    whole = memory_of_machine()
    second, first = tmp_path / "memory.max", tmp_path / "memory.limit_in_bytes"
    monkeypatch.setattr(audit_options, "_LIMITS", (str(second), str(first)))
    assert memory_of_machine() == whole
    second.write_text("max\n")
    assert memory_of_machine() == whole
    first.write_text("1000000000\n")
    assert memory_of_machine() == 10**9
    second.write_text("700000000\n")
    assert memory_of_machine() == 700_000_000
    # of version 1 where there is no limit
    second.write_text("9223372036854771712\n")
    assert memory_of_machine() == 10**9
    assert most_memory(None) == 5 * 10**8
    assert most_memory(123) == 123


def test_half_of_a_small_container_is_not_taken_where_it_is_less_than_can_be_asked_for(monkeypatch):
    monkeypatch.setattr(audit_options, "memory_of_machine", lambda: 512 * 2**20)
    refuse_larger(4 * 10**8, None, "These", "Take fewer")
    with pytest.raises(InputError, match=r"0.5 GB may be used \(of what there is\)\. Take fewer"):
        refuse_larger(5 * 10**8 + 1, None, "These", "Take fewer")
    monkeypatch.setattr(audit_options, "memory_of_machine", lambda: 3 * 10**8)
    assert most_memory(None) == 3 * 10**8


def test_what_needs_more_is_refused_with_what_would_do(monkeypatch):
    monkeypatch.setattr(audit_options, "memory_of_machine", lambda: 10 * 10**9)
    refuse_larger(5 * 10**9, None, "These", "Take fewer")
    with pytest.raises(InputError) as told, on_command_line():
        refuse_larger(5 * 10**9 + 1, None, "These", "Take fewer")
    assert str(told.value) == (
        "These need about 5.1 GB of memory, and 5.0 GB may be used (half of what there is). Take "
        "fewer, or allow more: --max-memory 5.1GB"
    )
    with pytest.raises(InputError, match=r"1.5 GB may be used \(max_memory\).*max_memory='2.1GB'"):
        refuse_larger(2.05 * 10**9, 15 * 10**8, "These", "Take fewer")


def test_no_more_is_offered_than_there_is(monkeypatch):
    monkeypatch.setattr(audit_options, "memory_of_machine", lambda: 10 * 10**9)
    with pytest.raises(InputError, match=r"need about 11.0 GB .* Take fewer\.$"):
        refuse_larger(11 * 10**9, None, "These", "Take fewer")
