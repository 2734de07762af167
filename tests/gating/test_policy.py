"""Policies: what they may state, errors about them, and a first one from an audit."""

from __future__ import annotations

import tomllib

import jsonschema
import numpy as np
import pytest

import fairrec
from fairrec.core.errors import FairRecError, InputError, OutputError, UnknownNameError
from fairrec.gating.gate import init_policy, policy_text, read_policy
from fairrec.gating.policy import Policy, parse_policy
from tests.builders import audit, make_tables
from tests.gating.judged_world import audit_values, planted

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
    assert read([{**RULE, "groups": "gender=F"}]).rule[0].groups == ({"gender": "F"},)
    assert (policy.require.max_undefined, policy.require.certify_from) == (0.05, 200)


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ([], "p.toml: has no rule, so there is nothing to pass"),
        ([{}], "p.toml: rule 1: metric: Field required."),
        (
            [RULE, {"metric": "a", "max_wors": 1}],
            "rule 2: No key 'max_wors'. Did you mean 'max_worse'",
        ),
        ([{**RULE, "max_worse": -1}], "rule 1: max_worse: Input should be an amount above 0"),
        ([{"metric": "a", "min_ratio": 1.2}], "min_ratio: Input should be less than 1, not 1.2"),
        ([{**RULE, "min_ratio": 0.8}], "has max_worse and min_ratio, and a rule has one limit"),
        ([{**RULE, "tolerance": 0.1}], "has tolerance, which goes with baseline"),
        ([{**RULE, "groups": ["gender"]}], "groups: Input should be a group such as"),
        ([{"metric": "a", "\x1b[31m\nx": 1}], r"No key '\x1b[31m\nx'"),
        (
            [{"metric": "a", "max_affected": 0.1, "groups": ["gender=F"]}],
            "about all users, and names groups",
        ),
        (
            [{"metric": "a", "min_ratio": 0.8, "unknown": "worst"}],
            "goes with max_worse or max_diff",
        ),
        ([{**RULE, "unknown": "best"}], "unknown: Input should be 'worst', not 'best'"),
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
        ({"certify_from": 0}, "certify_from: Input should be greater than or equal to 1, not 0"),
        ({"max_undefined": 5}, "max_undefined: Input should be less than or equal to 1, not 5"),
    ],
)
def test_what_may_not_be_required(require, says):
    with pytest.raises((InputError, UnknownNameError), match=says):
        read([RULE], require)


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
        ("tolerance = 0.1", {}, r"no tolerance was set, not 0\.1"),
        ('adjust_for = ["list_length"]', {}, "adjust_for is nothing, not list_length"),
        ('relevant = "label>=1"', {}, "no relevant was set, not label>=1"),
    ],
)
def test_another_audit_than_asked_for_is_refused(tmp_path, asked, options, says):
    file = tmp_path / "fairrec.toml"
    file.write_text(f"[audit]\n{asked}\n{ONE_RULE}")
    with pytest.raises(InputError, match=f"asks for another audit than this one: {says}"):
        fairrec.gate(made(**options), file)


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
    plans = {"g\n[x]": ['u\n"', "v"] * 30}
    result = audit_values(plans, np.arange(60) % 7, 'a"\n]]', title="t\n[[rule]]", permutations=39)
    read = tomllib.loads(policy_text(result))
    assert [rule["metric"] for rule in read["rule"]] == ['a"\n]]']
    assert read["audit"]["by"] == ["g\n[x]"]


def test_without_anything_to_limit_there_is_no_policy():
    tables = make_tables(80)
    result = audit(tables.predictions, tables.users, "gender", metrics=["mrr@5"], permutations=0)
    with pytest.raises(InputError, match="nothing to limit"):
        policy_text(result)
