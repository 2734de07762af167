from __future__ import annotations

import pytest

from fairrec.auditing.audit import has_pooled, is_of_everyone, refuse_engine
from fairrec.core.errors import InputError
from fairrec.scoring.endpoint import Endpoint
from fairrec.search.options import SearchOptions

EXACT = SearchOptions("exact")
ENDPOINT = object.__new__(Endpoint)


def test_everyone_is_scored_by_a_table_or_a_model_that_costs_nothing():
    assert is_of_everyone(None, None)
    assert is_of_everyone(EXACT, len)
    assert not is_of_everyone(EXACT, None)
    assert not is_of_everyone(EXACT, ENDPOINT)
    assert not is_of_everyone(SearchOptions("adaptive"), len)


def test_metrics_that_are_no_mean_are_known_by_any_spelling():
    assert has_pooled(["auc", "Pooled_AUC"])
    assert not has_pooled(["auc", "nobody_knows"])
    assert not has_pooled(None)


def test_workers_are_refused_where_they_have_nothing_to_do():
    refuse_engine(EXACT, len)
    with pytest.raises(InputError, match="A search scores few users"):
        refuse_engine(SearchOptions("adaptive"), len)
    with pytest.raises(InputError, match="An endpoint is asked by one process"):
        refuse_engine(EXACT, ENDPOINT)
    with pytest.raises(InputError, match="Two lists of each user"):
        refuse_engine(EXACT, len, "other.parquet")
