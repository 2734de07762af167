from __future__ import annotations

import pytest

from fairrec.core.errors import InputError
from fairrec.trends.options import TrendOptions


def test_groups_are_read_as_text_as_mappings_and_several_at_once():
    wanted = frozenset({("gender", "F"), ("age", "56+")})
    for given in ("gender=F, age=56+", ["age=56+,gender=F"], {"gender": "F", "age": "56+"}):
        assert TrendOptions(group=given).group == (wanted,)
    assert len(TrendOptions(group=["gender=F", "gender=M", {"gender": "F"}]).group) == 2
    # a value with a comma can be named from Python
    assert TrendOptions(group={"town": "Bath, Avon"}).group == (
        frozenset({("town", "Bath, Avon")}),
    )


@pytest.mark.parametrize("given", ["gender", "", [3], "gender=F,gender=M"])
def test_what_is_no_group_is_refused(given):
    with pytest.raises(InputError, match="invalid group: expected attribute=value"):
        TrendOptions(group=given)
