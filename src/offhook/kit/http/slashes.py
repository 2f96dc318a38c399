"""Serves every path with and without a trailing slash, never by redirect: clients do not follow one on POST."""

from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send

_TRIED_KEY = "offhook.other_slash"


def other_slash(path: str) -> str:
    return path[:-1] if path.endswith("/") else path + "/"


class EitherSlash:
    """Called by the router when no route matches: tries the other spelling once, then ``fallback``.

    A path that matches as written costs nothing.
    """

    def __init__(self, router: Router, fallback: ASGIApp) -> None:
        self._router = router
        self._fallback = fallback

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope["path"]
        if _TRIED_KEY not in scope and path != "/":
            scope[_TRIED_KEY] = path
            scope["path"] = other_slash(path)
            await self._router.app(scope, receive, send)
            return
        scope["path"] = scope.get(_TRIED_KEY, path)
        await self._fallback(scope, receive, send)
