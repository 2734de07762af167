"""Policies: what they may state, errors about them, and a first one from an audit."""

from __future__ import annotations

import tomllib

import jsonschema
import polars as pl
import pytest

import fairrec
from fairrec.core.errors import FairRecError, InputError, OutputError, UnknownNameError
from fairrec.gating.gate import init_policy, policy_text, read_policy
from fairrec.gating.policy import Policy, parse_policy
from tests.builders import audit, make_tables
from tests.gating.judged_world import planted
from tests.grouped_options import group_options

RULE = {"metric": "ndcg@10", "max_worse": 0.03}


def read(rule, require=None):
    return parse_policy({"rule": rule, "require": require or {}}, "p.toml")


def test_the_example_of_the_documents_is_read():
    policy = read(
        [
            RULE,
            {"metric": "urp@10", "max_difference": "5%"},
            {"metric": "ndcg@10", "min_ratio": 0.8, "groups": ["gender=F", {"age": "56+"}]},
            {"metric": "ndcg@10", "baseline": "no_group_worse", "tolerance": 0.01},
            {"metric": "ndcg@10"},
        ],
        {"max_undefined": 0.05, "certify_from": 200},
    )
    assert [rule.kind for rule in policy.rule] == [
        *("max_worse", "max_difference", "min_ratio", "baseline", "max_worse")
    ]
    assert [str(rule.limit) for rule in policy.rule] == ["0.03", "5%", "None", "0.01", "None"]
    assert policy.rule[2].groups == ({"gender": "F"}, {"age": "56+"})
    assert (policy.require.max_undefined, policy.require.certify_from) == (0.05, 200)


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ([], "p.toml: has no rule, so there is nothing to pass"),
        ([{}], "p.toml: rule 1: metric is missing"),
        (
            [RULE, {"metric": "a", "max_wors": 1}],
            "rule 2: No key 'max_wors'. Did you mean 'max_worse'",
        ),
        ([{**RULE, "max_worse": -1}], "rule 1: max_worse must be an amount above 0"),
        ([{**RULE, "max_worse": "much"}], "not 'much'"),
        ([{**RULE, "max_worse": True}], "rule 1: max_worse must be an amount"),
        (
            [{"metric": "a", "min_ratio": 1.2}],
            "min_ratio must be a number between 0 and 1, not 1.2",
        ),
        ([{**RULE, "min_ratio": 0.8}], "has max_worse and min_ratio, and a rule has one limit"),
        ([{**RULE, "tolerance": 0.1}], "has tolerance, which goes with baseline"),
        ([{**RULE, "severity": "error"}], "severity must be 'fail' or 'warn', not 'error'"),
        ([{**RULE, "groups": ["gender"]}], "groups must be a group such as"),
        ([{**RULE, "groups": "gender=F"}], "groups must be a list of groups such as ['gender=F']"),
        ([{"metric": 3}], "metric is 3, and must be"),
        (["no table"], "rule 1: must be a table under"),
        ("text", "rule: must be"),
    ],
)
def test_what_a_rule_may_not_state(rule, says):
    with pytest.raises(FairRecError) as error:
        read(rule)
    assert says in str(error.value)
    assert "\n" not in str(error.value) or "has no rule" in says


@pytest.mark.parametrize(
    ("require", "says"),
    [
        ({"certify": 2}, "require: No key 'certify'. Did you mean 'certify_from'"),
        ({"certify_from": 0}, "certify_from must be a whole number from 1, not 0"),
        ({"max_undefined": 5}, "max_undefined must be a number from 0 to 1, not 5"),
    ],
)
def test_what_may_not_be_required(require, says):
    with pytest.raises((InputError, UnknownNameError), match=says):
        read([RULE], require)


def test_hostile_text_stays_on_one_line():
    with pytest.raises(FairRecError) as error:
        read([{"metric": "a", "\x1b[31m\nx": 1}])
    assert "\x1b" not in str(error.value) and "\n" not in str(error.value)


def test_the_schema_knows_what_is_read():
    schema = Policy.model_json_schema()
    jsonschema.validate({"rule": [RULE], "require": {"certify_from": 3}}, schema)
    jsonschema.validate({"rule": [{"metric": "a", "max_worse": "5%"}]}, schema)
    for wrong in ({"rule": []}, {"rule": [{**RULE, "x": 1}]}, {"rule": [{"max_worse": 1}]}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema)


ONE_RULE = '[[rule]]\nmetric = "mrr@5"\nmax_worse = 0.5\n'


def made(**options):
    tables = make_tables(80)
    return audit(
        tables.predictions, tables.users, **{"by": "gender", "metrics": ["mrr@5"], **options}
    )


@pytest.mark.parametrize(
    ("asked", "options", "says"),
    [
        ('by = ["gender", "age:3"]', {}, "it is not by age:3"),
        ("depth = 2", {"depth": 1}, "depth is 1, not 2"),
        ("alpha = 0.05", {"alpha": 0.2}, r"alpha is 0\.2, not 0\.05"),
        ('tolerance = "mrr=0.1"', {"tolerance": 0.3}, r"tolerance is 0\.3, not mrr@5=0\.1"),
        ('adjust_for = ["list_length"]', {}, "adjust_for is nothing, not list_length"),
        ('relevant = "label>=1"', {}, "relevant is None, not label>=1"),
    ],
)
def test_another_audit_than_asked_for_is_refused(tmp_path, asked, options, says):
    file = tmp_path / "fairrec.toml"
    file.write_text(f"[audit]\n{asked}\n{ONE_RULE}")
    with pytest.raises(InputError, match=f"asks for another audit than this one: {says}"):
        fairrec.gate(made(**options), file)


def test_an_audit_of_more_than_asked_for_is_judged(tmp_path):
    file = tmp_path / "fairrec.toml"
    file.write_text(f'[audit]\nby = ["gender"]\nalpha = 0.05\n{ONE_RULE}')
    read_policy(file).refuse_other_audit(made(by="gender,age:3").summary)


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
    again = fairrec.audit(
        tables.predictions, users=tables.users, about=fairrec.About(settings=file)
    )
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
    again = fairrec.audit(tables.predictions, **group_options(**given, settings=file))
    assert [about.higher_is_better for about in again.summary.metrics.values()] == [True, False]
    assert len(fairrec.gate(again, file).rules) == len(fairrec.gate(result, file).rules)


def test_a_share_that_matters_stays_a_share():
    tables = make_tables(80)
    result = audit(tables.predictions, tables.users, "gender", metrics=["mrr@5"], tolerance="5%")
    assert 'max_worse = "5%"  # the tolerance of the audit\n' in policy_text(result)


def test_every_option_that_a_result_knows_is_kept(tmp_path):
    tables = make_tables(80)
    result = audit(
        tables.predictions,
        tables.users,
        "gender",
        metrics=["mrr@5"],
        adjust_for="list_length",
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
    again = fairrec.audit(
        tables.predictions, users=tables.users, about=fairrec.About(settings=file)
    )
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
        values=values,
        users=users,
        by=["g\n[x]"],
        about=fairrec.About(title="t\n[[rule]]"),
        statistics=fairrec.Statistics(permutations=39),
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
    result = fairrec.audit(
        pl.DataFrame({"user_id": range(300), "item_id": lists}), **group_options(**given)
    )
    asked = tomllib.loads(text := policy_text(result))["audit"]
    assert asked["side"] == "items" and asked.get("unit", "") == unit
    assert f"share of {'providers' if unit else 'items'} without a value" in text
    assert "users" not in text
