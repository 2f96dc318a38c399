"""The outermost layer of a request: its id, its log line, its metrics and the headers of every response."""

import re
import secrets
import time
from typing import Any

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from offhook.kit.http.metrics import LATENCY, REQUESTS

log = structlog.get_logger(__name__)

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_TOO_LARGE = b'{"detail":"The body is too large.","code":"too_large"}'
_HEADERS = (
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    # Sign-in and recording links carry tokens in their URL.
    ("referrer-policy", "no-referrer"),
)
# A year, as browsers' preload lists ask for. Not for subdomains: they may be others'.
_HTTPS_ONLY = "max-age=31536000"


class HttpEdge:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given_id = Headers(scope=scope).get("x-request-id", "")
        request_id = given_id if _REQUEST_ID.fullmatch(given_id) else secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = request_id
        started, status = time.perf_counter(), 500
        is_api: bool = scope["path"].startswith("/api/")
        is_https: bool = scope.get("scheme") == "https"
        is_plain_refusal = False

        async def send_with_headers(message: Message) -> None:
            nonlocal status, is_plain_refusal
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                add_headers(headers, request_id, is_api=is_api, is_https=is_https)
                # The framework's body limit responds in plain text.
                is_plain_refusal = status == 413 and headers.get("content-type", "").startswith("text/plain")
                if is_plain_refusal:
                    headers["content-type"] = "application/json"
                    headers["content-length"] = str(len(_TOO_LARGE))
            elif is_plain_refusal:
                message = {"type": "http.response.body", "body": _TOO_LARGE}
            await send(message)

        try:
            with structlog.contextvars.bound_contextvars(request_id=request_id):
                await self._app(scope, receive, send_with_headers)
        finally:
            _observe(scope, status, time.perf_counter() - started)


def add_headers(headers: MutableHeaders, request_id: str, *, is_api: bool, is_https: bool) -> None:
    """Adds the headers of every response; an endpoint's own caching header is kept."""
    headers["x-request-id"] = request_id
    for name, value in _HEADERS:
        headers.setdefault(name, value)
    if is_https:
        headers.setdefault("strict-transport-security", _HTTPS_ONLY)
    if is_api:
        headers.setdefault("cache-control", "no-store")


def name_route(scope: Scope) -> str:
    """Returns the template of a request's path, or ``unmatched``. Logs and metrics never have the path itself: it holds
    ids and tokens, and each would be a new time series."""
    inner: dict[str, Any] = scope.get("fastapi") or {}
    matched = (inner.get("effective_route_context"), scope.get("route"))
    return next((str(path) for part in matched if (path := getattr(part, "path_format", None))), "unmatched")


def _observe(scope: Scope, status: int, seconds: float) -> None:
    route = name_route(scope)
    method = scope["method"] if scope["method"] in _METHODS else "OTHER"
    REQUESTS.labels(method, route, status).inc()
    LATENCY.labels(method, route).observe(seconds)
    log.debug("http_request", method=method, route=route, status=status, duration_ms=round(seconds * 1000, 2))
