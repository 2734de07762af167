"""The version of the package, and of what its numbers rest on."""

from __future__ import annotations

import platform

__version__ = "0.1.0"

_PACKAGES = ("numpy", "polars", "scipy", "numba")


def installed_versions() -> dict[str, str]:
    """Python and the packages that compute, with their versions."""
    from importlib.metadata import version

    return {"python": platform.python_version(), **{name: version(name) for name in _PACKAGES}}
