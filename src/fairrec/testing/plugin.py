"""What pytest finds by itself where FairRec is installed: the fixture `fairrec_gate`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from fairrec.gating.policy import GateResult


@pytest.fixture(scope="session")
def fairrec_gate(request: pytest.FixtureRequest) -> Callable[..., GateResult]:
    """`assert_within` with the policy beside the tests: `fairrec.toml` of pytest's root folder."""
    from fairrec.core.settings import SETTINGS_FILE
    from fairrec.testing import assert_within

    policy = request.config.rootpath / SETTINGS_FILE

    def gate(result: Any, **options: Any) -> GateResult:
        __tracebackhide__ = True
        return assert_within(result, options.pop("policy", policy), **options)

    return gate
