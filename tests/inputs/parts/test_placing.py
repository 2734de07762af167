"""Everyone is in one part, which the codes of ids determine."""

from __future__ import annotations

import numpy as np
import pytest

from fairrec.inputs.parts import placing
from fairrec.inputs.parts.cutting import Cuts
from fairrec.inputs.parts.placing import Everyone, KnownCodes


@pytest.mark.parametrize("codes", [[3, 1, 2], [-5, 10**12, 7], [1, 10**15, 10**17], [4]])
def test_codes_are_looked_up_close_together_or_not(
    codes: list[int], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(placing, "_AT_ONCE", 3)
    known = KnownCodes(np.array(codes))
    asked = [*codes, 0, 99, -(2**63), 2**63 - 1, *codes[::-1]]
    expected = [codes.index(code) if code in codes else -1 for code in asked]
    assert known.positions(np.array(asked)).tolist() == expected
    assert known.repeated.tolist() == []


@pytest.mark.parametrize("far", [1, 10**12])
def test_codes_that_are_there_twice_are_named(far: int):
    known = KnownCodes(np.array([5, 3, 5, 9, 3, 5]) * far)
    assert known.repeated.tolist() == [0, 1, 2, 4, 5]
    everyone = Everyone(known, None, n_main=6, n_rows=2)
    assert everyone.is_audited.tolist() == [True, True, True, False, True, True]
    assert len({*everyone.parts[[0, 2, 5]].tolist()}) == 1


def cuts() -> Cuts:
    """Users 30, 10, 20 in two parts, and one whom nobody knows."""
    return Cuts(np.array([30, 10, 20, 77]), np.array([0, 5, 9]), np.array([0, 2, 4]), False)


def test_users_are_where_they_are_cut_and_the_others_after_them():
    everyone = Everyone(KnownCodes(np.array([10, 11, 12, 20, 30])), cuts(), n_main=9, n_rows=1)
    assert everyone.n_parts == 4
    assert everyone.parts[[0, 3, 4]].tolist() == [0, 1, 0]
    assert {*everyone.parts[[1, 2]].tolist()} <= {2, 3}
    assert everyone.is_audited.tolist() == [True, False, False, True, True]


def test_rows_go_where_their_users_are():
    everyone = Everyone(KnownCodes(np.array([10, 11, 12, 20, 30])), cuts(), n_main=9, n_rows=10)
    codes = np.array([20, 12, 500])
    parts = everyone.place(codes, are_audited=False, are_all_kept=False)
    assert parts.tolist() == [1, 2, -1]
    assert not everyone.is_audited[2]
    parts = everyone.place(codes, are_audited=True, are_all_kept=True)
    assert everyone.is_audited[2]
    assert 0 <= parts[2] < everyone.n_parts


def test_scattered_rows_are_in_as_many_parts_as_rows_or_users_need():
    known = KnownCodes(np.arange(100))
    assert Everyone(known, None, n_main=1000, n_rows=50).n_parts == 20
    everyone = Everyone(known, None, n_main=10, n_rows=50)
    assert everyone.n_parts == 2
    assert 20 < np.bincount(everyone.parts)[0] < 80
    placed = everyone.place(np.arange(200), are_audited=True, are_all_kept=True)
    assert placed[:100].tolist() == everyone.parts.tolist()
