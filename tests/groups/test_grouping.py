"""Groups by name: complements, values of one column, membership."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairrec import Engine
from fairrec.core.audit_options import AuditOptions
from fairrec.core.errors import InputError
from fairrec.groups.group import Group, group_of_users, refuse_empty
from fairrec.groups.grouping import Grouping
from fairrec.inputs.users import MISSING, OTHER, Attribute
from tests.groups.small_grouping import build_grouping


def test_the_complement_of_a_group_is_all_others_where_they_are_one_group():
    # a has two values, b three, and c two of which one has too few users
    codes = [[0] * 6 + [1] * 6, [0, 1, 2] * 4, [0] * 11 + [1]]
    found = build_grouping(codes, min_users=2, depth=2)
    other = {at: int(one) for at, one in enumerate(found.complement) if at != one}
    conditions = [
        (found.group(at).conditions, found.group(one).conditions) for at, one in other.items()
    ]
    one, all_others = (("a", 0),), (("a", 1),)
    assert conditions == [(one, all_others), (all_others, one)]


def test_the_rest_lack_a_value_that_fewer_have():
    # 3 of 10 films are of war, 8 of love; cars and bikes are columns of their own: some have none
    answers = {
        "genres[war]": [1] * 3 + [0] * 7,
        "genres[love]": [0] * 2 + [1] * 8,
        "owns[car]": [1] * 3 + [0] * 7,
        "owns[bike]": [1] * 2 + [0] * 8,
    }
    attributes = [
        Attribute(name, np.array(codes, dtype=np.int32), ("no", "yes"))
        for name, codes in answers.items()
    ]
    found = Grouping.of(attributes, AuditOptions(depth=1, min_support=1, engine=Engine(threads=1)))
    rest = [found.group(int(at)).conditions for at in np.flatnonzero(found.is_rest)]
    assert rest == [(("genres[war]", "no"),)]


def groups_by(columns: dict[str, list[str]]) -> list[dict[str, object]]:
    """What tells groups of one or two attributes of three."""
    attributes = []
    for name, texts in columns.items():
        values, codes = np.unique(texts, return_inverse=True)
        attributes.append(Attribute(name, codes.astype(np.int32), tuple(values.tolist())))
    space = Grouping.of(attributes, AuditOptions(min_support=1, depth=2))
    found = [space.group(at).as_dict() for at in range(len(space.lattice))]
    return [group for group in found if len(group) < len(columns)]


@pytest.mark.parametrize("last", [(), (MISSING, MISSING), (OTHER, "no"), ("no", OTHER)])
def test_who_lacks_two_values_of_one_column_is_no_group(last):
    en, fr = ["yes", "yes", "no", *last[:1]], ["no", "yes", "yes", *last[1:]]
    groups = groups_by({"lang[en]": en, "lang[fr]": fr, "age": (["old", "new"] * 2)[: len(en)]})
    assert {"lang[en]": "yes", "lang[fr]": "yes"} in groups
    assert {"lang[en]": "no"} in groups
    assert {"lang[en]": "yes", "lang[fr]": "no"} not in groups


def test_the_many_values_that_a_group_lacks_are_counted_and_not_named():
    genres = {f"genres[{name}]": "no" for name in ("Action", "Comedy", "Crime", "Drama", "War")}
    documentary = Group.of({**genres, "genres[Documentary]": "yes", "year": 1990})
    assert documentary.label == "genres[Documentary]=yes, year=1990, 5 other genres=no"
    assert Group.of(dict.fromkeys(genres, "(missing)")).label == "genres=(missing)"
    # who has none of them has nothing that could be named instead
    assert Group.of(genres).label.startswith("genres[Action]=no, genres[Comedy]=no")
    few = Group.of({"lang[en]": "yes", "lang[fr]": "no"})
    assert few.label == "lang[en]=yes, lang[fr]=no"


GENDER = Attribute("gender", np.array([0, 1, 1, 0, 2]), ("F", "M", "(missing)"))


AGE = Attribute("age", np.array([0, 0, 1, 1, 0]), (18, 25))


MEMBER = Attribute("member", np.array([1, 0, 1, 0, 1]), (False, True))


ALL = (GENDER, AGE, MEMBER)


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


def test_group_of_nobody_is_refused():
    refuse_empty([Group.of(gender="F")], ALL, "groups.csv")
    with pytest.raises(InputError, match=r"groups.csv: no user is in the group gender=X\. Check"):
        refuse_empty([Group.of(gender="F"), Group.of(gender="X")], ALL, "groups.csv")
