from __future__ import annotations

from itertools import pairwise
from statistics import fmean, stdev
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest
from pytest import approx

from fairrec.core.errors import InputError
from fairrec.metrics.reading import read_inputs
from fairrec_paper import bench as benching
from fairrec_paper.bench import CURVE, bench_searchers
from fairrec_paper.bench_options import SearchBenchOptions
from fairrec_paper.figures import search_curves, write_search_curves
from tests.builders import make_tables, one_each
from tests.worlds import random_world

ALL = ("adaptive", "dpso", "pso", "fairas", "random", "themis", "testsgd", "exact")


def four_groups(metrics: str = "mrr@4"):
    """Groups of four users, served at places 2, 1, 4 and 2, and one of a single user."""
    as_place = {"a": 2, "b": 1, "c": 4, "d": 2}
    groups = [group for group in as_place for _ in range(4)]
    users = pl.DataFrame({"user_id": range(17), "group": [*groups, "e"]})
    predictions = one_each({user: as_place[group] for user, group in enumerate(groups)} | {16: 3})
    return read_inputs(predictions, users=users, by="group", metrics=metrics)


def random_inputs():
    users, predictions = random_world(200)
    return read_inputs(predictions, users=users, by="gender,job", metrics="auc,mrr,ndcg")


def bench(inputs, *searchers: str, **options):
    return bench_searchers(*inputs, SearchBenchOptions(searchers, **{"n_seeds": 1, **options}))


def test_the_share_of_the_gap_found_with_its_numbers_written_out():
    found = bench(
        four_groups(), "themis", min_support=4, n_seeds=2, budgets=(0.2, 0.25, 0.5, 0.74, 0.75, 1.0)
    )
    # groups have 1/2, 1, 1/4 and 1/2; the exact gap is 3/4, between the second and the third
    assert found.gaps == {"mrr@4": approx(3 / 4)}
    assert (found.n_users, found.n_groups, found.n_combinations) == (16, 4, 5)
    of_seed = found.accuracy.filter(seed=0)
    assert of_seed["users"].to_list() == [3, 4, 8, 11, 12, 16]
    # one group is no gap; two of them are 1/2 apart; a group that is partly scored does not count
    expected = [0, 0, (1 / 2) / (3 / 4), (1 / 2) / (3 / 4), 1, 1]
    assert of_seed["accuracy"].to_list() == approx(expected)
    assert found.summary()["mean"].to_list() == approx(expected)
    assert found.summary()["sd"].to_list() == [0] * 6


def test_what_a_search_without_a_budget_comes_to():
    ends = bench(four_groups(), "themis", "testsgd", "exact", min_support=4).convergence
    assert ends["accuracy"].to_list() == [1, 1, 1]
    # the user of the group that is too small is scored by exact only
    assert ends["users"].to_list() == [16, 16, 17]
    assert ends["share"].to_list() == [1, 1, 17 / 16]
    assert ends["groups"].to_list() == ends["asks"].to_list() == [4, 4, 1]


def test_own_work_is_shared_among_proposals_and_among_groups():
    row = bench(random_inputs(), "adaptive").convergence.row(0, named=True)
    assert row["asks"] > row["groups"] > 1
    assert row["ms_per_ask"] * row["asks"] == approx(row["ms_per_group"] * row["groups"])
    assert 0 < row["ms_per_ask"] < row["ms_per_group"]


def test_a_searcher_with_hyper_parameters_uses_them():
    ends = bench(four_groups(), "testsgd", min_support=4, hyper={"testsgd": {"theta": 0.5}})
    assert ends.convergence["users"].to_list() == [0]
    assert ends.convergence["accuracy"].to_list() == [0]


@pytest.mark.parametrize("together", [False, True])
def test_more_users_never_find_less(together: bool):
    found = bench(random_inputs(), *ALL, n_seeds=2, min_support=5, together=together)
    assert found.accuracy.height == len(ALL) * 3 * 2 * 6
    for _, rows in found.accuracy.group_by("searcher", "metric", "seed"):
        shares = rows.sort("budget")["accuracy"].to_list()
        assert all(one <= other for one, other in pairwise(shares))
        assert all(0 <= share <= 1 for share in shares)
    assert found.accuracy["accuracy"].max() > found.accuracy["accuracy"].min()
    complete = found.convergence.filter(pl.col("searcher").is_in(["themis", "random", "exact"]))
    assert complete["accuracy"].to_list() == [1] * complete.height


def test_one_search_for_all_metrics_pays_once_for_all():
    each = bench(random_inputs(), "fairas", min_support=5, hyper={"fairas": {"rounds": 1}})
    all_at_once = bench(
        random_inputs(), "fairas", min_support=5, hyper={"fairas": {"rounds": 1}}, together=True
    )
    assert all_at_once.convergence["users"].n_unique() == 1
    assert all_at_once.convergence["users"][0] >= each.convergence["users"].max()
    assert all_at_once.gaps == each.gaps


def test_a_single_metric_is_searched_alike_together_or_not():
    inputs = four_groups()
    each, together = (
        bench(inputs, "random", "dpso", min_support=4, n_seeds=3, together=together)
        for together in (False, True)
    )
    assert each.accuracy.equals(together.accuracy)


def test_the_summary_is_over_seeds_of_the_mean_over_metrics():
    found = bench(random_inputs(), "random", n_seeds=3, min_support=5, budgets=(0.3,))
    means = [
        fmean(row["accuracy"] for row in found.accuracy.to_dicts() if row["seed"] == seed)
        for seed in range(3)
    ]
    (row,) = found.summary().to_dicts()
    assert (row["mean"], row["sd"]) == (approx(fmean(means)), approx(stdev(means)))
    ends = found.ends().row(0, named=True)
    assert (ends["mean"], ends["users"]) == (1, found.n_users)


def test_a_seed_gives_the_same_figures_again_and_another_seed_others():
    inputs = random_inputs()
    first, again, other = (
        bench(inputs, "random", "adaptive", min_support=5, seed=seed) for seed in (3, 3, 4)
    )
    assert first.accuracy.equals(again.accuracy)
    assert first.accuracy["seed"].unique().to_list() == [3]
    assert first.accuracy["accuracy"].to_list() != other.accuracy["accuracy"].to_list()


def test_several_seeds_are_those_from_the_first_on():
    inputs = random_inputs()
    two = bench(inputs, "random", min_support=5, seed=3, n_seeds=2)
    one = bench(inputs, "random", min_support=5, seed=4)
    assert two.accuracy.filter(seed=4).equals(one.accuracy)


def test_a_metric_without_a_gap_is_left_out_with_a_note():
    # among four candidates the relevant one is always found
    found = bench(four_groups("hit@4,mrr@4"), "themis", min_support=4)
    assert found.accuracy["metric"].unique().to_list() == ["mrr@4"]
    assert [*found.gaps] == ["mrr@4"]
    (note,) = found.notes
    assert note.startswith("hit@4 is left out")


def test_the_popularity_proxy_is_computed_only_where_a_searcher_uses_it(monkeypatch):
    computed = []
    monkeypatch.setattr(benching, "popularity_proxy", lambda *given: computed.append(given))
    bench(four_groups(), "themis", "random", "exact", min_support=4)
    assert computed == []
    bench(four_groups(), "themis", "adaptive", min_support=4)
    assert len(computed) == 1


def test_the_popularity_proxy_is_used_where_there_is_a_history():
    tables = make_tables(200)
    sources = {"users": tables.users, "by": "gender,member", "metrics": "auc"}
    with_history = read_inputs(
        tables.predictions, **sources, history=tables.history, wants=("history",)
    )
    assert with_history[0].side.popularity is not None
    for inputs in (with_history, read_inputs(tables.predictions, **sources)):
        assert bench(inputs, "adaptive").convergence["accuracy"].to_list() == [1]


@pytest.mark.parametrize(
    ("min_support", "says"),
    [(5, "No intersection of all attributes has 5 users"), (18, "has 18 users")],
)
def test_without_an_eligible_group_there_is_nothing_to_search(min_support, says):
    with pytest.raises(InputError, match=says):
        bench(four_groups(), "themis", min_support=min_support)


def test_a_single_eligible_group_has_no_gap():
    users = pl.DataFrame({"user_id": range(5), "group": ["a"] * 4 + ["b"]})
    inputs = read_inputs(one_each(dict.fromkeys(range(5), 1)), users=users, by="group")
    with pytest.raises(InputError, match="Only one intersection of all attributes has 2 users"):
        bench(inputs, "themis", min_support=2)


def test_equal_values_everywhere_leave_nothing_to_search():
    with pytest.raises(InputError, match="No metric has a gap"):
        bench(four_groups("hit@4"), "themis", min_support=4)


def test_a_metric_that_is_no_mean_over_users_is_refused():
    with pytest.raises(InputError, match="'pooled_auc' is no mean over users"):
        bench(four_groups("pooled_auc"), "themis", min_support=4)


def test_the_picture_has_a_line_for_each_searcher_and_stands_alone(tmp_path):
    found = bench(random_inputs(), "random", "adaptive", "themis", min_support=5, n_seeds=2)
    assert found.curve.height == 3 * len(CURVE)
    chart = search_curves(found.curve, "A <title> & more", ["what was compared"])
    for name in ("curves.svg", "curves.html", "curves.png"):
        write_search_curves(chart, tmp_path / name)
    picture = ElementTree.parse(tmp_path / "curves.svg")
    texts = {element.text for element in picture.iter("{http://www.w3.org/2000/svg}text")}
    assert {"A <title> & more", "what was compared", "adaptive", "random", "themis"} <= texts
    page = (tmp_path / "curves.html").read_text("utf-8")
    assert "<script src" not in page
    assert 'href="http' not in page
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")


def test_the_legend_begins_with_the_best_and_strange_searchers_get_colours_too():
    curve = pl.DataFrame(
        {
            "searcher": np.repeat(["random", "mine", "adaptive", "yours"], 2),
            "budget": [0.1, 1.0] * 4,
            "mean": [0.2, 0.9, 0.3, 1.0, 0.8, 1.0, 0.1, 0.5],
            "sd": [None] * 8,
        },
        schema_overrides={"sd": pl.Float64},
    )
    colour = search_curves(curve, "title").to_dict()["layer"][1]["encoding"]["color"]["scale"]
    assert colour["domain"] == ["adaptive", "mine", "random", "yours"]
    assert len({*colour["range"]}) == 4
