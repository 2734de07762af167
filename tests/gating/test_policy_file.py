"""Audits beside the options that a policy asks for."""

from __future__ import annotations

import pytest

import fairrec
from fairrec.core.errors import InputError
from fairrec.gating.gate import read_policy
from tests.builders import audit, make_tables

RULE = '[[rule]]\nmetric = "mrr@5"\nmax_worse = 0.5\n'


def made(**options):
    tables = make_tables(80)
    return audit(
        tables.predictions, tables.users, **{"by": "gender", "metrics": ["mrr@5"], **options}
    )


@pytest.mark.parametrize(
    ("asked", "options", "says"),
    [
        ('by = ["gender", "age:3"]', {}, "it is not by age:3"),
        ("depth = 2", {"depth": 1}, "depth is 1, not 2"),
        ("alpha = 0.05", {"alpha": 0.2}, r"alpha is 0\.2, not 0\.05"),
        ('tolerance = "mrr=0.1"', {"tolerance": 0.3}, r"tolerance is 0\.3, not mrr@5=0\.1"),
        ('given = ["list_length"]', {}, "given is nothing, not list_length"),
        ('relevant = "label>=1"', {}, "relevant is None, not label>=1"),
    ],
)
def test_another_audit_than_asked_for_is_refused(tmp_path, asked, options, says):
    file = tmp_path / "fairrec.toml"
    file.write_text(f"[audit]\n{asked}\n{RULE}")
    with pytest.raises(InputError, match=f"asks for another audit than this one: {says}"):
        fairrec.gate(made(**options), file)


def test_an_audit_of_more_than_asked_for_is_judged(tmp_path):
    file = tmp_path / "fairrec.toml"
    file.write_text(f'[audit]\nby = ["gender"]\nalpha = 0.05\n{RULE}')
    read_policy(file).refuse_other_audit(made(by="gender,age:3").summary)
