"""Run the notebooks anew and keep what they show: python docs/make_notebooks.py [NAME ...]."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent
NOTEBOOKS = sorted((*HERE.glob("start/*.ipynb"), *HERE.glob("gallery/*.ipynb")))


def ran(file: Path, folder: Path, **parameters: Any) -> Any:
    """The notebook run in a folder; parameters replace values of the cell that is tagged so."""
    notebook = nbformat.read(file, as_version=4)
    places = [
        place
        for place, cell in enumerate(notebook.cells)
        if "parameters" in cell.metadata.get("tags", ())
    ]
    if parameters:
        values = "\n".join(f"{name} = {value!r}" for name, value in parameters.items())
        notebook.cells.insert(places[0] + 1, nbformat.v4.new_code_cell(values))
    NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    ).execute()
    return notebook


def cleaned(notebook: Any) -> str:
    """Its text without what differs from run to run and from machine to machine."""
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}
    }
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", ()):
            output.metadata = {}
    return nbformat.writes(notebook, indent=1) + "\n"


if __name__ == "__main__":
    for file in NOTEBOOKS:
        if len(sys.argv) == 1 or file.stem in sys.argv[1:]:
            with tempfile.TemporaryDirectory() as name:
                text = cleaned(ran(file, Path(name)))
            file.write_text(text, "utf-8")
            print(f"{file.relative_to(HERE)}: {len(text.encode()):,} bytes")
