"""A recommender behind HTTP that misbehaves on request: `python faulty_server.py PORT LOG`.

The path says how: `/MODE/TAG/...`, where a tag keeps the count of one test apart from others.
Each batch that reaches it is written to the log as `TAG user user ...` before it is answered.
Only the standard library is used, so that nothing of FairRec answers to itself.
"""

from __future__ import annotations

import gzip
import json
import math
import random
import struct
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socket import SO_LINGER, SOL_SOCKET
from typing import Any

GIGABYTE = 10**9
N_FAULTS = 3
"""How many of the first requests fail in modes that pass by themselves."""
N_GOOD = 4
"""How many of the first requests are answered in modes that break later."""

lock = threading.Lock()
seen: Counter[str] = Counter()
chance = random.Random(0)
LOG = Path(sys.argv[2]) if len(sys.argv) > 2 else Path("log")

REFUSALS: dict[str, tuple[range, int, str, dict[str, str]]] = {
    "busy": (range(1, N_FAULTS + 1), 429, "slow down", {"Retry-After": "1"}),
    "busy-for-a-day": (range(N_GOOD + 1, 999), 429, "quota", {"Retry-After": "86400"}),
    "always-500": (range(1, 999), 500, "out of order", {}),
    "echo": (range(N_GOOD + 1, 999), 400, "", {}),
    "echo-500": (range(N_GOOD + 1, 999), 500, "", {}),
}
"""Which requests are refused, with which error: without words, what was sent, with its secrets."""
OTHER_SCORES: dict[str, tuple[int, Callable[[list[float]], list[Any]]]] = {
    "nan": (N_GOOD, lambda scores: [*scores[:-1], math.nan]),
    "random-scores": (0, lambda scores: [random.random() for _ in scores]),
    "sorted": (0, sorted),
    "equal": (0, lambda scores: [1.0 for _ in scores]),
}
"""How many requests are answered well, and what is given for scores after them."""


def score(user: object, item: object) -> float:
    """A number for a pair, the same here and in the tests."""
    return math.sin(7.3 * sum(str(user).encode()) + 1.7 * sum(str(item).encode()))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        _, mode, tag, *rest = self.path.partition("?")[0].split("/", 3)
        path = "/" + rest[0] if rest else "/"
        if mode == "not-ready" and path.endswith("ready"):
            with lock:
                seen[tag] += 1
                n = seen[tag]
            if n <= N_FAULTS:
                self.reply({"error": "still loading"}, 503)
                return
        ids = {"name": "", "datatype": "BYTES", "shape": [-1]}
        inputs = [{**ids, "name": name} for name in ("user_id", "item_id")]
        output = {"name": "score", "datatype": "FP64", "shape": [-1]}
        state = "LOADING" if mode == "loading" else "AVAILABLE"
        known = {
            "/v2/health/ready": {"ready": True},
            "/v2/models/m/ready": {"ready": True},
            "/v2/models/m": {"name": "m", "versions": ["7"], "inputs": inputs, "outputs": [output]},
            "/v1/models/m": {"model_version_status": [{"version": "3", "state": state}]},
        }
        if mode == "says":
            known["/v2/models/m"].update(json.loads((LOG.parent / "says.json").read_text()))
        self.reply(known.get(path, {"error": "not found"}), 200 if path in known else 404)

    def do_POST(self) -> None:
        _, mode, tag, *rest = self.path.partition("?")[0].split("/", 3)
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        kind = rest[0] if rest else ""
        if kind.startswith("v2"):
            columns = {one["name"]: one["data"] for one in body["inputs"]}
        else:
            columns = body["inputs"] if kind.startswith("v1") else body
        users, items = columns["user_id"], columns["item_id"]
        with lock:
            seen[tag] += 1
            n = seen[tag]
            draw = chance.random()
            with LOG.open("a") as log:
                log.write(" ".join([tag, *map(str, dict.fromkeys(users))]) + "\n")
        scores = [score(user, item) for user, item in zip(users, items, strict=True)]
        if mode in REFUSALS and n in REFUSALS[mode][0]:
            _, code, words, headers = REFUSALS[mode]
            self.reply({"error": words or f"{self.headers} {self.path}"}, code, headers)
            return
        if mode in OTHER_SCORES and n > OTHER_SCORES[mode][0]:
            scores = OTHER_SCORES[mode][1](scores)
        if kind.startswith("v2"):
            tensor = {"name": "score", "datatype": "FP64", "shape": [len(scores)], "data": scores}
            answer = {"model_name": "m", "outputs": [tensor]}
        else:
            answer = {"outputs": scores} if kind.startswith("v1") else {"scores": scores}
        act = getattr(self, "mode_" + mode.replace("-", "_"), None)
        if act is None or not act(n, draw, answer, columns):
            self.reply(answer)

    # each returns whether it has answered

    def mode_random_500(self, n, draw, answer, columns) -> bool:
        if draw < 0.1:
            self.reply({"error": "bad luck"}, 500)
        return draw < 0.1

    def mode_slow(self, n, draw, answer, columns) -> bool:
        if n <= N_FAULTS:
            time.sleep(1.5)
        return False

    def mode_dripping(self, n, draw, answer, columns) -> bool:
        """A byte now and then, for ever."""
        if n > N_FAULTS:
            return False
        self.head(len(json.dumps(answer)))
        for byte in json.dumps(answer).encode():
            self.wfile.write(bytes([byte]))
            self.wfile.flush()
            time.sleep(0.05)
        return True

    def mode_latency(self, n, draw, answer, columns) -> bool:
        time.sleep(0.02)
        return False

    def mode_reset(self, n, draw, answer, columns) -> bool:
        if n <= N_FAULTS:
            self.half(answer)
            # no farewell: the connection is reset
            self.connection.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
        return n <= N_FAULTS

    def mode_cut_off(self, n, draw, answer, columns) -> bool:
        """Less text than announced, and an orderly end of the connection."""
        if n <= N_FAULTS:
            self.half(answer)
        return n <= N_FAULTS

    def half(self, answer: object) -> None:
        text = json.dumps(answer).encode()
        self.head(len(text))
        self.wfile.write(text[: len(text) // 2])
        self.wfile.flush()
        self.close_connection = True

    def mode_truncated(self, n, draw, answer, columns) -> bool:
        """Half of the JSON, as if it were all."""
        if n <= N_FAULTS:
            text = json.dumps(answer).encode()
            self.send(text[: len(text) // 2])
        return n <= N_FAULTS

    def mode_always_truncated(self, n, draw, answer, columns) -> bool:
        if n > N_GOOD:
            self.send(json.dumps(answer).encode()[:-3])
        return n > N_GOOD

    def mode_compressed(self, n, draw, answer, columns) -> bool:
        if n > N_GOOD:
            more = {"Content-Encoding": "gzip"}
            self.send(gzip.compress(json.dumps(answer).encode()), more=more)
        return n > N_GOOD

    def mode_redirect(self, n, draw, answer, columns) -> bool:
        """To another host: the same server by another name, which would answer."""
        if n > N_GOOD:
            port = self.server.server_address[1]
            elsewhere = f"http://localhost:{port}/plain/elsewhere?key=s3cr3t-query"
            self.reply({}, 307, {"Location": elsewhere})
        return n > N_GOOD

    def mode_huge_unannounced(self, n, draw, answer, columns) -> bool:
        """A gigabyte in chunks."""
        if n > N_GOOD:
            self.head(None)
            self.close_connection = True
            with suppress(OSError):
                for _ in range(GIGABYTE >> 20):
                    self.wfile.write(b"100000\r\n%s\r\n" % (b" " * (1 << 20)))
        return n > N_GOOD

    def mode_html(self, n, draw, answer, columns) -> bool:
        if n > N_GOOD:
            self.send(b"<html>Please log in</html>", kind="text/html")
        return n > N_GOOD

    def mode_echo_scores(self, n, draw, answer, columns) -> bool:
        """Scores of which one is the token."""
        if n > N_GOOD:
            self.reply({"scores": [*answer["scores"][:-1], self.headers["Authorization"]]})
        return n > N_GOOD

    def mode_locked(self, n, draw, answer, columns) -> bool:
        is_refused = "Bearer s3cr3t" not in (self.headers["Authorization"] or "")
        if is_refused:
            self.reply({"error": "who are you?"}, 401)
        return is_refused

    def mode_one_of_two(self, n, draw, answer, columns) -> bool:
        """Two models at one address, told apart by the query."""
        sign = -1 if self.path.endswith("?model=bbbb") else 1
        self.reply({"scores": [sign * one for one in answer["scores"]]})
        return True

    def mode_features(self, n, draw, answer, columns) -> bool:
        """Scores that tell which features came."""
        with LOG.open("a") as log:
            log.write(f"{sorted(columns)}\n")
        self.reply({"scores": [100 * age for age in columns["age"]]})
        return True

    def mode_together(self, n, draw, answer, columns) -> bool:
        """Scores that depend on the others in the batch."""
        users = len(set(columns["user_id"]))
        self.reply({"scores": [one * users for one in answer["scores"]]})
        return True

    def reply(self, body: object, code: int = 200, more: dict[str, str] | None = None) -> None:
        self.send(json.dumps(body).encode(), code, more)

    def send(
        self, text: bytes, code: int = 200, more: dict[str, str] | None = None, kind: str = ""
    ) -> None:
        self.head(len(text), code, {"Content-Type": kind or "application/json", **(more or {})})
        self.wfile.write(text)

    def head(self, length: int | None, code: int = 200, more: dict[str, str] | None = None) -> None:
        self.send_response(code)
        for name, value in (more or {"Content-Type": "application/json"}).items():
            self.send_header(name, value)
        if length is None:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(length))
        self.end_headers()


class Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def handle_error(self, *_: object) -> None:
        """A client that goes away is no news."""


if __name__ == "__main__":
    server = Server(("127.0.0.1", int(sys.argv[1])), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()
