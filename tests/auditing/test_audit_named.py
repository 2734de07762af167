from __future__ import annotations

import numpy as np

import fairrec
from fairrec.auditing.named_result import strata_of
from fairrec.metrics.reading import read_inputs
from tests.counts.small_counts import counts_of, tables


def test_users_in_the_same_circumstances_are_one_stratum():
    given = {**tables(), "by": "gender"}
    inputs, _ = read_inputs(**{**given, "given": "country,age:20"})
    strata = strata_of(inputs)
    country, age = (one.codes for one in inputs.circumstances)
    assert strata.n_strata == len({*zip(country.tolist(), age.tolist(), strict=True)})
    for stratum in range(strata.n_strata):
        users = np.flatnonzero(strata.of_user == stratum)
        assert len({*country[users].tolist()}) == len({*age[users].tolist()}) == 1
    assert strata_of(read_inputs(**given)[0]) is None


def test_lists_are_looked_at_where_there_are_some():
    given = tables()
    # lists of men are half as long, and so their users are found by fewer candidates
    men = given["users"].filter(gender="M")["user_id"]
    rows = given["predictions"]
    shorter = rows.filter(~(rows["user_id"].is_in(men.to_list()) & (rows["item_id"] >= 4)))
    given = {**given, "predictions": shorter, "metrics": "mrr@8", "by": "gender"}
    users = fairrec.audit(**given, permutations=200)
    counted = fairrec.audit(counts=counts_of(given), permutations=200)
    assert users.summary.circumstances
    assert counted.summary.circumstances == ()
    assert users.per_user is not None
    assert counted.per_user is None
