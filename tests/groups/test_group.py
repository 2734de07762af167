from __future__ import annotations

import numpy as np

from fairrec.groups.group import Group
from fairrec.groups.lattice import ANY
from fairrec.inputs.users import Attribute

ATTRIBUTES = (
    Attribute("gender", np.array([0, 1]), ("F", "M")),
    Attribute("age", np.array([0, 0]), (18, 25)),
)


def test_codes_are_named_and_attributes_that_do_not_matter_are_left_out():
    assert Group.of_codes([1, 0], ATTRIBUTES) == Group.of(gender="M", age=18)
    assert Group.of_codes([ANY, 1], ATTRIBUTES).conditions == (("age", 25),)
    assert Group.of_codes([ANY, ANY], ATTRIBUTES) == Group.of()


def test_the_order_of_conditions_does_not_tell_groups_apart():
    one, other = Group.of({"gender": "F", "age": 18}), Group.of({"age": 18, "gender": "F"})
    assert one == other
    assert {one: "seen"}[other] == "seen"
    assert one != Group.of(gender="F", age="18")
    assert one != Group.of(gender="F")
    assert one != {"gender": "F", "age": 18}


def test_the_label_names_the_conditions_in_their_order():
    assert Group.of({"age": 18, "gender": "F"}).label == "age=18, gender=F"
    assert Group.of().label == "everyone"
    assert Group.of({"age": 18}, gender="F").as_dict() == {"age": 18, "gender": "F"}


def test_the_many_values_that_a_group_lacks_are_counted_and_not_named():
    genres = {f"genres[{name}]": "no" for name in ("Action", "Comedy", "Crime", "Drama", "War")}
    documentary = Group.of({**genres, "genres[Documentary]": "yes", "year": 1990})
    assert documentary.label == "genres[Documentary]=yes, year=1990, 5 other genres=no"
    assert Group.of(dict.fromkeys(genres, "(missing)")).label == "genres=(missing)"
    # who has none of them has nothing that could be named instead
    assert Group.of(genres).label.startswith("genres[Action]=no, genres[Comedy]=no")
    few = Group.of({"lang[en]": "yes", "lang[fr]": "no"})
    assert few.label == "lang[en]=yes, lang[fr]=no"
