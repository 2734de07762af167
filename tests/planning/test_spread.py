from __future__ import annotations

import math

import polars as pl
import pytest

import fairrec
from fairrec.auditing.options import PlanOptions
from fairrec.core.errors import InputError
from fairrec.metrics.parsing import parse_metric
from fairrec.metrics.value_columns import metric_of_column
from fairrec.planning.plan import spread_of
from fairrec.result.plan_schema import Spread
from tests.auditing.plan_builders import make_plan, write_world

USERS = pl.DataFrame({"user_id": range(100), "gender": ["F", "M"] * 50})


def test_what_is_assumed_holds_for_every_metric():
    metrics = [parse_metric("ndcg"), parse_metric("auc")]
    assumed = Spread(sd=0.3, mean=0.5)
    assert spread_of(PlanOptions(mean=0.5, sd=0.3), None, metrics) == {
        "ndcg@5": assumed,
        "auc": assumed,
    }
    assert spread_of(PlanOptions(), None, metrics) == {}
    assert spread_of(PlanOptions(sd=0.5), None, metrics)["auc"] == Spread(sd=0.5)
    unbounded = metric_of_column("watch", {}, "the values")
    assert spread_of(PlanOptions(sd=7), None, [unbounded])["watch"] == Spread(sd=7)


@pytest.mark.parametrize(
    ("mean", "sd", "says"),
    [
        (1.2, 0.1, "mean=1.2: ndcg@5 runs from 0 to 1. Give a mean between these"),
        (-0.1, 0.1, "mean=-0.1: ndcg@5 runs from 0 to 1."),
        (0.1, 0.35, "sd=0.35: with a mean of 0.1, ndcg@5 has at most 0.3. Give less"),
        (None, 0.51, "sd=0.51: ndcg@5 runs from 0 to 1, so it has at most 0.5. Give less"),
        (0.0, 0.1, "sd=0.1: with a mean of 0, ndcg@5 has at most 0."),
    ],
)
def test_what_no_values_between_the_bounds_have_is_refused(mean, sd, says):
    with pytest.raises(InputError) as caught:
        spread_of(PlanOptions(mean=mean, sd=sd), None, [parse_metric("ndcg")])
    assert str(caught.value).startswith(says)


def test_the_spread_of_a_rate_is_possible_but_for_what_is_rounded():
    made = spread_of(PlanOptions(mean=0.05, sd=0.218), None, [parse_metric("hit")])
    assert made["hit@5"].sd == 0.218


def test_a_pilot_gives_mean_and_standard_deviation_of_each_metric(tmp_path):
    pilot = pl.DataFrame(
        {"user_id": range(4), "ndcg@5": [0.0, 1.0, None, 0.5], "auc": [1, 0, 1, 0]}
    )
    made = fairrec.plan(users=USERS, by="gender", metrics="ndcg,auc", pilot=pilot)
    assert made.facts.spread["ndcg@5"] == Spread(mean=0.5, sd=0.5)
    assert made.facts.spread["auc"].sd == pytest.approx(math.sqrt(1 / 3), rel=1e-5)
    pilot.write_parquet(tmp_path / "pilot.parquet")
    of_file = fairrec.plan(
        users=USERS, by="gender", metrics="ndcg,auc", pilot=tmp_path / "pilot.parquet"
    )
    assert of_file.facts.spread == made.facts.spread
    assert len(of_file.facts.tables["pilot"].sha256) == 64


def test_per_user_values_of_an_audit_are_a_pilot(tmp_path):
    write_world(tmp_path)
    result = fairrec.audit(
        tmp_path / "predictions.parquet", users=tmp_path / "users.parquet", by="gender",
        metrics="ndcg", permutations=0,
    )  # fmt: skip
    result.save(tmp_path / "first", report=False)
    made = make_plan(tmp_path, pilot=tmp_path / "first" / "per_user.parquet")
    assert made.facts.spread["ndcg@5"].mean == pytest.approx(
        result.metrics["ndcg@5"].mean, rel=1e-5
    )
    assert made.facts.spread["ndcg@5"].sd == pytest.approx(result.metrics["ndcg@5"].sd, rel=1e-5)
