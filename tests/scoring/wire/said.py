"""What a server says, and protocols that hear it, without a server."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairrec.scoring.protocols import PROTOCOLS

PATHS = {"json": "", "oip": "/v2/models/m", "tfserving": "/v1/models/m"}
QUICK = {"first_wait": 0.01, "longest_wait": 0.05, "rows_per_call": 400}
COLUMNS = {"user_id": np.array([7, 8]), "item_id": np.array(["1", "2"], dtype=object)}


class Said:
    """Answers for a server with given JSON."""

    def __init__(self, **pages: Any) -> None:
        self._pages = {name.replace("_", "/"): page for name, page in pages.items()}

    def get(self, url: str) -> Any:
        return self._pages.get(url.partition("host/")[2])

    def is_there(self, url: str) -> bool:
        return True


def tensor(name: str, datatype: str, *shape: Any) -> dict[str, Any]:
    return {"name": name, "datatype": datatype, "shape": [*shape]}


def wire(protocol: str, path: str, **options: Any) -> Any:
    renamed, output = options.get("renamed", {}), options.get("output")
    return PROTOCOLS[protocol](f"http://host{path}", renamed, output, "It")
