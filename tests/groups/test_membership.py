from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairrec.core.errors import InputError, UnknownNameError
from fairrec.groups.group import Group, group_of_users, is_member, refuse_empty
from fairrec.inputs.users import Attribute

GENDER = Attribute("gender", np.array([0, 1, 1, 0, 2]), ("F", "M", "(missing)"))
AGE = Attribute("age", np.array([0, 0, 1, 1, 0]), (18, 25))
MEMBER = Attribute("member", np.array([1, 0, 1, 0, 1]), (False, True))
ALL = (GENDER, AGE, MEMBER)


@pytest.mark.parametrize(
    ("group", "members"),
    [
        (Group.of(gender="F"), [0, 3]),
        (Group.of(gender="M", age=25), [2]),
        (Group.of(age="25"), [2, 3]),
        (Group.of(member=True), [0, 2, 4]),
        (Group.of(member="True"), [0, 2, 4]),
        (Group.of(gender="(missing)"), [4]),
        (Group.of(gender="X"), []),
        (Group.of(gender="F", age="X"), []),
        (Group.of(), [0, 1, 2, 3, 4]),
    ],
)
def test_members_meet_all_conditions(group, members):
    assert np.flatnonzero(is_member(group, ALL)).tolist() == members


def test_first_of_the_groups_counts():
    groups = [Group.of(age=25), Group.of(gender="M"), Group.of(gender="F")]
    assert group_of_users(groups, ALL).tolist() == [2, 1, 0, 0, -1]
    assert group_of_users([], ALL).tolist() == [-1] * 5


@given(st.integers(0, 1000))
def test_membership_equals_a_loop_over_users(seed):
    rng = np.random.default_rng(seed)
    attributes = [
        Attribute(name, rng.integers(0, 3, 30), tuple(f"{name}{i}" for i in range(3)))
        for name in "abc"
    ]
    groups = []
    for _ in range(4):
        names = rng.permutation(list("abc"))[: rng.integers(1, 4)]
        groups.append(Group.of({str(n): f"{n}{rng.integers(0, 3)}" for n in names}))
    found = group_of_users(groups, attributes)
    for user in range(30):
        own = {a.name: a.values[a.codes[user]] for a in attributes}
        fits = [all(own[n] == v for n, v in group.conditions) for group in groups]
        assert found[user] == (fits.index(True) if any(fits) else -1)


def test_unknown_attribute_is_refused():
    with pytest.raises(UnknownNameError, match=r"No attribute 'gendre'. Did you mean 'gender'"):
        is_member(Group.of(gendre="F"), ALL)


def test_group_of_nobody_is_refused():
    refuse_empty([Group.of(gender="F")], ALL, "groups.csv")
    with pytest.raises(InputError, match=r"groups.csv: no user is in the group gender=X\. Check"):
        refuse_empty([Group.of(gender="F"), Group.of(gender="X")], ALL, "groups.csv")
