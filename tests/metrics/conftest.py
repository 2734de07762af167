"""What tests of metrics share."""

from __future__ import annotations

from typing import Any

import numba.typed
import pytest


@pytest.fixture(scope="module")
def ranx() -> Any:
    """The library, not compiled: a few small lists do not take as long as the compiler."""
    # the containers of numba that it uses are loaded on use, and work compiled only
    for name in ("Dict", "List"):
        assert getattr(numba.typed, name)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(numba.config, "DISABLE_JIT", True)
        import ranx
    return ranx
