"""Whom a counterfactual asks about, under which values, and what is paid for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.core.errors import InputError, ScoringError
from fairrec.counterfactuals.ledgers import AttributeValues
from fairrec.scoring.features import JoinedFeatures
from tests.counterfactuals.flipped_world import (
    N_ITEMS,
    N_USERS,
    Counted,
    direct,
    flipped,
    people,
)

FEATURES = JoinedFeatures(
    {
        "gender": np.array(["F", "M", None, "F"], dtype=object),
        "age": np.array([10, 9, 9, 9]),
        "income": np.array([1.5, np.nan, 2.0, 1.5]),
    }
)


def test_values_are_in_order_and_unknown_ones_are_none():
    found = AttributeValues.read(FEATURES, ["gender"])
    assert found.values == (("F",), ("M",))
    assert found.value_of_lists.tolist() == [0, 1, -1, 0]
    assert AttributeValues.read(FEATURES, ["age"]).values == (("9",), ("10",))
    assert AttributeValues.read(FEATURES, ["income"]).value_of_lists.tolist() == [0, -1, 1, 0]


def test_of_several_attributes_those_count_that_somebody_has_together():
    found = AttributeValues.read(FEATURES, ["gender", "age"])
    assert [found.describe(at) for at in range(3)] == [
        "gender=F, age=9",
        "gender=F, age=10",
        "gender=M, age=9",
    ]
    assert found.value_of_lists.tolist() == [1, 2, -1, 0]
    with pytest.raises(InputError, match="no user has it"):
        found.position({"gender": "M", "age": "10"})


def test_everybody_gets_the_value_as_the_model_knows_it_and_all_else_stays():
    values = AttributeValues.read(FEATURES, ["age"])
    changed = values.give(FEATURES, 1)
    assert changed.per_user["age"].tolist() == [10] * 4
    assert changed.per_user["age"].dtype == FEATURES.per_user["age"].dtype
    assert changed.per_user["gender"] is FEATURES.per_user["gender"]
    assert FEATURES.per_user["age"].tolist() == [10, 9, 9, 9]


def test_a_reference_is_the_only_other_value():
    found = flipped(direct, reference="gender=M")
    n_women = people().users.filter(gender="F").height
    assert found.summary.n_users == n_women
    assert found.summary.n_left_out == N_USERS - n_women
    assert found.audit.per_user["gender"].unique().to_list() == ["F"]
    assert found.summary.paid.rows == 2 * n_women * N_ITEMS
    assert f"{N_USERS - n_women} users without a known value to change, or with the" in " ".join(
        found.audit.warnings
    )


def test_a_ledger_pays_for_no_user_under_one_value_twice(tmp_path: Path):
    model, ledger = Counted(direct), tmp_path / "scores.ledger"
    first = flipped(model, ledger=ledger, scorer_identity="direct", budget_users=200)
    n_asked = len(model.pairs)
    again = flipped(model, ledger=ledger, scorer_identity="direct", budget_users=200)
    assert len(model.pairs) == n_asked
    assert again.summary.paid.users == 0
    assert again.summary.paid.users_before == first.summary.paid.users == 400
    assert again.audit.per_user.equals(first.audit.per_user)
    flipped(model, ledger=ledger, scorer_identity="direct")
    assert len(model.pairs) == len({*model.pairs}) == 2 * N_USERS * N_ITEMS
    names = sorted(file.name for file in tmp_path.iterdir())
    assert names == ["scores.ledger", "scores.ledger.gender=F", "scores.ledger.gender=M"]


LONG = "𠀀" * 100


@pytest.mark.parametrize(
    ("first", "second"),
    [(f"{LONG}A", f"{LONG}B"), ("F-journal", "F"), ("a/b", "a-b"), ("..", "")],
)
def test_each_value_has_a_ledger_of_its_own(first: str, second: str, tmp_path: Path):
    users = people().users.with_columns(gender=pl.col("gender").replace({"F": first, "M": second}))
    model = Counted(
        lambda user_ids, item_ids, gender, town: item_ids * (2 * (gender == second) - 1)
    )
    given = {"users": users, "ledger": tmp_path / "scores", "scorer_identity": "one"}
    given |= {"metrics": "changed@3", "permutations": 0}
    alone = [flipped(model, **given, reference={"gender": one}) for one in (first, second)]
    assert [one.summary.affected.share for one in alone] == [1, 1]
    n_asked = len(model.pairs)
    assert n_asked == len({*model.pairs}) == 2 * N_USERS * N_ITEMS
    flipped(model, **given)
    assert len(model.pairs) == n_asked
    assert len([*tmp_path.iterdir()]) == 3


def test_scores_of_users_with_other_features_are_refused(tmp_path: Path):
    given = {"ledger": tmp_path / "scores", "scorer_identity": "one", "permutations": 0}
    users = people().users
    flipped(direct, **given)
    changed = users.with_columns(gender=pl.col("gender").replace("M", "X"))
    with pytest.raises(InputError, match="made for other candidates or features: those of user"):
        flipped(direct, users=changed, **given)
    # what the model is not given changes nothing
    flipped(direct, users=users.with_columns(age=pl.col("age") + 1), **given)


def test_a_ledger_needs_the_name_of_each_model(tmp_path: Path):
    given = {"ledger": tmp_path / "scores", "permutations": 0}
    with pytest.raises(InputError, match=r"must know whose scores it holds.*scorer_identity="):
        flipped(direct, **given)


def test_an_audit_of_the_same_model_takes_its_scores_from_the_ledger(tmp_path: Path):
    from fairrec.scoring.model import FunctionModel

    asked, ledger = Counted(direct), tmp_path / "scores.ledger"
    model = FunctionModel(asked, name="direct", features="users:gender,town")
    flipped(model, features=None, ledger=ledger)
    n_asked = len(asked.pairs)
    fairrec.audit(
        people().candidates,
        users=people().users,
        by="gender",
        scorer=model,
        search=fairrec.Search("exact", ledger=ledger),
        statistics=fairrec.Statistics(permutations=0),
    )
    assert len(asked.pairs) == n_asked


def test_everybody_is_counted_once():
    world = people()
    is_known = pl.col("user_id") % 10 > 0
    users = world.users.with_columns(gender=pl.when(is_known).then("gender"))
    lists = world.candidates.filter(pl.col("user_id") >= 100).drop("label")
    # held-out items of everybody, so that the first hundred are there without a list
    test = pl.DataFrame({"user_id": users["user_id"], "item_id": 1})
    given = {"candidates": lists, "users": users, "test": test, "by": "age", "permutations": 0}
    found = flipped(direct, **given)
    assert (found.summary.n_left_out, found.summary.n_users) == (50, N_USERS - 100 - 50)
    assert "100 users of the users table have no candidates" in " ".join(found.audit.warnings)
    as_men = flipped(direct, **given, reference={"gender": "M"}).summary
    assert as_men.n_left_out + as_men.n_users == N_USERS - 100


def test_what_nobody_differs_in_cannot_be_changed():
    users = people().users.with_columns(gender=pl.lit("F"))
    with pytest.raises(InputError, match="every user has gender=F"):
        flipped(direct, users=users)
    with pytest.raises(InputError, match="No user can be changed"):
        flipped(direct, users=users, reference="gender=F")


def test_many_values_need_a_reference():
    users = people().users.with_columns(age=pl.col("user_id") % 50)
    given = {"users": users, "features": "users:age", "attribute": "age", "by": "gender"}
    with pytest.raises(InputError, match=r"users have 50 values.*reference="):
        flipped(lambda user_ids, item_ids, age: age, **given)


def test_a_value_that_the_model_refuses_is_named_and_what_was_paid_is_kept(tmp_path: Path):
    users = people().users.with_columns(
        gender=pl.when(pl.col("user_id") == 3).then(pl.lit("X")).otherwise("gender")
    )
    pairs: list[tuple[int, int, str]] = []

    def model(user_ids, item_ids, gender, town):
        if (gender == "X").any():
            raise ValueError("gender X is not in the vocabulary")
        pairs.extend(zip(user_ids.tolist(), item_ids.tolist(), gender.tolist(), strict=True))
        return direct(user_ids, item_ids, gender, town)

    given = {"users": users, "ledger": tmp_path / "scores", "scorer_identity": "one"}
    given |= {"permutations": 0, "budget_users": 20}
    # user 3 is not among those drawn, so that all of them are scored as they are
    with pytest.raises(ScoringError, match=r"^Users as gender=X: .*gender X is not in the voc"):
        flipped(model, **given)
    assert len(pairs) == len({*pairs}) >= 20 * N_ITEMS
    # what was paid for before it was refused is not paid for again
    flipped(model, **given, reference="gender=M")
    assert len(pairs) == len({*pairs})
