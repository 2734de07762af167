"""Draw the pictures of the documents: `python docs/make_pictures.py`."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from rich.console import Console

from fairrec.demo import run_demo
from fairrec.report.text import print_text
from fairrec.report.view import build_view

IMAGES = Path(__file__).parent / "images"


def draw_demo() -> None:
    """The report of the demo as a terminal shows it."""
    with tempfile.TemporaryDirectory() as folder:
        result = run_demo(Path(folder), seed=0)
    with Path("/dev/null").open("w") as nowhere:
        console = Console(
            record=True, width=132, file=nowhere, force_terminal=True, highlight=False
        )
        print_text(build_view(result.summary), console)
        picture = console.export_svg(title="fairrec demo")
    # the fonts it names by address would be fetched from the network
    picture = re.sub(r"@font-face \{.*?\}", "", picture, flags=re.S)
    IMAGES.mkdir(exist_ok=True)
    (IMAGES / "demo.svg").write_text(picture)


if __name__ == "__main__":
    draw_demo()
