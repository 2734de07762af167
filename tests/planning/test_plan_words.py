from __future__ import annotations

from fairrec.planning.words import plan_view
from fairrec.result.plan_schema import (
    Cost,
    Expected,
    Needed,
    PlanFacts,
    PlannedAttribute,
    PlannedGroups,
    Spread,
)

FACTS = PlanFacts(
    fairrec_version="1",
    n_users=4000,
    min_users=10,
    tables={},
    attributes={name: PlannedAttribute(n_values=2, values=()) for name in ("gender", "a\nb")},
    groups=(
        PlannedGroups(depth=1, n_groups=5, n_groups_below=1, smallest=12, median=700, largest=2500),
        PlannedGroups(depth=2, n_groups=0, n_groups_below=9),
    ),
    expected=(
        Expected(metric="n|dcg", users=12, n_groups=5),
        Expected(
            metric="n|dcg",
            users=1000,
            n_groups=2,
            harm=0.123456,
            certified=0.1,
            certified_median=0.08,
        ),
    ),
    needed=(
        Needed(
            metric="n|dcg",
            group={"gender": "F"},
            users=900,
            tolerance=0.05,
            times=2.5,
            users_needed=10_000,
        ),
        Needed(
            metric="n|dcg",
            group={"gender": "M"},
            users=3100,
            tolerance=0.05,
            times=1.0,
            users_needed=4000,
        ),
        Needed(metric="n|dcg", group={"gender": "F", "a": "1\n"}, users=12, tolerance=0.05),
    ),
    costs=(
        Cost(
            attribute="a\nb",
            n_groups=5,
            n_groups_left=2,
            users=700,
            cut_off=2.58,
            cut_off_left=2.24,
            found=0.1,
            certified=-0.012,
        ),
        Cost(attribute="gender", n_groups=5, n_groups_left=0, users=700, cut_off=2.58),
        Cost(
            depth=1,
            n_groups=5,
            n_groups_left=4,
            users=700,
            cut_off=2.58,
            cut_off_left=2.5,
            found=0.0,
            certified=0.02,
        ),
    ),
)


def test_a_plan_is_said_in_a_line_and_tables():
    view = plan_view(FACTS)
    assert view.title == r"4,000 users, 5 groups of at least 10 users by gender, a\nb"
    groups, expected, needed, costs = view.tables
    assert groups.rows == (("1", "5", "1", "12", "700", "2,500"), ("2", "0", "9", "-", "-", "-"))
    assert expected.rows == (
        ("n|dcg", "12", "5", "none can be shown", "-", "-"),
        ("n|dcg", "1,000", "2", "0.123", "0.100", "0.0800"),
    )
    assert needed.rows == (
        ("n|dcg", "gender=F", "900", "0.0500", "2.50", "10,000"),
        ("n|dcg", "gender=M", "3,100", "0.0500", "enough", "4,000"),
        ("n|dcg", r"gender=F, a=1\n", "12", "0.0500", "not with 1,000 times as many", "-"),
    )
    assert needed.note.endswith("Not shown: 3 groups of 1 attribute.")
    assert costs.title.endswith("a group of 700 users")
    assert costs.rows == (
        (r"a\nb", "3 of 5", "2.58 to 2.24", "10% smaller", "1.2% larger"),
        ("gender", "5 of 5", "-", "-", "-"),
        (
            "beyond depth 1, full intersections kept",
            "1 of 5",
            "2.58 to 2.50",
            "the same",
            "2% smaller",
        ),
    )
    assert expected.title.endswith("80% probability, in standard deviations among users")
    for table in view.tables:
        assert all(len(row) == len(table.columns) == len(table.numeric) for row in table.rows)


def test_a_size_without_groups_is_not_said_to_rule_out_nothing():
    assert "no group of the plan is about as large" in plan_view(FACTS).tables[1].note
    too_few = FACTS.model_copy(update={"expected": FACTS.expected[:1]})
    expected = plan_view(too_few).tables[1]
    assert expected.rows[0][-2:] == ("none", "none")
    assert "about as large" not in expected.note


def test_where_the_spread_is_known_harm_is_in_units_of_the_metric():
    known = FACTS.model_copy(update={"spread": {"n|dcg": Spread(sd=0.3)}})
    assert plan_view(known).tables[1].title.endswith("80% probability")


def test_what_is_not_known_has_no_rows():
    bare = FACTS.model_copy(update={"needed": (), "costs": ()})
    assert [len(table.rows) for table in plan_view(bare).tables] == [2, 2, 0, 0]
    few = FACTS.model_copy(
        update={"groups": (FACTS.groups[0].model_copy(update={"n_groups": 2}), FACTS.groups[1])}
    )
    assert "Not shown" not in plan_view(few).tables[2].note


def test_what_is_given_is_said_to_be_no_part_of_what_is_expected():
    note = plan_view(FACTS, ("list_length", "a\nb")).tables[1].note
    assert r"That users are compared given list_length, a\nb is no part of this" in note
    assert "given" not in plan_view(FACTS).tables[1].note


def test_a_larger_harm_in_a_larger_group_is_explained_where_there_is_one():
    explained = "from 30, 100, 300 and 1,000 users on, groups are in the next size class"
    assert explained not in plan_view(FACTS).tables[1].note
    rows = [
        Expected(metric=metric, users=users, n_groups=1, certified=harm)
        for metric, users, harm in (("a", 78, 0.07), ("a", 100, 0.08), ("b", 78, 0.09))
    ]
    for told, is_explained in ((rows, True), (rows[1:], False)):
        facts = FACTS.model_copy(update={"expected": tuple(told)})
        assert (explained in plan_view(facts).tables[1].note) == is_explained
