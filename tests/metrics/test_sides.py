from __future__ import annotations

from fairrec.core.matters import Matters
from fairrec.metrics.parsing import of_side


def test_each_side_gets_its_attributes_metrics_and_amounts():
    asked = {
        "side": "both",
        "by_users": ("gender",),
        "by_items": ("kind",),
        "users": "users.csv",
        "unit": "maker",
        "given": ("age",),
        "metrics": ("ndcg@5", "Exposure@5", "share@5[kind=a]"),
        "better": {"share@5[kind=a]": True},
        "matters": Matters.parsed("ndcg@5=0.03,exposure@5=0.1"),
    }
    assert of_side(asked, "users") == {
        "side": "users",
        "by": ("gender",),
        "users": "users.csv",
        "given": ("age",),
        "metrics": ["ndcg@5", "share@5[kind=a]"],
        "better": {"share@5[kind=a]": True},
        "matters": Matters.parsed("ndcg@5=0.03"),
    }
    assert of_side(asked, "items") == {
        "side": "items",
        "by": ("kind",),
        "unit": "maker",
        "metrics": ["Exposure@5"],
        "better": {},
        "matters": Matters.parsed("exposure@5=0.1"),
    }


def test_a_side_of_which_nothing_is_named_has_what_its_tables_allow():
    asked = {"metrics": ("ndcg@5",), "matters": Matters.parsed("ndcg@5=0.03")}
    of_items = of_side(asked, "items")
    assert of_items["metrics"] is None
    assert of_items["matters"] is None
    assert of_side({"matters": Matters.parsed("5%")}, "items")["matters"] == Matters.parsed("5%")
