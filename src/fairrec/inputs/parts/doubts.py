"""What would be wrong if it were so in every part, and is judged when all have been read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fairrec.core.errors import InputError
from fairrec.inputs.audit_inputs import AuditInputs


@dataclass(frozen=True, slots=True)
class Doubts:
    """Doubts about tables, of one part or of several.

    Parameters
    ----------
    found : by table and kind; None where a part shows that there is nothing in it
    """

    found: Mapping[tuple[str, str], str | None] = field(default_factory=dict)

    @classmethod
    def of(cls, inputs: AuditInputs) -> Doubts:
        """Those that reading a part left open."""
        return cls(
            {
                (name, kind): message
                for name, table in inputs.tables.items()
                for kind, message in table.doubts.items()
            }
        )

    def __add__(self, other: Doubts) -> Doubts:
        """Those of both: one that a part has cleared is none."""
        both = {**other.found, **self.found}
        cleared = {
            key: None for one in (self, other) for key, said in one.found.items() if said is None
        }
        return Doubts(both | cleared)

    def refuse(self) -> None:
        """An error for the first doubt that no part has cleared."""
        for message in self.found.values():
            if message is not None:
                raise InputError(message)
