"""Write the pins anew: `python -m tests.pins`, before a refactoring and never during one."""

from __future__ import annotations

from tests.pins.kept import write_all

write_all()
