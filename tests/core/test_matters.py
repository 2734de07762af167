from __future__ import annotations

import pytest

from fairrec.core.audit_options import AuditOptions
from fairrec.core.errors import InputError
from fairrec.core.matters import Amount, Matters


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
def test_what_matters_is_read_and_written(given, means):
    read = Matters.parsed(given)
    assert str(read) == means
    assert Matters.parsed(str(read)) == read
    assert AuditOptions.of(matters=given).matters == read


@pytest.mark.parametrize(
    "given",
    ["", "0", "-1", "x", "ndcg=", "=", "0%", "101%", "1,2", "a=1,a=2", "inf", 0, -0.1, True],
)
def test_what_does_not_fit_is_refused(given):
    with pytest.raises(InputError, match="invalid matters: expected an amount above 0"):
        AuditOptions.of(matters=given)


@pytest.mark.parametrize(
    ("given", "why"),
    [
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
        AuditOptions.of(matters=given)


def test_a_share_is_of_the_mean():
    assert Amount(0.05, is_share=True).of(0.4) == pytest.approx(0.02)
    assert Amount(0.05).of(-0.4) == 0.05
    assert Matters.parsed("mrr=0.1").of("ndcg", 0.5) is None
