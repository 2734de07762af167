from __future__ import annotations

import pytest

from fairrec.core.engines.options import EngineOptions
from fairrec.core.errors import InputError
from fairrec.core.options import from_command_line


def test_an_address_needs_ray():
    assert EngineOptions(engine="ray", address="auto", workers=3).workers == 3
    with from_command_line(), pytest.raises(InputError, match="Add --engine ray"):
        EngineOptions(address="auto")


def test_another_engine_is_refused():
    with pytest.raises(InputError, match="'local' or 'ray'"):
        EngineOptions.of(engine="spark")
