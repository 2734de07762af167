"""What cannot be mitigated is refused with what is wrong and how to fix it."""

from __future__ import annotations

import polars as pl
import pytest

from fairrec.core.errors import (
    FairRecError,
    InputError,
    NothingToMitigateError,
    UnknownNameError,
)
from fairrec.inputs import room
from fairrec.mitigation.tables import RESERVED
from tests.mitigation.planted import mitigate, planted

WORLD = planted("accuracy", n_users=60)
BARE = WORLD._replace(
    predictions=WORLD.predictions.drop("label"), validation=WORLD.validation.drop("label")
)


@pytest.mark.parametrize(
    ("metric", "options", "message"),
    [
        ("ndgc@5", {}, "No metric 'ndgc'. Did you mean 'ndcg'"),
        ("pooled_auc", {}, "'pooled_auc' is no mean over users, so its change cannot be tested"),
        (
            "ndcg@5",
            {"strength": 1.1},
            "invalid strength: expected a number from 0 to 1, or 'auto', got 1.1",
        ),
        ("ndcg@5", {"strength": -0.1}, "invalid strength: expected"),
        ("ndcg@5", {"strength": float("nan")}, "invalid strength: expected"),
        ("ndcg@5", {"strength": "strong"}, "invalid strength: expected"),
        ("ndcg@5", {"max_loss": 2.0}, "invalid max_loss: expected a number from 0 to 1, got 2.0"),
        ("ndcg@5", {"reranker": "mrm"}, "No re-ranker 'mrm'. Did you mean 'mmr'"),
        (
            "ndcg@5",
            {"groups": "worst:0"},
            "invalid groups: expected findings, worst:10%, worst:5 or a file",
        ),
        ("ndcg@5", {"groups": "wurst"}, "wurst: does not exist. Check the path"),
        ("ndcg@5", {"history": None}, "'second_opinion' needs the history table. Give it as hist"),
        (
            "ndcg@5",
            {"items": None, "reranker": "mmr"},
            "'mmr' needs the items table. Give it as ite",
        ),
        ("urd@5", {"items": None}, "Metric 'urd@5' needs the items table"),
        ("urp@5", {"groups": "worst:100%"}, "Nobody with a value of urp@5 is outside the chosen"),
        (
            "ndcg@5",
            {"groups": "findings"},
            "groups='findings' needs tests against chance. Give perm",
        ),
        ("ndcg@5", {"min_support": 500}, "No intersection of all attributes has 500 users"),
        ("ndcg@5", {"alpha": 2.0}, "invalid alpha: expected"),
        ("ndcg@5", {"by": "gender,ago"}, "No attribute 'ago'. Did you mean 'age'"),
        ("ndcg@5", {"predictions": None}, "NoneType is not a table"),
        ("ndcg@5", {"users": WORLD.users.head(9)}, "not in the users table|has no row"),
    ],
)
def test_bad_options_are_refused(metric, options, message):
    with pytest.raises(FairRecError, match=message):
        mitigate(WORLD, metric, **options)


@pytest.mark.parametrize("name", RESERVED)
def test_attribute_named_as_a_column_of_ours_is_refused(name):
    world = WORLD._replace(users=WORLD.users.rename({"age": name}))
    says = f"Attribute '{name}' has the name of a column of the result. Rename that column"
    with pytest.raises(InputError, match=says):
        mitigate(world, "ndcg@5", by=f"gender,{name}")


def test_metric_without_a_reranker_of_its_own_is_refused():
    import fairrec
    from fairrec.metrics import METRICS

    @fairrec.metric("length")
    def length_per_user(lists, k):
        return lists.lengths.astype(float)

    try:
        with pytest.raises(
            InputError,
            match=r"No re-ranker is made for 'length@5'.*order, name one with reranker: ",
        ):
            mitigate(WORLD, "length@5")
        assert mitigate(WORLD, "length@5", reranker="mmr").effect.chosen.verdict == "unchanged"
    finally:
        METRICS.remove("length")


def test_no_order_changes_how_many_items_a_user_gets():
    with pytest.raises(InputError, match=r"No re-ranker is made for 'coverage@5'.*never which or"):
        mitigate(WORLD, "coverage@5")
    assert mitigate(WORLD, "coverage@20", reranker="mmr").effect.chosen.verdict == "unchanged"


def test_nothing_found_is_nothing_to_mitigate():
    with pytest.raises(
        NothingToMitigateError, match=r"no group is served significantly worse than all others in"
    ):
        mitigate(planted("noise", n_users=60), "ndcg@5", groups="findings", permutations=99)


def test_tuning_without_labels_is_refused():
    with pytest.raises(InputError, match=r"strength='auto' weighs the metric against NDCG, which"):
        mitigate(BARE, "urd@5")


def test_metric_of_labels_without_labels_is_refused():
    with pytest.raises(InputError, match="no column 'label'"):
        mitigate(BARE, "ndcg@5", strength=0.5)


def test_oracle_without_labels_is_refused():
    with pytest.raises(InputError, match=r"The re-ranker 'oracle' needs labels. Give a table"):
        mitigate(BARE, "urd@5", reranker="oracle", strength=0.5)


def test_validation_of_users_in_other_quantiles_is_refused():
    users = WORLD.users.with_columns(income=pl.col("user_id") * 10)
    few = WORLD.validation.filter(pl.col("user_id") < 40)
    world = WORLD._replace(users=users, validation=few)
    with pytest.raises(InputError, match=r"Attribute 'income' falls into other quantiles for the"):
        mitigate(world, "ndcg@5", by="gender,income:q3")
    # bins of a width are the same for all
    assert mitigate(world, "ndcg@5", by="gender,income:200").summary.n_users_choosing == 40
    whole = world._replace(validation=WORLD.validation)
    assert mitigate(whole, "ndcg@5", by="gender,income:q3").summary.n_users_choosing == 60


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gender\nX\n", "groups.csv: no user is in the group gender=X. Check the values"),
        ("gender,age\nF,ancient\n", "no user is in the group gender=F, age=ancient"),
        ("sex\nF\n", "groups.csv: no column is an attribute of this audit"),
    ],
)
def test_file_of_groups_that_do_not_occur_is_refused(tmp_path, text, message):
    path = tmp_path / "groups.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        mitigate(WORLD, "ndcg@5", groups=path)


def test_unknown_names_are_errors_of_their_own_kind():
    with pytest.raises(UnknownNameError):
        mitigate(WORLD, "ndgc@5")


def test_outside_text_is_escaped_in_messages(tmp_path):
    path = tmp_path / "groups.csv"
    path.write_text("gender\n\x1b[31mred\n", encoding="utf-8")
    with pytest.raises(InputError) as error:
        mitigate(WORLD, "ndcg@5", groups=path)
    assert "\x1b" not in str(error.value)
    with pytest.raises(InputError) as error:
        mitigate(WORLD, "ndcg@5", groups="worst:\x1b[31m")
    assert "\x1b" not in str(error.value)


def test_the_memory_that_may_be_used_is_held_against_the_tables(tmp_path, monkeypatch):
    file = tmp_path / "predictions.parquet"
    WORLD.predictions.write_parquet(file)
    monkeypatch.setattr(room, "PER_ROW", 4 * 10**8 / len(WORLD.predictions))
    mitigate(WORLD, "ndcg@5", predictions=file, max_memory="0.7GB")
    with pytest.raises(InputError, match=r"need about 0.7 GB of memory, and 0.6 GB may be used"):
        mitigate(WORLD, "ndcg@5", predictions=file, max_memory="0.6GB")
