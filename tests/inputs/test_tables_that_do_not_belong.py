"""Tables that do not belong together: other ids, ids written differently, swapped, joined."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.core.errors import InputError
from fairrec.inputs.audit_inputs import open_tables
from fairrec.inputs.held_out import check_hits
from fairrec.inputs.notes import added, in_words
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.tables import Table
from fairrec.inputs.users import describe_alike_values
from tests.builders import audit
from tests.grouped_options import group_options


@pytest.mark.parametrize("values", [["M", "m"], ["é", "e\u0301"], ["01", "1"], ["a b", "a\u00a0b"]])
@pytest.mark.parametrize("way", ["rows", "counts"])
def test_groups_that_differ_in_how_they_are_written_are_noted(way, values):
    users = pl.DataFrame({"user_id": [*"abcdef"], "g": [*values, "x"] * 2})
    values_table = pl.DataFrame({"user_id": [*"abcdef"], "watch": range(6)})
    tables = {"values": values_table, "users": users}
    if way == "counts":
        tables = {"counts": fairrec.count(**group_options(**tables, by="g"))}
    result = fairrec.audit(
        **group_options(
            **tables, **({"by": "g"} if way == "rows" else {}), permutations=0, min_support=1
        )
    )
    (said,) = [one for one in result.warnings if one.startswith("check: attribute 'g'")]
    assert "2 values differ from another only in case, blanks, leading zeros" in said
    assert said in result.shown(2).warnings


def test_groups_written_apart_and_bins_are_not_noted():
    assert describe_alike_values("g", ["F", "M", True, 1, "(missing)"]) == ""


USERS_MIX_UPS = pl.DataFrame({"user_id": [1, 2], "gender": ["F", "M"]})
RECS = pl.DataFrame({"user_id": [1, 2], "item_id": [7, 8], "rank": [1, 1]})
TEST = pl.DataFrame({"user_id": [1, 2], "item_id": [7, 9]})
CANDIDATES = RECS.rename({"rank": "score"}).with_columns(label=1)


@pytest.mark.parametrize(
    ("predictions", "given", "words"),
    [
        (
            USERS_MIX_UPS,
            {"users": USERS_MIX_UPS},
            "no column 'item_id', so it holds no predictions.*gender",
        ),
        (CANDIDATES, {"users": RECS}, "has items and scores, so it looks like predictions"),
    ],
)
def test_tables_in_the_place_of_another_are_told(predictions, given, words):
    with pytest.raises(InputError, match=words):
        open_tables(predictions, TableOptions(**given))


def test_users_in_the_place_of_the_predictions_are_told_of_items_too():
    items = pl.DataFrame({"item_id": [7, 8], "kind": ["a", "b"]})
    sides = fairrec.Tables(side="items")
    with pytest.raises(InputError, match="no column 'item_id', so it holds no predictions"):
        fairrec.audit(USERS_MIX_UPS, items=items, by="kind", tables=sides)


@pytest.mark.parametrize("name", ["test", "history"])
def test_lists_are_not_held_against_themselves(name, tmp_path):
    RECS.write_parquet(tmp_path / "recs.parquet")
    (tmp_path / "link.parquet").symlink_to(tmp_path / "recs.parquet")
    others = {"test": TEST, name: str(tmp_path / "link.parquet")}
    with pytest.raises(InputError, match=f"given as the predictions and as {name}: .*leave out"):
        open_tables(str(tmp_path / "recs.parquet"), TableOptions(users=USERS_MIX_UPS, **others))


N_USERS, N_ITEMS = 300, 200
RNG = np.random.default_rng(3)
USERS_JOINED = pl.DataFrame({"user_id": range(N_USERS), "g": [*"xy"] * (N_USERS // 2)})
ITEMS = pl.DataFrame({"item_id": range(N_ITEMS), "kind": [*"pq"] * (N_ITEMS // 2)})
WANTED = pl.DataFrame(
    [(u, int(i)) for u in range(N_USERS) for i in RNG.choice(N_ITEMS, 3, replace=False)],
    schema=["user_id", "item_id"],
    orient="row",
)


def lists(k: int, n_items: int = N_ITEMS, *, with_wanted: bool = False) -> pl.DataFrame:
    """Lists of k items, in random order; all that is held out among them, if asked for."""
    wanted = dict(WANTED.group_by("user_id").agg("item_id").rows())
    rows = []
    for user in range(N_USERS):
        first = wanted[user] if with_wanted else wanted[user][: user % 3]
        others = (int(i) for i in RNG.permutation(n_items) if i not in wanted[user])
        mine = [*first, *others][:k]
        rows += [(user, item, at) for at, item in enumerate(RNG.permutation(mine), start=1)]
    return pl.DataFrame(rows, schema=["user_id", "item_id", "rank"], orient="row")


def joined(recs: pl.DataFrame) -> pl.DataFrame:
    return WANTED.join(recs, on=["user_id", "item_id"], how="semi")


def audit_joined(recs: pl.DataFrame, test: pl.DataFrame) -> None:
    audit(recs, USERS_JOINED, "g", test=test, metrics=None, permutations=0, tolerance=0.1)


RECS_JOINED = lists(10)
REFUSED = (
    r"every held-out item is in its user's list\. A table that was joined with the recommendations "
    r"has lost all that they missed, .*: give the whole held-out table\."
)


def test_a_table_of_hits_alone_is_refused():
    with pytest.raises(InputError, match=REFUSED):
        audit_joined(RECS_JOINED, joined(RECS_JOINED).filter(pl.col("user_id") % 5 > 0))
    audit_joined(RECS_JOINED, WANTED)
    # longer lists may be candidates that were drawn to contain what is held out
    audit_joined(lists(60, with_wanted=True), WANTED)


def test_a_hit_in_any_part_is_enough():
    table = Table(RECS, "predictions")
    none, one = (check_hits(table, table, np.array(labels)) for labels in ([0.0], [1.0]))
    assert in_words(added([none], [none]))[0].startswith("check: not one item in the predictions")
    assert in_words(added([none], [one])) == ()


def test_items_and_counts_are_refused_alike():
    test = joined(RECS_JOINED)
    with pytest.raises(InputError, match=REFUSED):
        fairrec.audit(
            RECS_JOINED,
            by="kind",
            test=test,
            items=ITEMS,
            tables=fairrec.Tables(side="items"),
            statistics=fairrec.Statistics(permutations=0),
        )
    with pytest.raises(InputError, match=REFUSED):
        fairrec.count(RECS_JOINED, test=test, users=USERS_JOINED, by="g")
    # without a metric that counts them, it does not matter
    exposure = {"items": ITEMS, "side": "items", "metrics": "exposure@10", "permutations": 0}
    assert audit(RECS_JOINED, None, "kind", test=test, **exposure).metrics
