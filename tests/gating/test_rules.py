"""Policies: what they may state, and how what they may not is refused."""

from __future__ import annotations

import jsonschema
import pytest

from fairrec.core.errors import FairRecError, InputError, UnknownNameError
from fairrec.gating.policy import Policy, policy_in

RULE = {"metric": "ndcg@10", "max_worse": 0.03}


def read(rule, require=None):
    return policy_in({"rule": rule, "require": require or {}}, "p.toml")


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


def test_a_limit_that_no_float_holds_is_refused():
    with pytest.raises(InputError, match="an amount above 0"):
        policy_in({"rule": [{"metric": "ndcg", "max_worse": 10**400}]}, "p.toml")
