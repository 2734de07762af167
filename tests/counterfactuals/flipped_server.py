"""A recommender that uses gender, behind HTTP: `python flipped_server.py PORT LOG N_CALLS`.

It exits in the middle of the call after so many, and knows no gender but F and M. Each pair it has
scored is a line of the log, written before the answer is sent. Only the standard library is used.
"""

from __future__ import annotations

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from typing import ClassVar

lock = Lock()
calls: list[int] = []


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    log: ClassVar[Path]
    most_calls: ClassVar[int]

    def log_message(self, *_: object) -> None:
        """Be quiet."""

    def do_POST(self) -> None:
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        pairs = [*zip(sent["user_id"], sent["item_id"], sent["gender"], strict=True)]
        with lock:
            calls.append(len(pairs))
            if len(calls) > self.most_calls:
                os._exit(1)
            unknown = [gender for _, _, gender in pairs if gender not in ("F", "M")]
            if unknown:
                self._reply(422, {"error": f"gender {unknown[0]} is not in the vocabulary"})
                return
            with self.log.open("a", encoding="utf-8") as log:
                log.writelines(f"{user} {item} {gender}\n" for user, item, gender in pairs)
        scores = [item if gender == "F" else -item for _, item, gender in pairs]
        self._reply(200, {"scores": scores})

    def _reply(self, code: int, content: object) -> None:
        body = json.dumps(content).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    Handler.log, Handler.most_calls = Path(sys.argv[2]), int(sys.argv[3])
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()
