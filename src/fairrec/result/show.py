"""A page in a notebook, or in a file of its own."""

from __future__ import annotations

import html
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

HEIGHT = 900


def show_page(page: str) -> Path | None:
    """Display a page in a notebook; elsewhere write it to a temporary file and give its path."""
    if _in_notebook():
        notebook: Any = import_module("IPython.display")
        # a frame of its own keeps the page's styles and scripts from the notebook's; IPython warns
        # of one that does not stand in something else
        notebook.display(
            notebook.HTML(
                f'<div><iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts" '
                f'style="width:100%;height:{HEIGHT}px;border:0"></iframe></div>'
            )
        )
        return None
    folder = tempfile.mkdtemp(prefix="fairrec-")
    file = Path(folder) / "report.html"
    file.write_text(page, encoding="utf-8", newline="\n")
    return file


def _in_notebook() -> bool:
    """Whether a notebook runs this; a terminal, with IPython or without, is none."""
    ipython: Any = sys.modules.get("IPython")
    if ipython is None:
        return False
    shell = ipython.get_ipython()
    return shell is not None and hasattr(shell, "kernel")
