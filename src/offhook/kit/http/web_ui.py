"""Serves the built web UI on every path that no route of the API has."""

import mimetypes
import re
from pathlib import Path
from urllib.parse import urlsplit

import anyio.to_thread
from starlette.datastructures import Headers
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

_CSP = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",  # the component library sets styles on elements
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "media-src 'self' blob:",
        "worker-src 'self' blob:",
        "connect-src 'self' {sockets}",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
_HOST = re.compile(r"[A-Za-z0-9.-]+(:[0-9]+)?|\[[0-9A-Fa-f:.]+\](:[0-9]+)?")
_PAGE_HEADERS = {
    "permissions-policy": "microphone=(self), camera=(), geolocation=()",
    "cache-control": "no-cache",
}
# Their names contain a hash of their content.
_ASSET_HEADERS = {"cache-control": "public, max-age=31536000, immutable", "vary": "accept-encoding"}
# The build also writes each script and style in these encodings, smallest first.
_ENCODINGS = {"br": ".br", "gzip": ".gz"}

_NOT_BUILT = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Offhook</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem}</style>
<h1>Offhook is running</h1>
<p>The API answers, but this copy has no web pages: they are built from the folder <code>web</code>.</p>
<p>In a checkout, run <code>make run</code>, which builds them with Node 20 or newer. Then load this page again.</p>
<p>The interface description is at <a href="/api/v1/openapi.json">/api/v1/openapi.json</a>.</p>
</html>
"""


class WebUi:
    """An ASGI application over a folder with ``index.html``; requests for anything else go to ``fallback``.

    Browsers that open a URL of the UI get ``index.html``; a program that requests an unknown path gets the 404.
    """

    def __init__(self, folder: Path, fallback: ASGIApp, public_url: str | None = None) -> None:
        self._folder = folder.resolve()
        self._fallback = fallback
        self._public_host = urlsplit(public_url or "").netloc

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await self._respond_to(scope) if scope["type"] == "http" else None
        await (response or self._fallback)(scope, receive, send)

    async def _respond_to(self, scope: Scope) -> Response | None:
        path: str = scope["path"]
        if scope["method"] not in {"GET", "HEAD"} or path == "/api" or path.startswith("/api/"):
            return None
        if path.startswith("/assets/"):
            asset = await anyio.to_thread.run_sync(
                self._find_asset, path, Headers(scope=scope).get("accept-encoding", "")
            )
            if asset is not None:
                return asset
        found = await anyio.to_thread.run_sync(self._find_file, path)
        if found is not None and found.name != "index.html":
            return FileResponse(found, headers={"cache-control": "no-cache"})
        wants_page = path == "/" or "text/html" in Headers(scope=scope).get("accept", "")
        if path != "/index.html" and (not wants_page or "." in path.rpartition("/")[2]):
            return None
        index = await anyio.to_thread.run_sync(self._find_file, "/index.html")
        if index is None:
            return HTMLResponse(_NOT_BUILT, headers=self._page_headers(scope))
        return FileResponse(index, headers=self._page_headers(scope))

    def _page_headers(self, scope: Scope) -> dict[str, str]:
        """The page's sockets go to this server: under the name that the browser used, and under its public one."""
        hosts = {name for name in (Headers(scope=scope).get("host", ""), self._public_host) if _HOST.fullmatch(name)}
        sockets = " ".join(f"ws://{host} wss://{host}" for host in sorted(hosts))
        return {**_PAGE_HEADERS, "content-security-policy": _CSP.format(sockets=sockets)}

    def _find_asset(self, path: str, accepted: str) -> FileResponse | None:
        """Returns the file in the smallest encoding that the browser accepts."""
        kind = mimetypes.guess_type(path)[0]
        offers = [part.strip().lower().partition(";") for part in accepted.split(",")]
        # Without those that the browser refuses by ``q=0``.
        names = {
            name.strip() for name, _, weight in offers if weight.replace(" ", "").rstrip("0") not in {"q=", "q=0."}
        }
        for encoding in (name for name in _ENCODINGS if name in names):
            if file := self._find_file(path + _ENCODINGS[encoding]):
                return FileResponse(file, headers={**_ASSET_HEADERS, "content-encoding": encoding}, media_type=kind)
        plain = self._find_file(path)
        return None if plain is None else FileResponse(plain, headers=_ASSET_HEADERS)

    def _find_file(self, path: str) -> Path | None:
        """Returns the file of this path, if it is inside the folder."""
        if "\0" in path or path.endswith("/"):
            return None
        try:
            file = (self._folder / path.lstrip("/")).resolve()
            return file if file.is_relative_to(self._folder) and file.is_file() else None
        except OSError:  # a name longer than the file system allows
            return None
