from __future__ import annotations

import numpy as np
import pytest

from fairrec import Engine
from fairrec.core.audit_options import AuditOptions
from fairrec.groups.grouping import EVERYONE, Grouping
from fairrec.inputs.users import MISSING, OTHER, Attribute
from tests.groups.small_grouping import grouping_of
from tests.search.search_worlds import skewed_space, space_of, users_of


@pytest.mark.parametrize("depth", [None, 1, 2])
def test_full_combinations_are_the_cells_with_enough_users(depth):
    space = skewed_space(0, (2, 3, 4), 200, 5, depth)
    assert 0 < len(space.full) < len(space.cells)
    for group, cell, codes, size in zip(
        space.full, space.cell_of_full, space.codes.tolist(), space.sizes, strict=True
    ):
        users = np.flatnonzero(space.cells.of_user == cell).tolist()
        assert users == users_of(space, int(group))
        assert len(users) == size >= 5
        assert space.cells.codes[:, cell].tolist() == codes


@pytest.mark.parametrize("depth", [None, 2])
def test_cells_of_a_group_hold_its_users(depth):
    space = skewed_space(1, (2, 3, 4), 200, 5, depth)
    for group in range(len(space.lattice)):
        is_in = np.isin(space.cells.of_user, space.cells_in(group))
        assert np.flatnonzero(is_in).tolist() == users_of(space, group)
    assert space.cells_in(EVERYONE).tolist() == [*range(len(space.cells))]


def test_a_position_has_a_group_where_enough_users_are():
    # nobody at (0, 1), one user at (1, 0)
    space = space_of([[0, 0, 1, 1, 1], [0, 0, 0, 1, 1]], (2, 2), min_users=2)
    found = space.groups_at([[0, 0], [0, 1], [1, 0], [1, 1]])
    assert found.tolist() == [space.full[0], -1, -1, space.full[1]]


def test_combinations_are_counted_whether_or_not_anybody_has_them():
    space = space_of([[0, 0], [1, 2]], (3, 111), min_users=1)
    assert space.n_combinations == 333
    assert space.n_users == 2
    # the product may be beyond what an array can count
    assert space_of([[0]] * 30, (100,) * 30).n_combinations == 100**30


def test_the_complement_of_a_group_is_all_others_where_they_are_one_group():
    # a has two values, b three, and c two of which one has too few users
    codes = [[0] * 6 + [1] * 6, [0, 1, 2] * 4, [0] * 11 + [1]]
    found = grouping_of(codes, min_users=2, depth=2)
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


def test_other_attributes_with_such_names_make_groups_as_any_do():
    # nobody would lack all values of one column
    car, bike = ["yes", "yes", "no", "no"], ["no", "yes", "yes", "no"]
    groups = groups_by({"owns[car]": car, "owns[bike]": bike, "age": ["old", "new"] * 2})
    assert {"owns[car]": "no", "owns[bike]": "no"} in groups
    assert {"owns[car]": "yes", "owns[bike]": "no"} in groups
