"""The options of an audit, and the memory it may take."""

from __future__ import annotations

import inspect

import pytest

import fairrec
from fairrec.core import audit_options
from fairrec.core.audit_options import (
    AuditOptions,
    refuse_larger,
    smallest_group,
)
from fairrec.core.errors import InputError
from fairrec.core.options import list_defaults, list_options
from fairrec.mitigation.options import MitigationOptions
from tests.grouped_options import on_command_line


def test_numbers_are_taken_in_any_form_that_says_them():
    options = AuditOptions(permutations=1e2, alpha="0.05", top=2.0, min_support="1%", depth="2")
    assert options == AuditOptions(depth=2, min_support=0.01, permutations=100, alpha=0.05, top=2)
    assert type(options.permutations) is type(options.top) is int


@pytest.mark.parametrize("alpha", [0, 5e-324, 1e-8, 0.00009, 0.51, 0.9999999999999999, 1])
def test_a_level_that_no_test_can_have_is_refused(alpha):
    with pytest.raises(InputError, match=r"invalid alpha: expected a number from 0\.0001 to 0\.5"):
        AuditOptions(alpha=alpha)
    assert [AuditOptions(alpha=edge).alpha for edge in (0.0001, "0.5")] == [0.0001, 0.5]


@pytest.mark.parametrize(
    ("n_users", "usual", "papers"), [(4, 10, 1), (6038, 10, 7), (10_001, 11, 11)]
)
def test_unless_told_otherwise_a_group_has_ten_users_and_a_share_has_no_floor(
    n_users, usual, papers
):
    assert AuditOptions().min_users(n_users) == usual
    assert AuditOptions(min_support=0.001).min_users(n_users) == papers
    assert AuditOptions(min_support=1).min_users(n_users) == 1


@pytest.mark.parametrize(
    ("min_support", "says"),
    [
        (None, "0.1% of users, at least 10"),
        (0.001, "0.1% of users"),
        (0.07, "7% of users"),
        (1, "1 user"),
        (2500, "2,500 users"),
    ],
)
def test_the_smallest_group_in_words(min_support, says):
    assert smallest_group(min_support) == says


@pytest.mark.parametrize(
    ("function", "classes"),
    [
        (fairrec.audit, [AuditOptions]),
        (fairrec.mitigate, [AuditOptions, MitigationOptions]),
    ],
)
def test_functions_have_the_defaults_and_the_words_that_are_declared(function, classes):
    parameters = inspect.signature(function).parameters
    doc = " ".join(inspect.getdoc(function).split())
    for options in classes:
        for name, option in list_options(options).items():
            if name in parameters:
                assert f"{name} : {option.help} ({option.form.expected})" in doc
                wanted = list_defaults(options).get(name, inspect.Parameter.empty)
                assert parameters[name].default == wanted


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
