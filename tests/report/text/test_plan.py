from __future__ import annotations

from fairrec.report.text.plan import plan_view
from fairrec.result.plan_schema import (
    Expected,
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
        Expected(metric="n|dcg", users=1000, n_groups=2, harm=0.123456),
    ),
)


def test_a_plan_is_said_in_a_line_and_two_tables():
    view = plan_view(FACTS)
    assert view.title == r"4,000 users, 5 groups of at least 10 users by gender, a\nb"
    groups, expected = view.tables
    assert groups.rows == (("1", "5", "1", "12", "700", "2,500"), ("2", "0", "9", "-", "-", "-"))
    assert expected.rows == (
        ("n|dcg", "12", "5", "none can be shown"),
        ("n|dcg", "1,000", "2", "0.123"),
    )
    assert expected.title.endswith("80% probability, in standard deviations among users")
    for table in view.tables:
        assert all(len(row) == len(table.columns) == len(table.numeric) for row in table.rows)


def test_where_the_spread_is_known_harm_is_in_units_of_the_metric():
    known = FACTS.model_copy(update={"spread": {"n|dcg": Spread(sd=0.3)}})
    assert plan_view(known).tables[1].title.endswith("80% probability")
