"""How the stages of a long run are made known while it goes on."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Told the stage, the steps done and the steps in all (0 where they are not known)."""
