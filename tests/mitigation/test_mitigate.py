"""Mitigations of planted worlds: who is chosen, what changes, and for whom."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from pytest import approx
from scipy.stats import ttest_ind

import fairrec
from fairrec.metrics.parsing import DEFAULT_K
from fairrec.mitigation.mitigation_result import MitigationResult
from fairrec.mitigation.reranker import RERANKERS
from fairrec.mitigation.rerankers import swap
from fairrec.mitigation.tuning import STRENGTHS
from fairrec.mitigation.view import build_mitigation_view
from tests.builders import with_text_ids
from tests.mitigation.planted import WORSE, Planted, mitigate, planted

CHOSEN = ["gender", "age"]


def numbers_of(result: MitigationResult) -> dict:
    return result.summary.model_dump(exclude={"command"})


def changed_users(world: Planted, result: MitigationResult) -> set:
    """Users of whom a score is another, to the last digit."""
    assert result.predictions.drop("score").equals(world.predictions.drop("score"))
    is_changed = result.predictions["score"] != world.predictions["score"]
    return set(world.predictions["user_id"].filter(is_changed))


def users_in(world: Planted, **conditions: str) -> set:
    return set(world.users.filter(**conditions)["user_id"])


def test_second_opinion_helps_a_group_whose_targets_the_model_does_not_know():
    world = planted("accuracy")
    result = mitigate(world, "ndcg@5")
    summary = result.summary
    assert (summary.reranker, summary.is_upper_bound) == ("second_opinion", False)
    assert [named.group for named in summary.groups] == [WORSE]
    chosen = result.effect.chosen
    assert chosen.verdict == "improved"
    assert chosen.n_users == sum(world.is_worse)
    assert chosen.change == approx(chosen.after - chosen.before) and chosen.change > 0.3
    low, high = chosen.interval
    assert 0 < low < chosen.change < high
    assert result.effect.others.verdict == "unchanged"
    assert result.effect.everyone.change == approx(chosen.change * chosen.n_users / 240)
    assert result.effect.gap.after < result.effect.gap.before
    assert summary.harmed == ()


def test_mmr_helps_a_group_with_lists_of_one_kind():
    result = mitigate(planted("diversity"), "urd@5")
    assert result.summary.reranker == "mmr"
    assert [named.group for named in result.summary.groups] == [WORSE]
    assert result.effect.chosen.verdict == "improved"
    assert 0 < result.summary.strength < 1


@pytest.mark.parametrize("worse", ["accuracy", "diversity"])
def test_only_the_chosen_groups_are_touched(worse):
    world = planted(worse)
    result = mitigate(world, {"accuracy": "mrr@5", "diversity": "urd@5"}[worse], strength=0.8)
    changed = changed_users(world, result)
    assert changed and changed <= users_in(world, **WORSE)
    for effect in result.summary.effects.values():
        assert (effect.others.verdict, effect.others.change) == ("unchanged", 0)


def test_numbers_before_are_those_of_an_audit_of_the_predictions():
    world = planted("accuracy")
    result = mitigate(world, "ndcg@5")
    tables = {"users": world.users, "by": CHOSEN, "items": world.items, "history": world.history}
    before = fairrec.audit(world.predictions, **tables, metrics="ndcg@5", permutations=0)
    after = fairrec.audit(result.predictions, **tables, metrics="ndcg@5", permutations=0)
    for audit, level in ((before, "before"), (after, "after")):
        means = audit.per_user.group_by(CHOSEN).agg(pl.col("ndcg@5").mean())
        (worst,) = means.filter(**WORSE)["ndcg@5"]
        assert getattr(result.effect.chosen, level) == approx(worst)
        assert getattr(result.effect.everyone, level) == approx(audit.per_user["ndcg@5"].mean())
        assert getattr(result.effect.gap, level) == approx(audit.metrics["ndcg@5"].gap)
    assert result.audit.metrics["ndcg@5"].gap == result.effect.gap.after


def test_every_metric_the_tables_allow_is_reported():
    world = planted()
    effects = mitigate(world, "mrr@3").summary.effects
    assert set(effects) == {"mrr@3", "auc", "urd@3", "urp@3", "urp_abs@3", "ndcg@3"}
    bare = mitigate(world, "auc", items=None, strength=0.3).summary
    assert set(bare.effects) == {"auc", "mrr@5", "urp@5", "urp_abs@5", "ndcg@5"}
    assert bare.k == DEFAULT_K
    asked = mitigate(world, "mrr@3", metrics=["hit@3", "pooled_auc"]).summary
    assert set(asked.effects) == {"hit@3", "mrr@3", "ndcg@3"}


def test_gap_has_its_chance_level():
    gap = mitigate(planted(), "ndcg@5", permutations=19).effect.gap
    assert gap.before > gap.chance_before.q95 > 0
    assert gap.chance_after.mean > 0


def test_trade_off_shows_every_strength_and_starts_where_nothing_is_done():
    world = planted("diversity")
    result = mitigate(world, "urd@5")
    points = result.summary.trade_off
    assert tuple(p.strength for p in points) == tuple(sorted({*STRENGTHS, result.summary.strength}))
    assert points[0].reported == approx(result.effect.chosen.before)
    cost = result.summary.effects["ndcg@5"]
    assert points[0].reported_cost == approx(cost.chosen.before)
    assert points[0].everyone_cost == approx(cost.everyone.before)
    taken = next(p for p in points if p.strength == result.summary.strength)
    assert taken.reported == approx(result.effect.chosen.after)
    assert taken.everyone_cost == approx(cost.everyone.after)
    # tuned: the smallest that comes near the others, and is not ahead of them
    others = world.validation.filter(~pl.col("user_id").is_in(list(users_in(world, **WORSE))))
    tables = {"users": world.users, "by": CHOSEN, "items": world.items, "permutations": 0}
    rest = fairrec.audit(others, **tables, metrics="urd@5").per_user["urd@5"].to_numpy()
    assert rest.mean() > taken.tuned > points[0].tuned
    weaker = [p.tuned for p in points if p.strength < taken.strength]
    assert max(weaker) < taken.tuned
    given = mitigate(world, "urd@5", strength=0.33).summary.trade_off
    assert 0.33 in [point.strength for point in given]


def test_a_tuned_strength_brings_groups_level_and_a_stronger_one_turns_the_order_round():
    """However much is allowed to be lost, and findings as well as those served worst."""
    world = planted("diversity")
    found = {"groups": "findings", "permutations": 99, "min_support": 10}
    for options in ({}, found):
        level = mitigate(world, "urd@5", max_loss=0.5, **options)
        assert [named.group for named in level.summary.groups] == [WORSE]
        assert level.summary.outcome == level.effect.chosen.verdict == "improved"
        gap = level.summary.to_others
        assert 0 < gap.after < gap.before / 2
        assert gap.p_before < 0.001 and gap.p_after > 0.05
    turned = mitigate(world, "urd@5", strength=0.95)
    assert turned.effect.chosen.verdict == "improved"
    assert turned.summary.outcome == "turned round"
    gap = turned.summary.to_others
    assert gap.before > 0.05 and gap.after < -0.05 and gap.p_after < 0.001


@pytest.mark.parametrize("metric", ["urd@5", "miscalibration@5"])
def test_the_gap_to_all_others_is_a_difference_of_two_means(metric):
    """By Welch's t-test of scipy; positive where the chosen are served worse."""
    world = planted("diversity")
    result = mitigate(world, metric, strength=0.6)
    (chosen,) = result.summary.groups
    tables = {"users": world.users, "by": CHOSEN, "items": world.items, "history": world.history}
    gap = result.summary.to_others
    sign = -1 if metric == "urd@5" else 1
    for lists, size, p in (
        (world.predictions, gap.before, gap.p_before),
        (result.predictions, gap.after, gap.p_after),
    ):
        users = fairrec.audit(lists, **tables, metrics=metric, permutations=0).per_user
        mine = users.filter(**chosen.group)[metric].to_numpy()
        others = users.join(users.filter(**chosen.group), on="user_id", how="anti")[metric]
        test = ttest_ind(mine, others.to_numpy(), equal_var=False, nan_policy="omit")
        assert size == approx(sign * (np.nanmean(mine) - np.nanmean(others.to_numpy())))
        assert p == approx(test.pvalue)


def test_max_loss_bounds_what_the_tuning_pays():
    world = planted("diversity")
    strengths = [
        mitigate(world, "urd@5", max_loss=loss).summary.strength for loss in (0.0, 0.02, 0.5)
    ]
    assert strengths == sorted(strengths)
    assert strengths[0] < strengths[-1]


def test_given_strength_is_taken_and_zero_changes_nothing():
    world = planted()
    result = mitigate(world, "ndcg@5", strength=0.25)
    assert (result.summary.strength, result.summary.is_tuned) == (0.25, False)
    assert result.reranker.strength == 0.25
    nothing = mitigate(world, "ndcg@5", strength=0)
    assert nothing.predictions["score"].equals(world.predictions["score"])
    for effect in nothing.summary.effects.values():
        assert effect.chosen.verdict == effect.everyone.verdict == "unchanged"
        assert effect.gap.before == effect.gap.after
    assert set(nothing.changes["verdict"]) == {"unchanged"}


def test_where_no_strength_helps_nothing_is_done_and_it_is_said():
    # what groups chose before says nothing of what they choose next
    noise = mitigate(planted("accuracy", seed=1), "ndcg@5", reranker="group_prior").summary
    assert noise.strength == 0 and any("No strength improved" in note for note in noise.notes)
    # lists of this world are ranked as well as they can be, so that groups are level
    world = planted("diversity")
    perfect = [
        t.with_columns(score=pl.col("label") * 9 + pl.col("score"))
        for t in (world.predictions, world.validation)
    ]
    result = mitigate(world._replace(predictions=perfect[0], validation=perfect[1]), "ndcg@5")
    assert (result.summary.strength, result.summary.is_tuned) == (0, True)
    assert any("by one standard error at most" in note for note in result.summary.notes)


def test_same_seed_same_result_and_threads_change_nothing():
    world = planted("diversity", n_users=120)
    first = mitigate(world, "urd@5", seed=3, permutations=9, validation=None)
    again = mitigate(world, "urd@5", seed="3", permutations=9, validation=None, threads=3)
    assert numbers_of(again) == numbers_of(first)
    assert again.predictions.equals(first.predictions)
    assert again.changes.equals(first.changes)


def test_order_of_rows_changes_nothing():
    world = planted("accuracy", n_users=120)
    first = mitigate(world, "ndcg@5")
    mixed = [t.sample(fraction=1.0, shuffle=True, seed=5) for t in world]
    again = mitigate(Planted(*mixed), "ndcg@5")
    assert numbers_of(again) == numbers_of(first)
    keys = ["user_id", "item_id"]
    assert again.predictions.sort(keys).equals(first.predictions.sort(keys))


@pytest.mark.parametrize("reranker", [name for name in RERANKERS if name != "oracle"])
def test_poisoned_labels_change_no_list(reranker, monkeypatch):
    monkeypatch.setattr(swap, "MOST_EXACT", 0)
    world = planted("diversity", n_users=60)
    rng = np.random.default_rng(0)
    poisoned = [t.with_columns(label=pl.Series(rng.integers(0, 2, len(t)))) for t in world[:2]]
    absent = [t.drop("label") for t in world[:2]]
    found = []
    for predictions, validation in ((world[:2]), poisoned, absent):
        other = world._replace(predictions=predictions, validation=validation)
        result = mitigate(other, "urd@5", reranker=reranker, strength=0.6)
        found.append(result.predictions["score"].to_numpy().tobytes())
    assert found[0] == found[1] == found[2]
    assert found[0] != world.predictions["score"].to_numpy().tobytes()


def test_oracle_is_stamped_an_upper_bound():
    world = planted("noise")
    result = mitigate(world, "ndcg@5", reranker="oracle", strength=1)
    assert result.summary.is_upper_bound
    assert "upper bound" in result.summary.about
    assert result.effect.chosen.after == 1


def test_chosen_groups_are_named_with_what_they_were_chosen_by():
    world = planted("accuracy")
    result = mitigate(world, "mrr@5", groups="worst:50%")
    by_validation = mitigate(world, "mrr@5", predictions=world.validation, strength=0)
    expected = by_validation.changes.filter(pl.col("metric") == "mrr@5").drop_nulls(CHOSEN)
    order = expected.sort("before").head(3)
    assert [n.chosen_by for n in result.summary.groups] == approx(order["before"].to_list())
    assert [n.group for n in result.summary.groups] == order.select(CHOSEN).to_dicts()
    assert result.summary.rule == "worst:50%"
    assert sum(n.change.n_users for n in result.summary.groups) == result.effect.chosen.n_users


def test_metric_without_direction_is_brought_near_to_the_others(monkeypatch):
    monkeypatch.setattr(swap, "MOST_EXACT", 0)
    world = planted("accuracy")
    popular = world.history["item_id"].value_counts().sort("count", "item_id")["item_id"].to_list()
    rank = {item: at for at, item in enumerate(popular)}
    # old women get popular items first
    worse = users_in(world, **WORSE)

    def pushed(table: pl.DataFrame) -> pl.DataFrame:
        push = [
            rank[item] / 12 if user in worse else 0.0
            for user, item in table.select("user_id", "item_id").iter_rows()
        ]
        return table.with_columns(score=pl.col("score") + pl.Series(push))

    world = world._replace(
        predictions=pushed(world.predictions), validation=pushed(world.validation)
    )
    for reranker in ("swap", "popularity_calibrated"):
        result = mitigate(world, "urp@5", reranker=reranker, max_loss=1.0)
        assert [named.group for named in result.summary.groups] == [WORSE]
        effect = result.effect
        assert effect.is_distance and effect.higher_is_better is None
        assert effect.chosen.verdict == "improved"
        assert abs(effect.chosen.after) < abs(effect.chosen.before)
        assert result.summary.groups[0].change.verdict == "changed"
        assert effect.others.verdict == "unchanged"


def test_swap_aims_at_the_others_only_in_its_own_metric(monkeypatch):
    monkeypatch.setattr(swap, "MOST_EXACT", 0)
    world = planted()
    own = mitigate(world, "urp@5", reranker="swap", strength=0.5)
    (chosen,) = own.summary.groups
    validation = mitigate(world, "urp@5", predictions=world.validation, strength=0)
    users = users_in(world, **chosen.group)
    others = validation.audit.per_user.filter(~pl.col("user_id").is_in(users))
    assert own.reranker.rest == approx(others["urp@5"].mean())
    assert mitigate(world, "urd@5", reranker="swap", strength=0.5).reranker.rest is None
    assert mitigate(world, "ndcg@5", strength=0.5).reranker.rest is None


# groups by name


def test_groups_of_a_file_are_those_re_ranked(tmp_path):
    world = planted("accuracy")
    path = tmp_path / "groups.csv"
    path.write_text("gender,age\nM,young\n,middle\n", encoding="utf-8")
    result = mitigate(world, "ndcg@5", groups=path, strength=0.9)
    assert [n.group for n in result.summary.groups] == [
        {"gender": "M", "age": "young"},
        {"age": "middle"},
    ]
    changed = changed_users(world, result)
    allowed = users_in(world, gender="M", age="young") | users_in(world, age="middle")
    assert changed and changed <= allowed
    assert result.effect.chosen.n_users == len(allowed)
    assert result.summary.rule == str(path)
    assert result.summary.n_users_tuning == len(allowed)


def test_findings_that_are_served_worse_are_re_ranked():
    world = planted("accuracy")
    result = mitigate(world, "ndcg@5", groups="findings", permutations=99)
    touched = [n.group for n in result.summary.groups]
    assert WORSE in touched or {"gender": "F"} in touched or {"age": "old"} in touched
    assert not any(group == {"gender": "M"} for group in touched)
    assert result.effect.chosen.verdict == "improved"
    assert changed_users(world, result) <= {
        user for group in touched for user in users_in(world, **group)
    }


# without labels, other ids, other tables


def test_without_labels_a_given_strength_is_enough():
    world = planted("diversity")
    bare = [t.drop("label") for t in world[:2]]
    bare = world._replace(predictions=bare[0], validation=bare[1])
    result = mitigate(bare, "urd@5", strength=0.7)
    assert result.effect.chosen.verdict == "improved"
    assert result.summary.cost_metric is None
    assert set(result.summary.effects) == {"urd@5", "urp@5", "urp_abs@5"}
    assert all(point.tuned_cost is None for point in result.summary.trade_off)
    assert result.predictions.columns == ["user_id", "item_id", "score"]


def test_text_ids_give_the_same_numbers():
    world = planted("accuracy", n_users=96)
    # as many digits for all, so that text sorts as the numbers do
    text = Planted(*map(with_text_ids, world))
    for metric in ("ndcg@5", "urd@5"):
        expected = mitigate(world, metric, strength=0.5)
        found = mitigate(text, metric, strength=0.5)
        assert numbers_of(found) == numbers_of(expected)
        assert found.predictions["score"].equals(expected.predictions["score"])
        assert found.predictions["user_id"].dtype == pl.String


def test_history_as_text_and_other_tables_as_numbers_belong_together():
    world = planted("accuracy", n_users=96)
    extra = pl.DataFrame({"user_id": ["someone"], "item_id": ["something"]})
    history = pl.concat([world.history.cast(pl.String), extra])
    for reranker in ("second_opinion", "calibrated"):
        result = mitigate(
            world._replace(history=history), "ndcg@5", strength=0.8, reranker=reranker
        )
        assert changed_users(world, result)


def test_groups_that_nobody_reported_on_is_in_are_no_error():
    world = planted("accuracy", n_users=60)
    kept = world.predictions.filter(~pl.col("user_id").is_in(users_in(world, **WORSE)))
    result = mitigate(world._replace(predictions=kept), "ndcg@5")
    assert result.effect.chosen.n_users == 0
    assert result.effect.chosen.verdict == "unchanged"
    assert result.predictions["score"].equals(kept["score"])
    assert "60 users have validation targets, 50 held-out targets" in result.summary.notes


@pytest.mark.parametrize("by", ["gender,tags:each", "gender,tags:first", "gender,years:18|40|65"])
def test_attributes_that_are_made_of_columns_choose_and_re_rank_groups(by):
    world = planted("accuracy")
    n_users = world.users.height
    tags = pl.Series("tags", [["a", "b"], ["b"], ["a", "c"]] * (n_users // 3))
    years = pl.Series("years", np.arange(n_users) % 80)
    world = world._replace(users=world.users.with_columns(tags, years))
    # whoever has validation targets, the attributes are those of the table
    some = world.validation.filter(pl.col("user_id") % 3 > 0)
    result = mitigate(world._replace(validation=some), "ndcg@5", by=by, strength=0.5)
    assert result.reranker.by == tuple(by.split(","))
    tables = {"users": world.users, "items": world.items, "history": world.history}
    again = fairrec.rerank(result.reranker, world.predictions, **tables)
    assert again["score"].equals(result.predictions["score"])
    assert not again["score"].equals(again["model_score"])


@pytest.mark.parametrize(
    ("of_others", "is_told"),
    [(0.0, True), (0.6, False)],
    ids=["the held-out items alone", "most candidates"],
)
def test_a_history_that_holds_the_relevant_candidates_is_told_of(of_others, is_told):
    world = planted("accuracy")
    assert not build_mitigation_view(mitigate(world, "ndcg@5", strength=0.5).summary).stamps
    is_other = np.random.default_rng(0).random(world.predictions.height) < of_others
    known = world.predictions.filter((pl.col("label") > 0) | pl.Series(is_other))
    history = pl.concat([world.history, known.select("user_id", "item_id")])
    result = mitigate(world._replace(history=history), "ndcg@5", strength=0.5)
    checks = build_mitigation_view(result.summary).stamps
    assert len(checks) == is_told
    assert all(
        check.startswith("check: 100% of the relevant candidates are in their user's history")
        for check in checks
    )
