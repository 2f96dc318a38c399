"""Every path is served with and without a trailing slash, and never by redirect: clients do not follow one on POST."""

from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send

_TRIED_KEY = "offhook.other_slash"


def other_slash(path: str) -> str:
    return path[:-1] if path.endswith("/") else path + "/"


class EitherSlash:
    """What the router calls when no route matches: it tries the other spelling once, then ``fallback``.

    A path that matches as it is written costs nothing.
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
