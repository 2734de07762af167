from __future__ import annotations

import pytest

from fairrec.auditing.options import TrendOptions
from fairrec.core.errors import InputError


def test_groups_are_read_as_text_as_mappings_and_several_at_once():
    wanted = frozenset({("gender", "F"), ("age", "56+")})
    for given in ("gender=F, age=56+", ["age=56+,gender=F"], {"gender": "F", "age": "56+"}):
        assert TrendOptions.of(group=given).group == (wanted,)
    assert len(TrendOptions.of(group=["gender=F", "gender=M", {"gender": "F"}]).group) == 2
    # a value with a comma can be named from Python
    assert TrendOptions.of(group={"town": "Bath, Avon"}).group == (
        frozenset({("town", "Bath, Avon")}),
    )


@pytest.mark.parametrize("given", ["gender", "", [3], "gender=F,gender=M"])
def test_what_is_no_group_is_refused(given):
    with pytest.raises(InputError, match="invalid group: expected attribute=value"):
        TrendOptions.of(group=given)
