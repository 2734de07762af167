"""Two audits compared: what is found, what is said, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.comparison.parts import RESERVED
from fairrec.core.errors import FairRecError, InputError
from fairrec.metrics.direction import harm
from fairrec.statistics.intervals import Interval
from fairrec.statistics.verdict import group_outcomes, harm_interval, is_shown_worse
from tests.compared_audits import audited, users_table
from tests.mitigation.planted import mitigate, planted

USERS = users_table()


@pytest.fixture(scope="module")
def base():
    return audited(USERS, seed=1)


@pytest.fixture(scope="module")
def worse():
    return audited(USERS, seed=2, worse={"plan=paid": 1.0}, tolerance=0.3)


def without_users(result):
    return replace(result, per_user=None)


@pytest.mark.parametrize("way", [lambda result: result, without_users])
def test_a_group_that_is_served_worse_is_found_with_and_without_the_values_of_users(
    base, worse, way
):
    found = fairrec.compare(way(base), way(worse))
    clicks = found.metrics["clicks"]
    first = clicks.lost[0]
    assert (first.group, first.outcome) == ({"plan": "paid"}, "lost by more")
    assert first.is_behind and clicks.behind[0] == first
    assert first.difference == pytest.approx(-1.0, abs=0.3)
    assert first.difference_simultaneous[0] < -1.0 < first.difference_simultaneous[1] < 0
    assert first.simultaneous[0] < -1.0 < first.simultaneous[1] < -0.3
    assert (found.summary.outcome, clicks.tolerance) == ("lost by more", 0.3)
    assert found.summary.pairing.is_paired == (way(base).per_user is not None)
    assert clicks.everyone.change == pytest.approx(worse.metrics["clicks"].mean - 5, abs=0.2)
    assert clicks.gap.before == base.metrics["clicks"].gap
    assert clicks.gap.after == worse.metrics["clicks"].gap
    turned = fairrec.compare(way(worse), way(base)).metrics["clicks"]
    assert not turned.lost and turned.gained[0].group == {"plan": "paid"}


def test_before_and_after_are_the_means_of_both_audits(base, worse):
    found = fairrec.compare(base, worse)
    keys = ["metric", "plan", "city"]
    for column, audit in (("before", base), ("after", worse)):
        both = found.changes.join(audit.group_table, on=keys, nulls_equal=True)
        assert both.height == audit.group_table.height == found.changes.height
        assert both[column].to_numpy() == pytest.approx(both["value"].to_numpy())
        assert (both["support"] == both["support_right"]).all()


def test_the_table_holds_what_other_limits_are_judged_by(base, worse):
    found = fairrec.compare(base, worse, tolerance=0.1)
    table = found.groups("clicks")
    assert {*found.changes.columns} - {"plan", "city"} == {*RESERVED}
    direction = found.metrics["clicks"].higher_is_better
    interval = harm_interval(
        Interval(*(table[f"simultaneous_{end}"].to_numpy() for end in ("low", "high"))), direction
    )
    is_known = table["is_known"].to_numpy()
    size = harm(table["change"].to_numpy(), direction)
    is_worse = is_shown_worse(size, table["is_beyond_chance"].to_numpy(), is_known)
    for limit in (0.1, 0.7):
        again = group_outcomes(interval, is_worse, is_known, limit)
        mine = fairrec.compare(base, worse, tolerance=limit).groups("clicks")
        key = ["plan", "city"]
        both = table.select(key).with_columns(again=pl.Series(again))
        both = both.join(mine, on=key, nulls_equal=True).filter(pl.col("outcome") != "gained")
        named = ("lost by more", "lost", "inconclusive", "no loss")
        assert both["outcome"].to_list() == [named[at] for at in both["again"]]
    assert table["outcome"][0] == "lost by more"


def test_an_audit_and_itself_have_nothing_between_them(base):
    found = fairrec.compare(base, base, tolerance=0.01)
    assert found.summary.outcome == "no loss"
    assert found.summary.differences == ()
    assert found.summary.notes == ()
    assert found.metrics["clicks"].everyone.verdict == "unchanged"
    assert not found.changes["is_beyond_chance"].any()
    assert (found.changes["outcome"] == "no loss").all()
    assert not found.changes["is_behind"].any()


def test_a_few_users_in_one_only_are_left_out_and_said(base):
    more = users_table(640)
    first = pl.int_range(640) < 1
    more = more.with_columns(city=pl.when(first).then(pl.lit("c9")).otherwise("city"))
    found = fairrec.compare(base, audited(more, seed=2))
    pairing = found.summary.pairing
    assert (pairing.n_shared, pairing.n_only_base, pairing.n_only_candidate) == (600, 0, 40)
    assert pairing.n_moved == 1
    notes = " ".join(found.summary.notes)
    assert "0 users are in the base only and 40 in the candidate only" in notes
    assert "1 users have other attributes" in notes
    assert found.changes.filter(pl.col("depth") == 1)["support"].sum() == 2 * 600
    # they count where they are now
    mine = found.changes.filter(pl.col("plan").is_null() & (pl.col("city") == "c9"))
    assert mine["support"].item() == 60 + 1
    # one is much of a few
    assert "groups are compared by means in both audits: of 2 more than 2%" in notes


def test_ids_are_the_same_whatever_their_type(base):
    numbers = USERS.with_columns(user_id=pl.col("user_id").str.strip_prefix("u").cast(pl.Int64))
    texts = numbers.with_columns(pl.col("user_id").cast(pl.String))
    found = fairrec.compare(audited(numbers, seed=1), audited(texts, seed=2))
    assert found.summary.pairing.n_shared == 600


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (
            lambda: audited(USERS.with_columns(user_id="x" + pl.col("user_id"))),
            "only 0 of 600 users are in both",
        ),
        (
            lambda: audited(USERS.with_columns(plan=pl.col("plan").shuffle(1), city=pl.lit("c1"))),
            "have other attributes, so they seem to be other people",
        ),
        (lambda: without_users(audited(USERS)), "not saved in the candidate"),
    ],
)
def test_other_users_are_not_paired_and_it_is_said_why(base, other, why):
    found = fairrec.compare(base, other())
    assert not found.summary.pairing.is_paired
    assert why in found.summary.pairing.why
    assert found.metrics["clicks"].everyone.n_users == 600
    assert found.changes["is_known"].any()


def test_what_matters_is_given_here_or_in_the_audit_of_the_candidate(base, worse):
    assert fairrec.compare(worse, base).metrics["clicks"].tolerance is None
    share = fairrec.compare(worse, base, tolerance="10%").metrics["clicks"].tolerance
    assert share == pytest.approx(0.1 * base.metrics["clicks"].mean)
    with pytest.raises(FairRecError, match="No audited metric 'likes'"):
        fairrec.compare(base, worse, tolerance={"likes": 0.1})
    with pytest.raises(InputError, match="invalid matters"):
        fairrec.compare(base, worse, tolerance=-1)


def test_nothing_is_ruled_out_where_too_many_users_have_no_value(base):
    holes = pl.when(pl.int_range(600) % 5 == 0).then(None).otherwise(pl.lit(5.0))
    partial = audited(USERS, values={"clicks": holes})
    assert not partial.metrics["clicks"].is_conclusive
    rule = {"metric": "clicks", "baseline": "no_group_worse", "tolerance": 100.0}
    for pair in ((base, partial), (partial, base)):
        found = fairrec.compare(*pair, tolerance=100.0)
        assert not found.metrics["clicks"].is_conclusive
        assert {*found.changes["outcome"]} == {"inconclusive"}
        assert found.metrics["clicks"].certificate == ()
        assert found.metrics["clicks"].everyone.n_users == 480
        gate = fairrec.gate(pair[1], {"rule": [rule]}, baseline=pair[0])
        assert gate.outcome == "inconclusive"


def test_a_metric_without_a_better_end_changes_either_way(base):
    both = [audited(USERS, at, better={}, worse={"plan=paid": at}) for at in (0, 1)]
    for pair in (both, both[::-1]):
        clicks = fairrec.compare(*pair, tolerance=0.2).metrics["clicks"]
        assert clicks.higher_is_better is None
        assert clicks.lost[0].group == {"plan": "paid"} and not clicks.gained
        assert clicks.lost[0].outcome == "changed by more"


def test_only_what_both_have_is_compared_and_the_rest_is_said(base):
    likes = {"likes": pl.Series(np.arange(600) % 2)}
    other = audited(USERS, by=["plan"], values=likes, better={"clicks": "higher"})
    found = fairrec.compare(base, other)
    assert [*found.metrics] == ["clicks"]
    assert found.attributes == ("plan",)
    assert found.changes.columns[:3] == ["metric", "plan", "depth"]
    assert found.changes.height == 2
    assert "Not compared: metric likes, in the candidate only" in found.summary.notes
    assert "Not compared: attribute city, in the base only" in found.summary.notes


def test_nothing_in_common_is_an_error(base):
    by_age = users_table(age=[*range(600)])
    with pytest.raises(InputError, match=r"no attribute in common .* base has plan, city"):
        fairrec.compare(base, audited(by_age, by=["age:100"]))
    values = pl.DataFrame({"user_id": USERS["user_id"], "likes": range(600)})
    likes = fairrec.audit(values=values, users=USERS, by="plan", permutations=0)
    with pytest.raises(InputError, match="no metric in common"):
        fairrec.compare(base, likes)
    renamed = USERS.with_columns(plan="my " + pl.col("plan"), city="in " + pl.col("city"))
    with pytest.raises(InputError, match="no group in common by plan, city"):
        fairrec.compare(base, audited(renamed))
    with pytest.raises(InputError, match="higher is better in one audit and not in the other"):
        fairrec.compare(base, audited(USERS, better={"clicks": "lower"}))
    with pytest.raises(InputError, match="Attribute 'change' has the name of a column"):
        fairrec.compare(*[audited(users_table(change=["a", "b"] * 300))] * 2)
    with pytest.raises(InputError, match="invalid base: expected a result"):
        fairrec.compare(3, base)


def test_without_users_and_intervals_nothing_can_be_compared(base):
    empty = base.group_table.with_columns(value_low=None, value_high=None)
    blind = replace(base, per_user=None, group_table=empty)
    with pytest.raises(InputError, match="Neither the values of users nor intervals"):
        fairrec.compare(blind, base)


def test_a_mitigation_is_compared_by_its_re_ranked_lists():
    result = mitigate(planted(), "ndcg@5")
    found = fairrec.compare(result.audit, result)
    assert found.summary.differences == ()
    assert not found.changes["is_beyond_chance"].any()


def test_a_search_that_did_not_score_everyone_is_not_paired(base):
    search = base.summary.search.model_copy(update={"users_scored": 300})
    partial = replace(base, summary=base.summary.model_copy(update={"search": search}))
    found = fairrec.compare(partial, base)
    assert found.summary.pairing.why == "not all users were scored in the base"


def test_a_regression_in_300_of_20_000_users_is_found_on_redrawn_held_out_items():
    rng = np.random.default_rng(0)
    n, few = 20_000, rng.choice(20_000, 300, replace=False)
    city = rng.integers(0, 20, n)
    city[few] = 20
    users = users_table(n, plan=rng.choice(["free", "paid"], n), city=[f"c{at}" for at in city])
    expected = 0.3 + 0.4 * rng.random(n)
    falls = np.where(city == 20, 0.25, 0.0)

    def redrawn(expected):
        hits = pl.Series(rng.random(n) < expected).cast(pl.Float64)
        return audited(users, values={"clicks": hits}, permutations=0)

    base, same, worse = redrawn(expected), redrawn(expected), redrawn(expected - falls)
    assert not fairrec.compare(base, same).changes["is_beyond_chance"].any()
    for way in (lambda result: result, without_users):
        first = fairrec.compare(way(base), way(worse)).metrics["clicks"].lost[0]
        assert first.group == {"city": "c20"}


def test_circumstances_are_no_part_of_a_comparison(base):
    given = audited(USERS.with_columns(age=pl.int_range(600)), by=["plan"], given="age:q3")
    notes = fairrec.compare(base, given).summary.notes
    assert "Values are compared whatever the circumstances that were given" in notes


def grouped(plans, clicks, ids=None, **options):
    """An audit by plan alone."""
    ids = range(len(plans)) if ids is None else ids
    users = pl.DataFrame({"user_id": ids, "plan": plans})
    values = pl.DataFrame({"user_id": ids, "clicks": clicks})
    how = {"by": "plan", "better": "clicks=higher", "permutations": 50}
    return fairrec.audit(values=values, users=users, **{**how, **options})


def gated(base, candidate, tolerance, **require):
    rule = {"metric": "clicks", "baseline": "no_group_worse", "tolerance": tolerance}
    policy = {"rule": [rule], "require": require}
    return fairrec.gate(candidate, policy, baseline=base)


PLANS = ["free"] * 500 + ["paid"] * 100
CLICKS = [float(i % 3) for i in range(600)]
FALLEN = [*CLICKS[:500], *[0.0] * 100]


def test_a_group_of_other_users_is_no_all_clear():
    # all who pay are other people, and get nothing
    others = [*range(500), *range(1000, 1100)]
    base, candidate = grouped(PLANS, CLICKS), grouped(PLANS, FALLEN, others)
    found = fairrec.compare(base, candidate, tolerance=0.5)
    assert found.summary.pairing.is_paired
    assert found.summary.outcome == "lost by more"
    row = found.changes.filter(pl.col("plan") == "paid").row(0, named=True)
    assert (row["is_known"], row["support"]) == (True, 100)
    assert "clicks: 1 group is compared by its mean in both audits" in found.summary.notes[-1]
    for require in ({}, {"certify_from": 100}):
        assert gated(base, candidate, 0.5, **require).outcome == "failed"


@pytest.mark.parametrize(
    ("n_new", "outcome"),
    [(0, "no loss"), (10, "no loss"), (50, "lost by more")],
)
def test_a_group_of_whom_many_are_new_is_compared_by_its_means(n_new, outcome):
    # who is new gets nothing, and for all others nothing changed
    ids = [*range(600 - n_new), *range(1000, 1000 + n_new)]
    clicks = [*CLICKS[: 600 - n_new], *[0.0] * n_new]
    base, candidate = grouped(PLANS, CLICKS), grouped(PLANS, clicks, ids)
    found = fairrec.compare(base, candidate, tolerance=0.2)
    assert found.summary.outcome == outcome
    row = found.changes.filter(pl.col("plan") == "paid").row(0, named=True)
    notes = " ".join(found.summary.notes)
    assert row["support"] == (100 if n_new == 50 else 100 - n_new)
    assert ("of 1 fewer than 90% of the users have both values" in notes) == (n_new == 50)


@pytest.mark.parametrize("way", [lambda result: result, without_users])
def test_a_group_under_another_name_and_one_that_has_vanished_are_no_all_clear(way):
    base = way(grouped(PLANS, CLICKS))
    renamed = way(grouped([*PLANS[:500], *["pro"] * 100], FALLEN))
    found = fairrec.compare(base, renamed, tolerance=0.5)
    assert found.summary.outcome == "inconclusive"
    rows = {row["plan"]: row for row in found.changes.iter_rows(named=True)}
    assert {*rows} == {"free", "paid", "pro"}
    for plan, missing in (("paid", "after"), ("pro", "before")):
        row = rows[plan]
        assert (row["support"], row["is_known"], row["outcome"]) == (100, False, "inconclusive")
        assert row[missing] is None and row["change"] is None
    assert rows["free"]["outcome"] == "no loss"
    clicks = found.metrics["clicks"]
    assert (clicks.n_groups, clicks.n_unknown) == (3, 2)
    assert [point.support for point in clicks.certificate] == [500]
    assert any("how they changed is not known" in note for note in found.summary.notes)
    gate = gated(base, renamed, 0.5)
    assert gate.outcome == "inconclusive"
    assert "so it is not compared" in gate.rules[0].measured
    # nobody pays any more
    gone = way(grouped(["free"] * 500, CLICKS[:500]))
    assert fairrec.compare(base, gone, tolerance=0.5).summary.outcome == "inconclusive"
    assert gated(base, gone, 0.5).outcome == "inconclusive"


def test_a_page_shows_groups_of_one_audit_only(tmp_path):
    renamed = grouped([*PLANS[:500], *["pro"] * 100], FALLEN)
    found = fairrec.compare(grouped(PLANS, CLICKS), renamed, tolerance=0.5)
    page = (found.save(tmp_path / "out") / "report.html").read_text("utf-8")
    assert "plan=paid" in page and "plan=pro" in page
    assert fairrec.load(tmp_path / "out").changes.equals(found.changes)


@pytest.mark.parametrize("fall", [0.0, 0.3])
def test_users_who_moved_are_not_compared_with_themselves(fall):
    """Who is heavy now was so by chance in part, and had less before: what looks like a gain."""
    outcomes = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        habit = rng.normal(size=1500)

        def period(fall, rng=rng, habit=habit):
            activity = habit + rng.normal(size=1500)
            plans = np.where(activity > 1, "heavy", np.where(activity < -1, "light", "mid"))
            noise = rng.normal(scale=0.3, size=1500)
            return grouped(plans, 3 + 0.5 * activity + noise - fall * (plans == "heavy"))

        base, candidate = period(0.0), period(fall)
        found = fairrec.compare(base, candidate, tolerance=0.1)
        assert found.summary.pairing.is_paired
        assert "3 groups are compared by means in both audits: of 3 more" in found.summary.notes[-1]
        row = found.changes.filter(pl.col("plan") == "heavy").row(0, named=True)
        assert row["support"] == (candidate.per_user["plan"] == "heavy").sum()
        assert row["simultaneous_low"] < -fall < row["simultaneous_high"]
        outcomes.append(gated(base, candidate, 0.1).outcome)
    assert {"passed" if fall else "failed"}.isdisjoint(outcomes)


def test_audits_whose_small_groups_are_hidden_are_not_compared():
    from tests.gating.judged_world import planted as judged

    whole = judged()
    most = int(whole.group_table["support"].min()) + 1
    for pair in ((whole.shown(most), whole), (whole, whole.shown(most))):
        with pytest.raises(InputError, match="users are hidden"):
            fairrec.compare(*pair)


def shown(seed: int, less: float = 0.0, n_users: int = 2_000):
    """An audit of 120 items of one market, by other users each time."""
    market, rng = np.random.default_rng(0), np.random.default_rng(seed)
    kind = market.choice(["a", "b", "c"], 120)
    popularity = market.normal(size=120) - less * (kind == "b")
    lists = np.argsort(-(popularity + rng.gumbel(size=(n_users, 120))), axis=1)[:, :5]
    recommended = pl.DataFrame({"user_id": range(n_users), "item_id": lists.tolist()})
    items = pl.DataFrame({"item_id": range(120), "kind": kind})
    return fairrec.audit(recommended, items=items, side="items", by="kind", permutations=0)


def test_items_are_compared_by_how_far_users_may_put_them_off():
    """Items vary far more among each other than other users would change them."""
    base, same, less = shown(1), shown(2), shown(3, less=0.4)
    assert not fairrec.compare(base, same).changes["is_beyond_chance"].any()
    found = fairrec.compare(base, less).metrics["exposure@5"]
    assert found.lost[0].group == {"kind": "b"}
    # how far items are apart is no error of their mean
    assert found.everyone.before == base.metrics["exposure@5"].mean
    assert (found.everyone.interval, found.everyone.p_value) == (None, None)
