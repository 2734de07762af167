from __future__ import annotations

import polars as pl

from fairrec_paper.reproduction.comparison import compared_gaps, costs
from fairrec_paper.reproduction.gaps import claims_table
from fairrec_paper.reproduction.methods import (
    ADAPTIVE,
    ADAPTIVE_TENTH,
    DPSO,
    EXACT,
    THEMIS,
    large_groups,
)
from tests.fairrec_paper.reproduction.trial_rows import chance, found

SMALL, LARGE = large_groups(0.01), large_groups(0.005)
METHODS = [THEMIS, SMALL, LARGE, DPSO, EXACT, ADAPTIVE, ADAPTIVE_TENTH]


def test_claims_stand_beside_what_was_measured(setting):
    search = pl.DataFrame(
        [
            found(THEMIS.title, 0.4, users=80, seconds=4.0),
            found(SMALL.title, 0.1, users=20),
            found(LARGE.title, 0.2, users=20),
            found(DPSO.title, 0.3, users=40, users_together=60, combinations=5, seconds=1.0),
            found(EXACT.title, 0.4, users=80, seconds=1.0),
            found(ADAPTIVE.title, 0.4, users=20, seconds=2.0),
            found(ADAPTIVE_TENTH.title, 0.38, users=8, seconds=1.0),
        ]
    )
    levels = pl.DataFrame(
        [chance("auc", 0.4, [0.1] * 39), chance("pooled_auc", 0.5, [])]
        + [chance("auc", 0.1, [0.1], support) for support in (0.005, 0.01)]
        + [chance("pooled_auc", 0.1, [], support) for support in (0.005, 0.01)]
    )
    gaps = compared_gaps(search, levels, METHODS, "table2")
    table = claims_table(setting, [("movielens-1m", gaps, costs(search, gaps, METHODS))])
    said = {row["claim"]: (row["published"], row["here"]) for row in table.data.to_dicts()}
    assert said["mean accuracy of FairRec"] == (f"{100 * 0.2436 / 0.2537:.1f}%", "75.0%")
    assert said["time of FairRec, of Themis'"][1] == "25.0%"
    assert said["users scored by FairRec for one metric, of Themis'"] == ("-", "50.0%")
    assert said["users scored by FairRec for all metrics, of Themis'"] == ("-", "75.0%")
    assert said["combinations queried by FairRec for one metric, of Themis'"] == ("-", "25.0%")
    assert said["FairRec nearer to the exact gap than TestSGD"] == ("1 of 1", "1 of 1")
    ranking = said["methods from the most accurate"][1]
    assert ranking == "Themis 100%, FairRec 75%, TestSGD 0.005 50%, TestSGD 0.01 25%"
    # one of 40 with the observed one
    assert said["significant gaps (p <= 0.05)"][1] == "1 of 1"
    assert said["ours: adaptive: accuracy; time and users, of Themis'"][1] == (
        "100.0%; 50.0% and 25.0%"
    )
