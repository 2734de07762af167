"""Two audits compared: what is found, what is said, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.comparison import compare as module
from fairrec.comparison.compare import audit_differences, compare_metric
from fairrec.comparison.pairing import (
    find_common,
    is_steady,
    paired_users,
    published_groups,
    shared_users,
)
from fairrec.comparison.result import RESERVED, ComparisonSummary
from fairrec.core.errors import FairRecError, InputError
from tests.compared_audits import audited, users_table
from tests.comparison.test_paired_audits import DEPTH, ROWS, groups
from tests.grouped_options import group_options
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
    assert (first.group, first.outcome) == ({"plan": "paid"}, "lost beyond tolerance")
    assert first.is_behind and clicks.behind[0] == first
    assert first.difference == pytest.approx(-1.0, abs=0.3)
    assert first.difference_simultaneous[0] < -1.0 < first.difference_simultaneous[1] < 0
    assert first.simultaneous[0] < -1.0 < first.simultaneous[1] < -0.3
    assert (found.summary.outcome, clicks.tolerance) == ("lost beyond tolerance", 0.3)
    assert found.summary.pairing.is_paired == (way(base).per_user is not None)
    assert clicks.everyone.change == pytest.approx(worse.metrics["clicks"].mean - 5, abs=0.2)
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
    assert "Left out: 40 users in the candidate only" in notes and "base only" not in notes
    assert "Other attributes in the candidate: 1 user." in notes
    assert found.changes.filter(pl.col("depth") == 1)["support"].sum() == 2 * 600
    # they count where they are now
    mine = found.changes.filter(pl.col("plan").is_null() & (pl.col("city") == "c9"))
    assert mine["support"].item() == 60 + 1
    # one is much of a few
    assert "groups compared by means in both audits" in notes


@pytest.mark.parametrize("way", [lambda result: result, without_users])
def test_a_comparison_and_its_reverse_have_opposite_changes(base, way):
    pair = way(base), way(audited(USERS, seed=2, worse={"plan=paid": 1.0, "city=c3": 2.0}))
    table, reverse = (
        fairrec.compare(*both, tolerance=0.3).groups("clicks").sort("plan", "city")
        for both in (pair, pair[::-1])
    )
    for name, other, sign in (
        ("support", "support", 1),
        ("before", "after", 1),
        ("change", "change", -1),
        ("difference", "difference", -1),
        ("difference_low", "difference_high", -1),
    ):
        both = table[name].to_numpy(), sign * reverse[other].to_numpy()
        assert both[0] == pytest.approx(both[1], nan_ok=True)
    # the better end is never the wider one: a group that gained in the reverse has lost here
    is_lost = table["outcome"].str.starts_with("lost")
    assert is_lost.any() and is_lost.filter(reverse["outcome"] == "gained").all()
    ends = table["simultaneous_high"].to_numpy(), -reverse["simultaneous_low"].to_numpy()
    assert (ends[0] <= ends[1] + 1e-12).all()


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
    assert not any("left out" in note for note in found.summary.notes)
    assert found.metrics["clicks"].everyone.n_users == 600
    assert found.changes["is_known"].any()


def test_what_matters_is_given_here_or_in_the_audit_of_the_candidate(base, worse):
    assert fairrec.compare(worse, base).metrics["clicks"].tolerance is None
    share = fairrec.compare(worse, base, tolerance="10%").metrics["clicks"].tolerance
    assert share == pytest.approx(0.1 * base.metrics["clicks"].mean)
    with pytest.raises(FairRecError, match="No audited metric 'likes'"):
        fairrec.compare(base, worse, tolerance={"likes": 0.1})
    with pytest.raises(InputError, match="invalid tolerance"):
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
        assert clicks.lost[0].outcome == "changed beyond tolerance"


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
    likes = fairrec.audit(
        values=values, users=USERS, by="plan", statistics=fairrec.Statistics(permutations=0)
    )
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


def grouped(plans, clicks, ids=None, **options):
    """An audit by plan alone."""
    ids = range(len(plans)) if ids is None else ids
    users = pl.DataFrame({"user_id": ids, "plan": plans})
    values = pl.DataFrame({"user_id": ids, "clicks": clicks})
    how = {"by": "plan", "better": "clicks=higher", "permutations": 50}
    return fairrec.audit(**group_options(values=values, users=users, **{**how, **options}))


def gated(base, candidate, tolerance, **require):
    rule = {"metric": "clicks", "baseline": "no_group_worse", "tolerance": tolerance}
    policy = {"rule": [rule], "require": require}
    return fairrec.gate(candidate, policy, baseline=base)


PLANS = ["free"] * 500 + ["paid"] * 100


CLICKS = [float(i % 3) for i in range(600)]


FALLEN = [*CLICKS[:500], *[0.0] * 100]


@pytest.mark.parametrize(
    ("n_new", "outcome"),
    [(0, "no loss"), (10, "no loss"), (50, "lost beyond tolerance")],
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
    assert ("1 group compared by means in both audits" in notes) == (n_new == 50)


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
    assert "is not compared" in gate.rules[0].measured
    # nobody pays any more
    gone = way(grouped(["free"] * 500, CLICKS[:500]))
    assert fairrec.compare(base, gone, tolerance=0.5).summary.outcome == "inconclusive"
    assert gated(base, gone, 0.5).outcome == "inconclusive"


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
        assert "3 groups compared by means in both" in found.summary.notes[-1]
        row = found.changes.filter(pl.col("plan") == "heavy").row(0, named=True)
        assert row["support"] == (candidate.per_user["plan"] == "heavy").sum()
        assert row["simultaneous_low"] < -fall < row["simultaneous_high"]
        outcomes.append(gated(base, candidate, 0.1).outcome)
    assert {"passed" if fall else "failed"}.isdisjoint(outcomes)


def shown(seed: int, less: float = 0.0, n_users: int = 2_000):
    """An audit of 120 items of one market, by other users each time."""
    market, rng = np.random.default_rng(0), np.random.default_rng(seed)
    kind = market.choice(["a", "b", "c"], 120)
    popularity = market.normal(size=120) - less * (kind == "b")
    lists = np.argsort(-(popularity + rng.gumbel(size=(n_users, 120))), axis=1)[:, :5]
    recommended = pl.DataFrame({"user_id": range(n_users), "item_id": lists.tolist()})
    items = pl.DataFrame({"item_id": range(120), "kind": kind})
    return fairrec.audit(
        recommended,
        items=items,
        tables=fairrec.Tables(side="items"),
        by="kind",
        statistics=fairrec.Statistics(permutations=0),
    )


def test_items_are_compared_by_how_far_users_may_put_them_off():
    """Items vary far more among each other than other users would change them."""
    base, same, less = shown(1), shown(2), shown(3, less=0.4)
    assert not fairrec.compare(base, same).changes["is_beyond_chance"].any()
    found = fairrec.compare(base, less).metrics["exposure@5"]
    assert found.lost[0].group == {"kind": "b"}
    # how far items are apart is no error of their mean
    assert found.everyone.before == base.metrics["exposure@5"].mean
    assert (found.everyone.interval, found.everyone.p_value) == (None, None)


def differing(base, candidate) -> dict[str, tuple[str, str]]:
    found = audit_differences(base, candidate)
    return {one.what: (one.base, one.candidate) for one in found}


def test_options_models_and_versions_are_told_where_they_differ():
    base = audited(USERS, model_name="als", model_version="1", tolerance=0.1)
    other = audited(
        USERS, by=["city"], depth=1, min_support=20, seed=0, model_name="als", model_version="2"
    )
    old = other.summary.model_copy(
        update={"fairrec_version": "0.0.9", "versions": {**other.summary.versions, "numpy": "1.0"}}
    )
    found = differing(base, replace(other, summary=old))
    assert found["model"] == ("als 1", "als 2")
    assert found["by"] == ("plan, city", "city")
    assert found["depth"] == ("3", "1")
    assert found["min_support"] == ("not given", "20")
    assert found["tolerance"] == ("0.1", "not given")
    assert found["FairRec"][1] == "0.0.9"
    assert found["numpy"][1] == "1.0"
    assert "checksum of users and attributes" in found
    assert "alpha" not in found and "users" not in found
    assert differing(base, base) == {}


def test_a_group_that_gained_is_open_where_too_many_users_have_no_value():
    clicks = np.random.default_rng(0).gamma(2, 1, size=600)
    clicks[:150] = np.nan
    plans = np.resize(["free", "paid", "trial"], 600)
    metric = fairrec.compare(grouped(plans, clicks), grouped(plans, clicks + 1)).metrics["clicks"]
    assert not metric.is_conclusive
    assert (metric.n_gained, metric.n_ruled_out, metric.n_open) == (3, 0, 3)


def test_a_group_of_other_users_has_the_size_it_has_in_the_candidate():
    audits = [
        without_users(grouped(np.repeat(["free", "paid"], n), np.arange(n.sum()) % 5.0))
        for n in (np.array([300, 300]), np.array([200, 400]))
    ]
    for base, candidate in (audits, audits[::-1]):
        found = fairrec.compare(base, candidate).changes
        sizes = dict(found.select("plan", "support").iter_rows())
        about = candidate.group_table
        assert sizes == dict(about.select("plan", "support").iter_rows())


CONDITIONS = pl.DataFrame(
    {"a0": ["x", "y", None, None, "x", "y"], "a1": [None, None, "p", "q", "p", "p"]}
).with_columns(depth=pl.Series([1, 1, 1, 1, 2, 2]))


@pytest.mark.parametrize(("n_moved", "is_few"), [(0, True), (4, True), (5, False), (200, False)])
def test_groups_that_many_moved_into_or_out_of_are_told_from_others(n_moved, is_few):
    """400 users, half of them x; some of these were y before, and none moved from p or q."""
    now, kind = np.repeat(["x", "y"], 200), np.resize(["p", "q"], 400)
    before = np.where(np.arange(400) < n_moved, "y", now)
    users = pl.DataFrame({"a0": now, "a1": kind, "a0 base": before, "a1 base": kind})
    found = is_steady(users, CONDITIONS, np.array([200, 200, 200, 200, 100, 100]))
    assert found.tolist() == [is_few, is_few, True, True, is_few, is_few]


@pytest.mark.parametrize("share", [0.03, 0.08])
def test_a_group_that_its_worst_served_users_left_has_not_lost(share):
    """Nothing changes but groups: those who stay had more by chance, which they do not keep."""
    n_false = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        plans = np.where(rng.random(3000) < 0.8, "a", "b")
        before, after = rng.exponential(size=(2, 3000))
        least = np.argsort(np.where(plans == "a", before, np.inf))
        moved = plans.copy()
        moved[least[: int(share * (plans == "a").sum())]] = "b"
        found = fairrec.compare(grouped(plans, before), grouped(moved, after))
        n_false += found.changes.filter(
            pl.col("outcome").str.starts_with("lost") | pl.col("is_behind")
        ).height
    assert n_false <= 1


ODD = "value base"


PAIRED_USERS = users_table(**{ODD: ["a", "b"] * 300, "id": ["x", "y", "z"] * 200})


@pytest.fixture(scope="module")
def both():
    return audited(PAIRED_USERS, seed=1), audited(PAIRED_USERS, seed=2)


@pytest.fixture(scope="module")
def found():
    users = users_table()
    return fairrec.compare(
        audited(users, seed=1), audited(users, seed=2, worse={"plan=paid": 1.0}), tolerance=0.3
    )


def test_a_saved_comparison_is_the_same_again(found, tmp_path):
    folder = found.save(tmp_path / "out")
    assert sorted(file.name for file in folder.iterdir()) == [
        *("changes.parquet", "comparison.json", "report.html")
    ]
    again = fairrec.load(folder)
    assert isinstance(again, fairrec.Comparison)
    assert again.summary == found.summary
    assert again.changes.equals(found.changes)
    assert again.save(tmp_path / "copy") == tmp_path / "copy"
    for name in ("comparison.json", "report.html"):
        assert (tmp_path / "copy" / name).read_bytes() == (folder / name).read_bytes()
    assert ComparisonSummary.model_validate_json(found.to_json()) == found.summary


def test_groups_come_worst_first_for_one_metric_or_all(found):
    assert found.groups().columns[0] == "metric"
    assert found.groups("clicks")["outcome"][0] == "lost beyond tolerance"
    with pytest.raises(FairRecError, match="No metric in this comparison 'click'"):
        found.groups("click")


def told_of(base, candidate):
    return published_groups(find_common(base, candidate), base, candidate)


def test_attributes_may_be_called_as_columns_are(both):
    assert find_common(*both).attributes == (ODD, "id")
    told = told_of(*both)["clicks"]
    assert told.conditions.columns == ["a0", "a1", "depth"]
    assert told.conditions.height == 2 + 3 + 6 and told.is_in_both.all()
    left = told.left_by(told.conditions.filter(pl.col("a1").is_null()))
    assert told.conditions[left]["a1"].null_count() == 0 and len(left) == 9
    assert fairrec.compare(*both).changes.columns[:4] == ["metric", ODD, "id", "depth"]


def test_pairs_are_in_one_order_and_undefined_values_are_nan(both):
    base, _ = both
    holes = pl.when(pl.int_range(600) < 7).then(None).otherwise("clicks")
    candidate = audited(PAIRED_USERS, seed=2, values={"clicks": holes})
    common = find_common(base, candidate)
    turned = replace(base, per_user=base.per_user.reverse())
    _, shared = shared_users(turned, candidate, common)
    users = paired_users(shared, told_of(base, candidate), base, candidate)
    of_user = dict(base.per_user.select("user_id", "clicks").iter_rows())
    assert users.before[0].tolist() == [of_user[name] for name in candidate.per_user["user_id"]]
    assert np.isnan(users.after[0]).sum() == 7
    assert users.is_compared.sum() == 11


def test_groups_that_the_other_audit_did_not_look_for_are_left_out(both):
    base, _ = both
    full = audited(PAIRED_USERS, seed=2, depth="full")
    assert {*fairrec.compare(base, full).changes["depth"]} == {2}
    large = audited(PAIRED_USERS, seed=2, min_support=150)
    for pair in ((base, large), (large, base)):
        assert {*told_of(*pair)["clicks"].conditions["depth"]} == {1}


def test_groups_are_counted_worst_first_and_what_is_not_known_is_null(monkeypatch):
    metric = audited(users_table()).metrics["clicks"]
    conditions = pl.DataFrame({"who": [*"ab", "", *"de"], "depth": DEPTH})
    about = "m", conditions, groups(*ROWS), None, (metric, metric), 0.1
    part, table = compare_metric(*about)
    assert table.columns == ["metric", "who", *(name for name in RESERVED if name != "metric")]
    assert table["who"].to_list() == ["", "b", "e", "d", "a"]
    assert table.row(2, named=True)["simultaneous_low"] is None
    assert table["is_known"].to_list() == [True, True, False, True, True]
    assert (part.n_groups, part.n_unknown) == (5, 1)
    assert (part.n_lost_beyond_tolerance, part.n_lost, part.n_gained) == (1, 2, 1)
    assert (part.n_ruled_out, part.n_open, part.n_behind) == (2, 1, 1)
    assert [group.group for group in part.lost] == [{"who": ""}, {"who": "b"}]
    assert part.behind == part.lost[:1] and part.lost[0].simultaneous == (-0.4, -0.2)
    assert part.lost[1].difference_simultaneous is None
    assert [group.group for group in part.gained] == [{"who": "a"}]
    monkeypatch.setattr(module, "MOST_GROUPS", 1)
    few, _ = compare_metric(*about)
    assert len(few.lost) == 1 and few.n_lost == 2
