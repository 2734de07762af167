"""What tests of metrics share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numba.typed
import pytest

from fairrec.metrics import METRICS


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


@pytest.fixture(autouse=True)
def same_metrics_afterwards() -> Iterator[None]:
    """A metric that a test registers is gone after it."""
    known = list(METRICS)
    yield
    for name in [name for name in METRICS if name not in known]:
        METRICS.remove(name)
    assert list(METRICS) == known
