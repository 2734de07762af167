from __future__ import annotations

import inspect

import pytest

import fairrec
from fairrec.core.audit_options import AuditOptions, smallest_group
from fairrec.core.errors import InputError
from fairrec.core.options import declared, defaults
from fairrec.mitigation.options import MitigationOptions
from tests.builders import audit, numbers_of, two_groups


def test_numbers_are_taken_in_any_form_that_says_them():
    options = AuditOptions.of(permutations=1e2, alpha="0.05", top=2.0, min_support="1%", depth="2")
    assert options == AuditOptions(2, 0.01, 100, 0.05, top=2)
    assert type(options.permutations) is type(options.top) is int


@pytest.mark.parametrize(
    ("option", "value"),
    [("permutations", 99.5), ("alpha", "often"), ("top", 2.5), ("seed", None), ("depth", True)],
)
def test_others_are_refused_in_words(option, value):
    predictions, users = two_groups()
    with pytest.raises(InputError, match=rf"^invalid {option}: expected .*, got {value!r}$"):
        audit(predictions, users, "group", **{option: value})


@pytest.mark.parametrize("alpha", [0, 5e-324, 1e-8, 0.00009, 0.51, 0.9999999999999999, 1])
def test_a_level_that_no_test_can_have_is_refused(alpha):
    with pytest.raises(InputError, match=r"invalid alpha: expected a number from 0\.0001 to 0\.5"):
        AuditOptions.of(alpha=alpha)
    assert [AuditOptions.of(alpha=edge).alpha for edge in (0.0001, "0.5")] == [0.0001, 0.5]


def test_an_audit_takes_them_so_from_python():
    predictions, users = two_groups()
    plain = audit(predictions, users, "group", permutations=100, alpha=0.1, min_support=0.5)
    other = audit(predictions, users, "group", permutations=1e2, alpha="0.1", min_support="50%")
    assert numbers_of(plain) == numbers_of(other)


@pytest.mark.parametrize("min_support", ["1%", 0.01])
def test_a_percentage_is_a_share(min_support):
    assert AuditOptions.of(min_support=min_support).min_users(6040) == 61


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
        for name, option in declared(options).items():
            if name in parameters:
                assert f"{name} : {option.help} ({option.kind.expected})" in doc
                wanted = defaults(options).get(name, inspect.Parameter.empty)
                assert parameters[name].default == wanted
    missing = {*declared(AuditOptions)} - {*parameters}
    assert missing == (
        set() if function is fairrec.audit else {"tolerance", "top", "max_undefined"}
    )
