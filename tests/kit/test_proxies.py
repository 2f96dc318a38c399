"""Whose word about the client is believed."""

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from offhook.kit.http.proxies import TrustedProxies
from offhook.settings import Settings


async def tell(scope: Scope, receive: Receive, send: Send) -> None:
    request = Request(scope)
    client = request.client.host if request.client else None
    seen = {"client": client, "host": request.url.netloc, "scheme": request.url.scheme}
    await JSONResponse(seen)(scope, receive, send)


def ask(trusted: str, headers: list[tuple[str, str]]) -> dict[str, str]:
    client = TestClient(TrustedProxies(tell, trusted), client=("127.0.0.1", 40000))
    found: dict[str, str] = client.get("http://testserver/", headers=headers).json()
    return found


FORGED = [
    ("X-Forwarded-For", "8.8.8.8"),
    ("X-Forwarded-Proto", "https"),
    ("X-Forwarded-Host", "evil.example"),
]


def test_nobody_is_believed_by_default() -> None:
    assert ask(Settings().trusted_proxies, FORGED) == {"client": "127.0.0.1", "host": "testserver", "scheme": "http"}


def test_a_trusted_proxy_is_believed() -> None:
    assert ask("127.0.0.1", FORGED) == {"client": "8.8.8.8", "host": "evil.example", "scheme": "https"}


@pytest.mark.parametrize(
    "headers",
    [
        [("X-Forwarded-For", "8.8.8.8, 203.0.113.7"), ("X-Forwarded-Host", "evil.example, voice.example.com")],
        [
            ("X-Forwarded-For", "203.0.113.7"),
            ("X-Forwarded-Host", "evil.example"),
            ("X-Forwarded-Host", "voice.example.com"),
        ],
    ],
)
def test_what_the_nearest_proxy_added_counts(headers: list[tuple[str, str]]) -> None:
    assert ask("127.0.0.1", headers) == {"client": "203.0.113.7", "host": "voice.example.com", "scheme": "http"}
