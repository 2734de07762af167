"""Names of metrics, the decorator that adds one, and what is asked of what it returns."""

from __future__ import annotations

import hashlib
import os
import runpy
import subprocess
import sys
from dataclasses import replace
from functools import partial, wraps
from pathlib import Path
from typing import get_args

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.core.errors import FairRecError, InputError, MetricError, UnknownNameError
from fairrec.core.files import file_sum
from fairrec.core.options import from_command_line
from fairrec.core.tolerance import Tolerance
from fairrec.metrics import METRICS, metric, parse_metric
from fairrec.metrics.direction import badness, harm
from fairrec.metrics.measured import Measured
from fairrec.metrics.own_code import OwnCode, own_code
from fairrec.metrics.parsing import side_of
from fairrec.metrics.registry import Need
from fairrec.metrics.tolerance import parse_tolerance, refuse_unfit_to
from fairrec.metrics.value_columns import metric_of_column
from tests.metrics.metric_lists import per_user, ranked_lists, user

ROOT = Path(__file__).parents[2]


def audited_values(metrics: str) -> dict[str, list[float | None]]:
    """Per-user values of four users; the second relevant item of users 1 and 2 is far down."""
    users = pl.DataFrame({"user_id": [1, 2, 3, 4], "gender": ["F", "F", "M", "M"]})
    predictions = pl.DataFrame(
        {
            "user_id": [1, 2, 3, 4],
            "item_id": [[1, 2, 3, 4]] * 4,
            "score": [[4.0, 3.0, 2.0, 1.0]] * 4,
            "label": [[1, 0, 0, 1], [0, 1, 0, 1], [1, 0, 0, 0], [0, 0, 1, 0]],
        }
    )
    result = fairrec.audit(
        predictions, users=users, by="gender", metrics=metrics, permutations=9, min_support=1
    )
    return {name: result.per_user[name].to_list() for name in result.metrics}


def test_the_metrics_are_those_of_the_documentation():
    at_k = {"mrr", "ndcg", "urd", "urp", "urp_abs", "hit", "recall", "precision", "map", "coverage"}
    at_k |= {"share", "mean", "novelty", "long_tail", "miscalibration"}
    at_k |= {"changed", "affected", "rbo"}
    assert {name for name in METRICS if METRICS[name].has_cutoff} == at_k
    assert set(METRICS) == at_k | {"auc", "pooled_auc", "tau"}


@pytest.mark.parametrize("name", list(METRICS))
def test_every_metric_says_what_it_is(name):
    found = METRICS[name]
    assert found.name == name
    assert found.definition.endswith(".")
    assert found.needs <= {*get_args(Need)}


def test_what_people_are_shown_has_no_better_end_and_urp_abs_is_better_when_low():
    neither = [name for name in METRICS if METRICS[name].higher_is_better is None]
    assert neither == ["urp", "share", "mean", "novelty", "long_tail"]
    assert [name for name in METRICS if METRICS[name].higher_is_better is False] == [
        *("miscalibration", "urp_abs", "changed", "affected")
    ]


def test_only_pooled_auc_is_pooled():
    assert [name for name in METRICS if METRICS[name].pooled] == ["pooled_auc"]


def test_a_metric_of_few_lines_is_audited_like_any_other():
    @metric("miss", higher_is_better=False)
    def miss_per_user(lists, k):
        """1 when none of the first k items is relevant."""
        return ~(lists.labels(k) > 0).any(axis=1)

    users = pl.DataFrame({"user_id": [1, 2], "gender": ["F", "M"]})
    predictions = pl.DataFrame(
        {
            "user_id": [1, 2],
            "item_id": [[1, 2]] * 2,
            "score": [[2, 1]] * 2,
            "label": [[1, 0], [0, 1]],
        }
    )
    result = fairrec.audit(
        predictions, users=users, by="gender", metrics="miss@1,miss@2", min_support=1
    )
    assert result.metric("miss@1").definition == "1 when none of the first k items is relevant."
    assert result.gap("miss@1").size == 1
    assert result.gap("miss@1").disadvantaged.group == {"gender": "M"}
    assert result.gap("miss@2").size == 0


def test_the_decorated_function_stays_a_plain_function():
    @metric("length")
    def length_per_user(lists):
        """Number of candidates."""
        return lists.lengths

    assert length_per_user(ranked_lists([user([0, 1, 0])])).tolist() == [3]


def test_a_metric_with_side_data_asks_for_its_table():
    @metric("repeats", higher_is_better=False, needs="history")
    def repeats_per_user(lists, k):
        """Nothing of interest."""
        return np.zeros(lists.n_users)

    with pytest.raises(InputError, match=r"'repeats@5' needs the history table\. Give history="):
        audited_values("repeats")


def test_a_metric_without_cutoff_may_look_at_the_first_places():
    @metric("top_label")
    def top_label_per_user(lists):
        """Label of the first item."""
        return lists.labels(1)[:, 0]

    assert audited_values("auc,top_label")["top_label"] == [1, 0, 1, 0]


def test_a_metric_may_look_deeper_than_its_cutoff():
    @metric("far")
    def far_per_user(lists, k):
        """Relevant items in the first 2k places that are not in the first k."""
        near, far = lists.labels(k) > 0, lists.labels(2 * k) > 0
        return far.sum(axis=1) - near.sum(axis=1)

    assert audited_values("far@2")["far@2"] == [1, 1, 0, 1]


def test_a_taken_name_is_refused():
    with pytest.raises(FairRecError, match="The metric 'ndcg' is registered already"):
        metric("ndcg")(lambda lists, k: np.zeros(lists.n_users))


def test_a_removed_name_is_free_again():
    metric("mine")(lambda lists: np.zeros(lists.n_users))
    METRICS.remove("mine")
    metric("mine")(lambda lists: np.ones(lists.n_users))
    assert per_user(parse_metric("mine"), ranked_lists([user([1, 0])])).tolist() == [1]


def test_removing_an_unknown_name_suggests_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'recall'"):
        METRICS.remove("recal")


@pytest.mark.parametrize("name", ["", "a@b", "a,b"])
def test_a_name_that_could_not_be_asked_for_is_refused(name):
    with pytest.raises(MetricError, match="cannot be called"):
        metric(name)


def test_an_unknown_need_is_refused():
    with pytest.raises(
        MetricError,
        match=r"needs='prices' is not known\. Known: labels, candidates, items, item_columns",
    ):
        metric("mine", needs="prices")


@pytest.mark.parametrize(
    ("returned", "complaint"),
    [
        (0.5, r"returned shape \(\) for 4 users. Return one number per user"),
        (None, r"returned shape \(\) for 4 users"),
        ([1, 2, 3], r"returned shape \(3,\) for 4 users"),
        ([[1], [2], [3], [4]], r"returned shape \(4, 1\) for 4 users"),
        (["a", "b", "c", "d"], "returned <U1. Return numbers"),
        ([1, None, 2, 3], "returned object. Return numbers"),
        ([1, np.inf, 2, -np.inf], "is infinite for 2 users. Return NaN"),
        ([[1], [2, 3], [4], [5]], "Metric 'mine'"),
        ([1j, 2j, 3j, 4j], "Metric 'mine' returned complex"),
    ],
    ids=[
        "number",
        "nothing",
        "too few",
        "a table",
        "text",
        "objects",
        "infinity",
        "ragged",
        "complex",
    ],
)
def test_a_metric_must_return_one_number_per_user(returned, complaint):
    metric("mine")(lambda lists: returned)
    with pytest.raises(MetricError, match=complaint):
        audited_values("mine")


@pytest.mark.parametrize(
    "returned", [[True, False, True, True], [1, 0, 1, 1], np.float32([1, 0, 1, 1])]
)
def test_whole_numbers_and_truth_values_become_floats(returned):
    metric("mine")(lambda lists: returned)
    values = per_user(parse_metric("mine"), ranked_lists([user([1, 0])] * 4))
    assert values.dtype == np.float64
    assert values.tolist() == [1, 0, 1, 1]


def test_a_metric_that_is_the_same_for_everyone_is_audited_like_any_other():
    metric("mine")(lambda lists: np.full(lists.n_users, 0.5))
    assert audited_values("mine")["mine"] == [0.5, 0.5, 0.5, 0.5]


def test_a_metric_undefined_for_everyone_is_refused():
    metric("mine")(lambda lists: np.full(lists.n_users, np.nan))
    with pytest.raises(InputError, match="'mine' is undefined for every user"):
        audited_values("mine")


def test_undefined_users_are_null_in_the_table_and_left_out_of_the_means():
    @metric("mine")
    def mine_per_user(lists):
        """Number of relevant candidates; undefined where there is one."""
        return np.where(lists.n_relevant > 1, lists.n_relevant, np.nan)

    assert audited_values("mine")["mine"] == [2, 2, None, None]


@pytest.mark.parametrize("returned", [np.inf, [1.0, 2.0], "high"], ids=["infinity", "list", "text"])
def test_a_pooled_metric_must_return_a_number_or_nan(returned):
    metric("mine", pooled=True)(lambda scores, labels: returned)
    with pytest.raises(MetricError, match="Metric 'mine'"):
        audited_values("auc,mine")


SCRIPT = """
import fairrec
from tests.builders import audit, make_tables

@fairrec.metric("first")
def first(lists):
    '''Label of the first item.

    More of it.
    '''
    return lists.labels(1)[:, 0]

predictions, users, items, history = make_tables()
metrics = "ndcg@2,auc,urd,urp,novelty,first"
print(audit(predictions, users, "gender", items=items, history=history, metrics=metrics).to_json())
"""


@pytest.mark.slow
def test_results_have_the_same_bytes_without_docstrings(tmp_path: Path):
    (tmp_path / "own.py").write_text(SCRIPT)
    with_docs, without = (
        subprocess.run(
            [sys.executable, *options, str(tmp_path / "own.py")],
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
            capture_output=True,
            timeout=120,
            check=True,
        ).stdout
        for options in ([], ["-OO"])
    )
    assert with_docs == without
    assert b"Label of the first item." in without


def test_a_cutoff_is_read_and_the_default_is_5():
    assert (parse_metric("ndcg@10").name, parse_metric("ndcg@10").k) == (
        "ndcg@10",
        10,
    )
    assert parse_metric(" mrr ").name == "mrr@5"
    assert (parse_metric("auc").name, parse_metric("auc").k) == ("auc", None)


@pytest.mark.parametrize(
    ("typed", "meant"), [("ndgc", "ndcg"), ("ndgc@3", "ndcg"), ("aucs", "auc")]
)
def test_an_unknown_metric_suggests_the_nearest(typed, meant):
    with pytest.raises(
        UnknownNameError, match=f"Did you mean '{meant}'\\? Known: affected, auc, changed, coverage"
    ):
        parse_metric(typed)


@pytest.mark.parametrize(
    ("typed", "meant"), [("ndcg10", "ndcg@10"), ("Recall-20", "Recall@20"), ("mrr 5", "mrr@5")]
)
def test_a_cutoff_without_its_sign_is_understood(typed, meant):
    with pytest.raises(UnknownNameError, match=rf"No metric '{typed}'\. Did you mean '{meant}'\?$"):
        parse_metric(typed)
    parse_metric(meant)
    with pytest.raises(UnknownNameError, match="Did you mean 'auc'"):
        parse_metric("auc10")


def test_an_unknown_metric_far_from_all_lists_the_known_ones():
    with pytest.raises(
        UnknownNameError, match=r"No metric 'zzz'\. Known: affected, auc, changed, coverage, "
    ):
        parse_metric("zzz@5")


@pytest.mark.parametrize("text", ["ndcg@0", "ndcg@-1", "ndcg@x", "ndcg@", "ndcg@2.5", "ndcg@5@5"])
def test_a_cutoff_is_a_whole_number_from_1(text):
    with pytest.raises(InputError, match=f"'{text}': the cut-off must be .* Example: ndcg@5"):
        parse_metric(text)


@pytest.mark.parametrize("text", ["auc@5", "pooled_auc@5", "auc@"])
def test_a_metric_of_all_candidates_takes_no_cutoff(text):
    name = text.partition("@")[0]
    with pytest.raises(InputError, match=f"looks at all candidates. Write '{name}'"):
        parse_metric(text)


@pytest.mark.parametrize(
    ("text", "name", "of"),
    [
        ("share@10[pay=high]", "share@10[pay=high]", "pay=high"),
        ("Share[ pay = very high ]", "share@5[pay=very high]", "pay=very high"),
        ("share@3[a=b=c]", "share@3[a=b=c]", "a=b=c"),
        ("mean@10[price]", "mean@10[price]", "price"),
    ],
)
def test_what_is_asked_of_a_column_stands_in_brackets(text, name, of):
    found = parse_metric(text)
    assert (found.name, found.of) == (name, of)
    assert parse_metric(found.name) == found


@pytest.mark.parametrize(
    "text",
    ["share", "share@5[]", "share@5[pay]", "share@5[pay=]", "share@5[=high]", "share@5[pay=high"],
)
def test_brackets_hold_a_column_and_a_value(text):
    with pytest.raises(InputError, match=r"Name it in brackets: share@5\[pay=high\]$"):
        parse_metric(text)


@pytest.mark.parametrize(
    "text", ["share@20(pay=high)", "share @ 20 {pay=high}", "share@20[pay:high]"]
)
def test_other_brackets_are_no_part_of_what_is_to_be_written(text):
    with pytest.raises(InputError, match=r"Name it in brackets: share@20\[pay=high\]$"):
        parse_metric(text)


def test_brackets_of_other_metrics_hold_something_else_or_nothing():
    with pytest.raises(InputError, match=r"Name it in brackets: mean@5\[price\]$"):
        parse_metric("mean@5[price=3]")
    with pytest.raises(InputError, match=r"ndcg takes nothing in brackets. Write 'ndcg@5'"):
        parse_metric("ndcg@5[price]")
    with pytest.raises(InputError, match="the cut-off must be a whole number"):
        parse_metric("share@x[pay=high]")


def test_a_metric_of_the_other_side_is_refused_with_what_there_is():
    assert [side_of(text) for text in ("Recommended@3", "share@5[a=b]", "nobody knows")] == [
        *("items", "users", "users")
    ]
    assert side_of(" exposure @ 10") == "items"
    with pytest.raises(InputError) as caught:
        parse_metric("ndcg@5", "items")
    assert str(caught.value) == (
        "Metric 'ndcg' is one of users, and items are compared here. Of items: exposure@k, "
        "recommended@k, exposure_to_relevance@k. An audit with side='users' compares users."
    )


def test_a_metric_is_known_in_any_case_unless_two_differ_by_it_alone():
    assert parse_metric("NDCG@3").name == "ndcg@3"
    assert parse_metric(" Auc ").name == "auc"

    @metric("Gain")
    def gain(lists):
        return lists.labels(1)[:, 0]

    @metric("gain")
    def other_gain(lists):
        return lists.labels(1)[:, 0]

    assert parse_metric("Gain").metric.compute is gain
    assert parse_metric("gain").metric.compute is other_gain
    with pytest.raises(UnknownNameError, match="Did you mean"):
        parse_metric("GAIN")


@pytest.mark.parametrize(
    ("higher_is_better", "harms", "worst"),
    [(True, [0.5, -0.25], 0), (False, [-0.5, 0.25], 1), (None, [0.5, 0.25], 0)],
)
def test_harm_is_positive_where_a_group_is_worse_off(higher_is_better, harms, worst):
    differences = np.array([-0.5, 0.25])
    assert harm(differences, higher_is_better).tolist() == harms
    assert [harm(float(one), higher_is_better) for one in differences] == harms
    assert np.argmax(badness(differences, higher_is_better)) == worst


def test_a_metric_knows_its_own_direction():
    assert METRICS["ndcg"].harm(-0.5) == 0.5
    assert METRICS["urp_abs"].harm(-0.5) == -0.5
    assert METRICS["urp"].harm(-0.5) == METRICS["urp"].harm(0.5) == 0.5


HERE = OwnCode("test_registry.py", file_sum(Path(__file__)))


def first(lists, weight=1):
    return lists.labels(1)[:, 0] * weight


class Weighted:
    def __call__(self, lists):
        return first(lists, 2)


def own(compute):
    return replace(METRICS["auc"], name="mine", compute=compute)


def test_metrics_of_fairrec_have_none():
    column = metric_of_column("churn", {}, "the values").metric
    assert own_code([METRICS["ndcg"], METRICS["auc"], column]) == ()


def test_the_file_of_an_own_metric_is_found_whatever_stands_around_its_function():
    @wraps(first)
    def wrapped(lists):
        return first(lists)

    for compute in (first, partial(first, weight=2), wrapped, Weighted()):
        assert own_code([own(compute), METRICS["auc"]]) == (HERE,)


def test_files_that_were_loaded_count_too_and_each_once(tmp_path):
    (tmp_path / "a.py").write_text("weights = {}")
    loaded = OwnCode("a.py", hashlib.sha256(b"weights = {}").hexdigest())
    assert own_code([own(first)], [tmp_path / "a.py", Path(__file__)]) == (loaded, HERE)


def test_code_that_is_in_no_file_has_the_name_of_its_metric(tmp_path):
    assert own_code([own(max)]) == (OwnCode("mine", ""),)
    file = tmp_path / "gone.py"
    file.write_text("def gone(lists):\n    return 1\n")
    gone = runpy.run_path(str(file))["gone"]
    file.unlink()
    assert own_code([own(gone)]) == (OwnCode("mine", ""),)


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
    wanted = [
        parse_metric("exposure@5", "items"),
        parse_metric("recommended@3", "items"),
    ]
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
