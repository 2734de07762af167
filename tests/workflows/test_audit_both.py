"""Both sides of the same lists, each by the stages it has by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

import fairrec
from fairrec.core.errors import FairRecError, InputError
from fairrec.inputs.formats import open_path
from fairrec.inputs.frames import Rows
from tests.workflows.two_sides import audit_two_sides, is_same, two_sided


def test_each_side_is_the_audit_that_it_is_by_itself():
    tables = two_sided()
    both = audit_two_sides(metrics="mrr@5,exposure@5", matters="mrr@5=0.1,exposure@5=0.01")
    lists, test = tables["predictions"], tables["test"]
    users = fairrec.audit(
        lists,
        test=test,
        users=tables["users"],
        by="gender",
        metrics="mrr@5",
        matters={"mrr@5": 0.1},
        permutations=99,
    )
    items = fairrec.audit(
        lists,
        test=test,
        items=tables["items"],
        side="items",
        by="kind",
        metrics="exposure@5",
        matters={"exposure@5": 0.01},
        permutations=99,
    )
    assert is_same(both.users, users)
    assert is_same(both.items, items)
    assert both.users.metrics["mrr@5"].findings[0].group == {"gender": "F"}
    assert both.items.metrics["exposure@5"].findings[0].group == {"kind": "b"}
    assert both.outcome == "worse by more"


def test_the_call_of_each_side_and_of_both_repeats_it():
    both = audit_two_sides()
    tables = two_sided()
    found = {}
    for command in (both.command, both.users.summary.command, both.items.summary.command):
        found[command] = eval(command, {"fairrec": fairrec, **tables})
    again, users, items = found.values()
    assert is_same(again.users, both.users)
    assert is_same(users, both.users)
    assert is_same(again.items, both.items)
    assert is_same(items, both.items)


def test_every_column_of_a_file_is_read_once(tmp_path: Path, monkeypatch):
    files = {}
    for name, table in two_sided().items():
        files[name] = tmp_path / f"{name}.parquet"
        table.write_parquet(files[name])
    n_read: dict[tuple[int, str], int] = {}
    read = Rows.read

    def counted(self, columns, roles):
        for column in columns.values():
            n_read[id(self), column] = n_read.get((id(self), column), 0) + 1
        return read(self, columns, roles)

    monkeypatch.setattr(Rows, "read", counted)
    opened = []
    monkeypatch.setattr(
        "fairrec.inputs.tables.open_path",
        lambda path, where: opened.append(path) or open_path(path, where),
    )
    both = fairrec.audit(**files, side="both", by_users="gender", by_items="kind", permutations=0)
    assert sorted(opened) == sorted(files.values())
    assert {*n_read.values()} == {1}
    assert both.users.summary.inputs["predictions"].sha256
    assert both.items.summary.inputs["predictions"] == both.users.summary.inputs["predictions"]


def test_names_of_columns_reach_the_tables_that_have_them():
    tables = two_sided()
    renamed = {
        "users": tables["users"].rename({"user_id": "who"}),
        "items": tables["items"].rename({"item_id": "what"}),
    }
    both = audit_two_sides(**renamed, columns={"users.user_id": "who", "items.item_id": "what"})
    plain = audit_two_sides()
    assert both.users.group_table.equals(plain.users.group_table)
    assert both.items.group_table.equals(plain.items.group_table)
    assert both.items.summary.columns == {"items.item_id": "what"}
    with pytest.raises(InputError, match="wher"):
        audit_two_sides(columns={"user_id": "wher"})


def test_a_metric_of_users_that_needs_the_items_gets_them():
    both = audit_two_sides(metrics="share@5[kind=b]", better="share@5[kind=b]=higher")
    assert "items" in both.users.summary.inputs
    assert [*both.items.metrics] == ["exposure@5", "exposure_to_relevance@5"]


def test_units_are_of_the_items():
    tables = two_sided()
    maker = tables["items"].with_columns(maker=tables["items"]["item_id"] // 2)
    both = audit_two_sides(items=maker, unit="maker")
    assert both.items.summary.unit.many == "makers"
    assert both.users.summary.unit.many == "users"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"by": "gender"}, "each by attributes of their own.*without by"),
        ({"by_items": ()}, r"by_users=\['gender'\] and by_items=\['category'\]"),
        ({"side": "items", "by": "kind"}, "by_users is for an audit of both sides"),
        ({"search": "adaptive"}, "side='both' needs the lists of all users at once"),
        ({"values": two_sided()["test"]}, "Leave out values"),
        ({"items": None}, "compares items by their attributes"),
        ({"users": None}, "The users table is missing"),
        ({"predictions": None}, "The predictions table is missing"),
        ({"metrics": "exposur@5"}, "Did you mean 'exposure'.*exposure_to_relevance, hit,"),
        ({"metrics": "mrr@5", "matters": "exposur@5=0.1"}, "Did you mean 'exposure'"),
        ({"test": None}, r"metrics=\['urd@5'\] with items=\.\.\., metrics=\['urp@5'\] with hist"),
        ({"min_support": 100}, "name fewer attributes in by_items"),
        ({"min_support": 5000}, "name fewer attributes in by_users"),
    ],
)
def test_what_does_not_go_with_both_sides_is_said(options, said):
    given = {"side": "both", "by_users": "gender", "by_items": "kind", **two_sided(), **options}
    with pytest.raises(FairRecError, match=said):
        fairrec.audit(**given)


def test_settings_say_both_sides_and_a_plan_is_of_one(tmp_path: Path):
    file = tmp_path / "fairrec.toml"
    file.write_text(
        '[audit]\nside = "both"\nby_users = ["gender"]\nby_items = ["kind"]\npermutations = 0\n'
    )
    both = fairrec.audit(**two_sided(), settings=file)
    for one in (both.users, both.items):
        assert "by_items" in one.summary.settings.options
    users = two_sided()["users"]
    plan = fairrec.plan(users=users, by="gender", metrics="mrr@5").save(tmp_path / "plan.toml")
    with pytest.raises(InputError, match="A plan is of one side"):
        audit_two_sides(plan=plan)
    with pytest.raises(InputError, match="both"):
        fairrec.plan(settings=file, users=users, metrics="mrr@5")
