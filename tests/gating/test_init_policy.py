"""A first policy from an audit."""

from __future__ import annotations

import tomllib

import polars as pl
import pytest

import fairrec
from fairrec.core.errors import InputError, OutputError
from fairrec.gating.gate import init_policy, policy_text, read_policy
from tests.builders import audit, make_tables
from tests.gating.judged_world import planted


def test_it_can_be_used_as_it_is(tmp_path):
    folder = planted().save(tmp_path / "audit", report=False)
    file = init_policy(folder, tmp_path / "fairrec.toml")
    found = fairrec.gate(folder, file)
    rules = {rule.metric: rule for rule in found.policy.rule}
    assert [*rules] == ["hits", "clicks", "wait", "lean"]
    assert [rule.kind for rule in rules.values()] == [*["max_worse"] * 3, "max_difference"]
    assert str(rules["hits"].max_worse) == "0.03" and str(rules["clicks"].max_worse) == "5%"
    text = file.read_text()
    for rule in found.rules[:4]:
        assert f"# now {rule.outcome}: {rule.measured}\n" in text
    # every group of a single attribute counts, whatever its size in the next audit
    assert found.policy.require.certify_from is None


def test_an_audit_by_its_options_is_the_same(tmp_path):
    tables = make_tables(80)
    result = audit(
        tables.predictions,
        tables.users,
        "gender,age:3",
        metrics=["mrr@5", "auc"],
        tolerance="auc=0.1",
    )
    file = tmp_path / "fairrec.toml"
    file.write_text(policy_text(result))
    again = fairrec.audit(tables.predictions, users=tables.users, settings=file)
    assert (again.summary.by, [*again.metrics]) == (result.summary.by, [*result.metrics])
    assert again.summary.tolerance == result.summary.tolerance


def test_the_better_end_that_was_said_of_a_metric_is_kept(tmp_path):
    tables = make_tables(80)
    items = tables.predictions.select("item_id").unique().with_row_index("price")
    given = {"users": tables.users, "items": items}
    result = audit(
        tables.predictions,
        tables.users,
        "gender",
        items=items,
        metrics=["auc", "mean@5[price]"],
        better="mean@5[price]=lower",
    )
    folder, file = result.save(tmp_path / "audit", report=False), tmp_path / "fairrec.toml"
    init_policy(folder, file)
    again = fairrec.audit(tables.predictions, **given, settings=file)
    assert [about.higher_is_better for about in again.summary.metrics.values()] == [True, False]
    assert len(fairrec.gate(again, file).rules) == len(fairrec.gate(result, file).rules)


def test_a_share_that_matters_stays_a_share():
    tables = make_tables(80)
    result = audit(tables.predictions, tables.users, "gender", metrics=["mrr@5"], tolerance="5%")
    assert 'max_worse = "5%"  # what matters in the audit\n' in policy_text(result)


def test_every_option_that_a_result_knows_is_kept(tmp_path):
    tables = make_tables(80)
    result = audit(
        tables.predictions,
        tables.users,
        "gender",
        metrics=["mrr@5"],
        given="list_length",
        depth=1,
        min_support=5,
        alpha=0.01,
        permutations=500,
        max_undefined=0.2,
        relevant="label>=1",
        seed=3,
    )
    file = tmp_path / "fairrec.toml"
    file.write_text(policy_text(result))
    again = fairrec.audit(tables.predictions, users=tables.users, settings=file)
    assert again.group_table.equals(result.group_table)
    read_policy(file).refuse_other_audit(again.summary)


def test_an_existing_file_stays(tmp_path):
    folder = planted().save(tmp_path / "audit", report=False)
    (tmp_path / "fairrec.toml").write_text("mine")
    with pytest.raises(OutputError, match="exists already"):
        init_policy(folder, tmp_path / "fairrec.toml")
    assert (tmp_path / "fairrec.toml").read_text() == "mine"


def test_hostile_names_stay_within_their_comments():
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(0)
    values = pl.DataFrame({"user_id": range(60), 'a"\n]]': rng.random(60)})
    users = pl.DataFrame({"user_id": range(60), "g\n[x]": ['u\n"', "v"] * 30})
    result = fairrec.audit(
        values=values, users=users, by=["g\n[x]"], title="t\n[[rule]]", permutations=39
    )
    import tomllib

    read = tomllib.loads(policy_text(result))
    assert [rule["metric"] for rule in read["rule"]] == ['a"\n]]']
    assert read["audit"]["by"] == ["g\n[x]"]


def test_without_anything_to_limit_there_is_no_policy():
    tables = make_tables(80)
    result = audit(tables.predictions, tables.users, "gender", metrics=["mrr@5"], permutations=0)
    with pytest.raises(InputError, match="nothing to limit"):
        policy_text(result)


@pytest.mark.parametrize("unit", ["", "provider_id"])
def test_a_policy_of_items_asks_for_items(unit):
    items = {"item_id": range(60), "made": ["here"] * 40 + ["abroad"] * 20}
    given = {
        "items": pl.DataFrame({**items, "provider_id": [f"p{i // 2}" for i in range(60)]}),
        "side": "items",
        "by": "made",
        "unit": unit,
        "permutations": 99,
    }
    lists = [[(7 * u + r) % 40 for r in range(4)] + [40 + u % 20] for u in range(300)]
    result = fairrec.audit(pl.DataFrame({"user_id": range(300), "item_id": lists}), **given)
    asked = tomllib.loads(text := policy_text(result))["audit"]
    assert asked["side"] == "items" and asked.get("unit", "") == unit
    assert f"share of {'providers' if unit else 'items'} without a value" in text
    assert "users" not in text
