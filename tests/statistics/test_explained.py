from __future__ import annotations

import numpy as np

from fairrec.core.audit_options import AuditOptions
from fairrec.statistics.analysis import analyse
from fairrec.statistics.findings import analyse_metrics, confounded_findings
from fairrec.statistics.strata import Strata
from tests.groups.small_grouping import grouping_of
from tests.statistics.small_analysis import measured_as

OPTIONS = AuditOptions(permutations=199, threads=1, min_support=10)


def test_findings_that_circumstances_take_away_are_named_and_others_are_not():
    rng = np.random.default_rng(0)
    level = rng.integers(0, 2, 1000)
    # values of the first metric hang on the level alone, those of the second on the group
    is_member = rng.random(1000) < 0.1 + 0.4 * level
    noise = rng.normal(size=(2, 1000))
    measured = measured_as("mrr@5,ndcg@5", noise - [1.5 * level, 1.5 * is_member])
    grouping = grouping_of([~is_member], min_users=10, depth=3)
    raw = analyse_metrics(analyse(measured, grouping, OPTIONS))
    assert [len(about.findings) for about in raw] == [1, 1]
    strata = Strata.of([level.astype(np.int32)], [2])
    adjusted = analyse(measured, grouping, OPTIONS, strata=strata)
    assert confounded_findings(raw, adjusted) == [(0, raw[0].findings[0].position)]
