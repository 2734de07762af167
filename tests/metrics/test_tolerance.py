"""What matters, by the names of metrics and within what their values can be."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.core.errors import InputError
from fairrec.core.options import from_command_line
from fairrec.core.tolerance import Tolerance
from fairrec.metrics.measured import Measured
from fairrec.metrics.parsing import parse_metric
from fairrec.metrics.tolerance import parse_tolerance, refuse_unfit_to
from fairrec.metrics.value_columns import metric_of_column

WANTED = [parse_metric("ndcg@10"), parse_metric("mrr")]
WATCH = metric_of_column("watch", {}, "the values")


def checked(given) -> str:
    return str(parse_tolerance(Tolerance.parsed(given), WANTED))


def measured(values: list[float], is_complete: bool = True) -> Measured:
    everyone = np.ones(len(values), dtype=bool)
    is_scored = everyone if is_complete else np.arange(len(values)) > 0
    return Measured((WATCH,), np.array([values], dtype=np.float64), is_scored, everyone)


def test_metrics_are_named_as_they_are_where_they_are_asked_for():
    assert checked("NDCG@10=0.03") == "ndcg@10=0.03"
    assert checked({"mrr": "5%", "ndcg@10": 0.99}) == "mrr@5=5%,ndcg@10=0.99"
    assert parse_tolerance(None, WANTED) is None
    # a share of nothing else does no harm, so that settings may be for more metrics
    assert checked("ndcg@10=0.1,mrr=0.1,5%") == "ndcg@10=0.1,mrr@5=0.1,5%"


def test_metrics_of_items_are_named_in_the_same_way():
    wanted = [parse_metric("exposure@5", "items"), parse_metric("recommended@3", "items")]
    found = parse_tolerance(Tolerance.parsed("exposure=0.01,Recommended@3=0.02"), wanted)
    assert str(found) == "exposure@5=0.01,recommended@3=0.02"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("ndgc@10=0.03", "tolerance: No audited metric 'ndgc@10'. Did you mean 'ndcg@10'? Known: "),
        ("auc=0.03", "tolerance: No audited metric 'auc'. Known: mrr@5, ndcg@10."),
        ("NDCG@10=0.03,ndcg@10=0.05", "tolerance: 'ndcg@10' is named twice."),
        (5, "tolerance='5': ndcg@10 runs from 0 to 1, so no group can be worse by more. Give an "
            "amount below 1. Was 5% of the mean meant?"),
        (1, "tolerance='1': ndcg@10 runs from 0 to 1, "),
        ("ndcg@10=0.1,mrr=0.1,500", "tolerance='500': every metric that is audited has "),
        ("ndcg@10=0.1,500", "tolerance='500': mrr@5 runs from 0 to 1, "),
        ("mrr=2", "tolerance='2': mrr@5 runs from 0 to 1, "),
    ],
)  # fmt: skip
def test_what_is_no_harm_of_an_audited_metric_is_refused(given, says):
    with pytest.raises(InputError) as caught:
        checked(given)
    assert str(caught.value).startswith(says)


def test_nobody_is_asked_whether_more_than_everything_was_meant():
    with pytest.raises(InputError, match=r"Give an amount below 1\.$"):
        checked(101)


@pytest.mark.parametrize(
    ("given", "values", "says"),
    [
        ("5%", [-3, 4], r"tolerance='5%': watch has values below 0 \(such as -3\)"),
        ("5%", [-3, -2], r"Give an amount: tolerance=\{'watch': \.\.\.\}"),
        (5, [0, 0.8], r"watch runs from 0 to 0\.8, .* below 0\.8\. Was 5% of the mean meant\?"),
        (1, [0, 1], "watch runs from 0 to 1"),
    ],
)
def test_what_the_values_make_no_harm_is_refused(given, values, says):
    with pytest.raises(InputError, match=says):
        refuse_unfit_to(Tolerance.parsed(given), measured(values))


@pytest.mark.parametrize(
    ("given", "values"),
    [("5%", [0, 4]), (5, [-3, 4]), (0.5, [0, 0.8]), (5, [7, 7]), ("ctr=5", [0, 1])],
)
def test_a_harm_that_values_can_have_stays(given, values):
    refuse_unfit_to(Tolerance.parsed(given), measured(values))


def test_some_users_do_not_say_how_far_all_are_apart():
    refuse_unfit_to(Tolerance.parsed(5), measured([np.nan, 0, 0.8], is_complete=False))
    with pytest.raises(InputError, match="values below 0"):
        refuse_unfit_to(Tolerance.parsed("5%"), measured([np.nan, -1, 0.8], is_complete=False))


def test_audits_and_plans_refuse_it_alike(tmp_path):
    users = pl.DataFrame(
        {"user_id": range(40), "gender": ["F", "M"] * 20, "margin": [-1.0, 3.0, 0.5, 2.0] * 10}
    )
    about = {"by": "gender", "metrics": "margin", "better": "margin=higher"}
    pilot = users.select("user_id", "margin")
    for tolerance in ("5%", "margin=40"):
        with pytest.raises(InputError, match=r"^tolerance="):
            fairrec.audit(values=users, permutations=0, tolerance=tolerance, **about)
        with pytest.raises(InputError, match=r"^tolerance="):
            fairrec.plan(users=users, pilot=pilot, tolerance=tolerance, **about)
    with pytest.raises(InputError, match="values below 0"):
        fairrec.plan(users=users, mean=-0.2, sd=1, tolerance="5%", **about)
    with from_command_line(), pytest.raises(InputError, match=r"^--tolerance 5: ndcg@10 runs"):
        fairrec.plan(users=users, by="gender", metrics="ndcg@10", tolerance=5)
    frozen = fairrec.plan(users=users, by="gender", metrics="ndcg@10", tolerance="NDCG@10=0.1")
    assert str(frozen.options["tolerance"]) == "ndcg@10=0.1"
