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
        ({"a,b": 0.1}, '"a,b"=0.1'),
        ('"a,b" = 0.1, 5%', '"a,b"=0.1,5%'),
        ({"a=0.1,b": 0.2, "c": 3}, '"a=0.1,b"=0.2,c=3'),
        ({"a,0,5": 0.1}, '"a,0,5"=0.1'),
        ({'"q"': 0.1}, r'"\"q\""=0.1'),
        ({'x"y': 0.1}, 'x"y=0.1'),
        ({"a\n,b": "5%"}, r'"a\n,b"=5%'),
    ],
)
def test_what_matters_is_read_and_written(given, means):
    read = Tolerance.parsed(given)
    assert str(read) == means
    assert Tolerance.parsed(str(read)) == read
    assert AuditOptions.of(tolerance=given).tolerance == read


@pytest.mark.parametrize(
    "given",
    [
        "",
        "0",
        "-1",
        "x",
        "ndcg=",
        "=",
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
        AuditOptions.of(tolerance=given)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("=5", r"got '=5' \(no metric is named; for all metrics, give the amount alone\)"),
        ({" ": 5}, r"got ' =5' \(no metric is named"),
        ("500%", r"got '500%' \(a share is at most 100% of the mean\)"),
        ("a=1,a=2", r"got 'a=2' \(this metric is named twice\)"),
        ("1,2", r"got '2' \(a second amount for all metrics\)"),
        ("0,03", r"got '0,03' \(amounts stand between commas: write the decimals as in 0\.03\)"),
        ("mrr=0.1,ndcg@5=0,03", "write the decimals as in 0.03"),
        ("0,5%", "write the decimals as in 0.03"),
    ],
)
def test_the_reason_is_said(given, why):
    with pytest.raises(InputError, match=why):
        AuditOptions.of(tolerance=given)


def test_a_share_is_of_the_mean():
    assert Amount(0.05, is_share=True).of(0.4) == pytest.approx(0.02)
    assert Amount(0.05).of(-0.4) == 0.05
    assert Tolerance.parsed("mrr=0.1").of("ndcg", 0.5) is None
