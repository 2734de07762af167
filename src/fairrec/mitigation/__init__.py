"""Re-rankers: candidate lists -> the same candidates in another order."""

from typing import TYPE_CHECKING

from fairrec.core.lazy import loaded_on_use

if TYPE_CHECKING:
    from fairrec.mitigation.rerankers import RERANKERS

__all__ = ["RERANKERS"]

__getattr__ = loaded_on_use(__name__, {"RERANKERS": "fairrec.mitigation.rerankers"})
