"""The version of the package, and of what its numbers rest on."""

from __future__ import annotations

import platform
from functools import cache

__version__ = "0.1.0"

_PACKAGES = ("numpy", "polars", "scipy", "numba")


def installed_versions() -> dict[str, str]:
    """Python and the packages that compute, with their versions."""
    return {"python": platform.python_version(), **{name: _version(name) for name in _PACKAGES}}


@cache
def _version(package: str) -> str:
    """Looked up once: reading the description of a package takes milliseconds."""
    from importlib.metadata import version

    return version(package)
