"""A customer's server, which takes events and fails the first one; and what the page shows of it."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from playwright.sync_api import Page, expect

from tests.web.keyboard import walk_dialog
from tests.web.looks import picture


class Hook:
    """``url`` is where it listens, ``events`` what has come, the failed one included."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/hook"
        self.events: list[dict[str, Any]] = []
        self.came = threading.Condition()

    def take(self, event: dict[str, Any]) -> int:
        """The status that it is answered with."""
        with self.came:
            self.events.append(event)
            self.came.notify_all()
            return 500 if len(self.events) == 1 else 200

    def has_more_than(self, count: int) -> bool:
        """Waits a minute for it."""
        with self.came:
            return self.came.wait_for(lambda: len(self.events) > count, 60)


@contextmanager
def listening() -> Iterator[Hook]:
    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(hook.take(json.loads(body)))
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


def deliveries_are_shown(page: Page, hook: Hook) -> None:
    """The first one failed and is tried again by itself; one that arrived is sent again when somebody wants it."""
    page.goto("/settings/webhooks")
    page.get_by_role("button", name="Deliveries").click()
    table = page.get_by_role("region", name="Deliveries")
    arrived = table.get_by_role("row").filter(has_text="200").first
    expect(arrived).to_contain_text("campaign.status_changed")
    picture(page, "settings-webhook-deliveries")
    before = len(hook.events)
    arrived.get_by_role("button", name="Send again").click()
    expect(page.get_by_text("Queued to be sent again.")).to_be_visible()
    look = table.get_by_role("row").last.get_by_role("button", name="View")
    look.press("Enter")
    drawer = page.get_by_role("dialog")
    expect(drawer.get_by_text("Attempt 1", exact=True)).to_be_visible()
    expect(drawer).to_contain_text("500")
    expect(drawer).to_contain_text("noted")
    assert walk_dialog(page, look) == []
    assert hook.has_more_than(before)
