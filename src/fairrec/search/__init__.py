"""Which groups to look at next, when scoring users is expensive."""

from typing import TYPE_CHECKING

from fairrec.core.lazy import loaded_on_use

if TYPE_CHECKING:
    from fairrec.search.searchers import SEARCHERS

__all__ = ["SEARCHERS"]

__getattr__ = loaded_on_use(__name__, {"SEARCHERS": "fairrec.search.searchers"})
