from __future__ import annotations

import pytest

from fairrec.core.audit_options import AuditOptions
from fairrec.core.errors import InputError
from fairrec.core.tolerance import Amount, Tolerance


@pytest.mark.parametrize(
    ("given", "means"),
    [
        ("0.03", "0.03"),
        (0.03, "0.03"),
        ("5%", "5%"),
        ("ndcg@5=0.03", "ndcg@5=0.03"),
        ("ndcg@5=0.03, mrr = 5 %,0.1", "ndcg@5=0.03,mrr=5%,0.1"),
        ({"ndcg@5": 0.03, "mrr@5": "5%"}, "ndcg@5=0.03,mrr@5=5%"),
        # a column may have any name
        ("a=b=2", "a=b=2"),
    ],
)
def test_a_tolerance_is_read_and_written(given, means):
    read = Tolerance.parse(given)
    assert str(read) == means
    assert Tolerance.parse(str(read)) == read
    assert AuditOptions(tolerance=given).tolerance == read


@pytest.mark.parametrize(
    "given",
    [
        "",
        "0,03",
        "0",
        "-1",
        "x",
        "ndcg=",
        "0%",
        "101%",
        "1,2",
        "a=1,a=2",
        "inf",
        0,
        -0.1,
        True,
        {},
        {1: 2},
    ],
)
def test_what_does_not_fit_is_refused(given):
    with pytest.raises(InputError, match="invalid tolerance: expected an amount above 0"):
        AuditOptions(tolerance=given)


def test_a_share_is_of_the_mean():
    assert Amount(0.05, is_share=True).in_units(0.4) == pytest.approx(0.02)
    assert Amount(0.05).in_units(-0.4) == 0.05
    assert Tolerance.parse("mrr=0.1").in_units("ndcg", 0.5) is None
