"""Complete a bill of materials (CycloneDX, JSON): FairRec's version, and the packages in `vega.js`.

    python .ci/sbom.py dist/sbom.cdx.json

No tool sees either: the version is dynamic, and the script is a file of the package.
"""

from __future__ import annotations

import json
import re
import runpy
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def completed(bom: dict[str, Any], version: str, packages: Iterable[str]) -> dict[str, Any]:
    """The same bill with FairRec's version, and packages of npm as components of FairRec.

    Parameters
    ----------
    packages : `name@version`
    """
    scripts = [
        {
            "bom-ref": f"pkg:npm/{package}",
            "name": package.split("@")[0],
            "purl": f"pkg:npm/{package}",
            "type": "library",
            "version": package.split("@")[1],
        }
        for package in sorted(packages)
    ]
    root = {**bom["metadata"]["component"], "version": version, "components": scripts}
    return {**bom, "metadata": {**bom["metadata"], "component": root}}


def main(file: Path) -> None:
    """Complete a file in its place."""
    text = (ROOT / "src/fairrec/core/version.py").read_text()
    (version,) = re.findall(r'^__version__ = "(.+)"$', text, re.M)
    packages = runpy.run_path(str(ROOT / ".ci" / "make_vega.py"))["PACKAGES"]
    bom = completed(json.loads(file.read_text()), version, packages)
    file.write_text(json.dumps(bom, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
