from __future__ import annotations

import platform
from importlib.metadata import version

import numpy as np

from fairrec.core.version import __version__, installed_versions


def test_the_version_is_that_of_the_installed_package():
    assert __version__ == version("fairrec")


def test_versions_are_those_of_the_packages_that_compute():
    found = installed_versions()
    assert {"python", "numpy", "polars", "scipy", "numba"} == {*found}
    assert (found["python"], found["numpy"]) == (platform.python_version(), np.__version__)
