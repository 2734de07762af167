"""Changes of sets of users as named parts."""

from __future__ import annotations

import numpy as np

from fairrec.result.changes import change_of

NAN = np.nan


def test_change_of_one_user_or_none_claims_nothing():
    one = change_of(np.array([0.1]), np.array([0.9]), True, 0.05)
    assert (one.n_users, one.interval, one.p_value, one.verdict) == (
        1,
        None,
        None,
        "not significant",
    )
    none = change_of(np.array([NAN]), np.array([0.9]), True, 0.05)
    assert (none.n_users, none.before, none.change, none.verdict) == (0, None, None, "unchanged")
