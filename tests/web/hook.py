"""A customer's server: takes events, and fails the first one."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Hook:
    """``url`` is where it listens, ``events`` what has come, the failed one included."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/hook"
        self.events: list[dict[str, Any]] = []


@contextmanager
def listening() -> Iterator[Hook]:
    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            hook.events.append(json.loads(body))
            self.send_response(500 if len(hook.events) == 1 else 200)
            self.send_header("Content-Length", "5")
            self.end_headers()
            self.wfile.write(b"noted")

        def log_message(self, *_: object) -> None:
            """Not between the tests' own words."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    hook = Hook(server.server_address[1])
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield hook
    finally:
        server.shutdown()
        server.server_close()
