"""What tests of metrics share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fairrec.metrics import METRICS


@pytest.fixture(autouse=True)
def same_metrics_afterwards() -> Iterator[None]:
    """A metric that a test registers is gone after it."""
    known = list(METRICS)
    yield
    for name in [name for name in METRICS if name not in known]:
        METRICS.remove(name)
    assert list(METRICS) == known
