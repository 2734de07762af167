"""The service of a run that adds up positions, as a process: `python served_sums.py SECONDS N`.

Requests have so many seconds to come in, and so many connections may be open.
"""

from __future__ import annotations

import logging
import socket
import sys
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import polars as pl

from fairrec.inputs.ids import known_positions
from fairrec_paper.models import server as connections
from fairrec_paper.models.server import serving_app


def sums(users: list[Any], items: list[Any]) -> Any:
    """A run of which a score tells the positions of its user and item."""

    def score(user_ids: Any, item_ids: Any) -> Any:
        known = known_positions(pl.Series("user_id", user_ids), pl.Series(users))
        return known + 10.0 * known_positions(pl.Series("item_id", item_ids), pl.Series(items))

    return SimpleNamespace(
        users=pl.DataFrame({"user_id": users}),
        items=pl.DataFrame({"item_id": items}),
        record=SimpleNamespace(model="sums"),
        score=score,
        version=lambda: "1f",
    )


if __name__ == "__main__":
    connections.REQUEST_SECONDS = float(sys.argv[1])
    connections.MOST_CONNECTIONS = int(sys.argv[2])
    logging.getLogger("uvicorn.error").addHandler(logging.StreamHandler())
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    run = sums([f"u{n}" for n in range(100)], [f"i{n}" for n in range(100)])
    with suppress(KeyboardInterrupt):
        connections.server_of(serving_app(run, "sums")).run(sockets=[listener])
