"""Finds a request's route by the segments of its path: the framework tries every route, and nested routers twice."""

from collections.abc import Iterator
from operator import itemgetter
from typing import Any, Final

from fastapi import FastAPI
from fastapi.routing import APIRoute, APIWebSocketRoute, RouteContext, iter_route_contexts
from starlette.convertors import PathConvertor
from starlette.types import ASGIApp, Receive, Scope, Send

from offhook.kit.http.slashes import other_slash

_ANY_SEGMENT: Final = "{}"


class _SegmentTree:
    """A tree over the segments of path templates; its leaves are routes with their rank, the order of registration."""

    def __init__(self) -> None:
        self.below: dict[str, _SegmentTree] = {}
        self.routes: list[tuple[int, RouteContext]] = []

    def find_routes(self, segments: list[str], at: int = 0) -> Iterator[tuple[int, RouteContext]]:
        if at == len(segments):
            yield from self.routes
            return
        # A client's literal "{}" is not one of our keys: its own text is looked up first and may be the wildcard, which
        # is the same.
        for key in {segments[at], _ANY_SEGMENT}:
            if below := self.below.get(key):
                yield from below.find_routes(segments, at + 1)


class PathIndex:
    """Called by the router for each request. A request whose route is in the index goes straight to it.

    It is the same route that the framework would have found: the first one registered whose template and method
    match; failing any template, that of the other spelling of the slash. Everything else takes the framework's
    linear search: 405, 404 and pages, sockets, routes behind a kind that the index does not know (a mount, a
    parameter with slashes). Built with the first request; routes added later are found by the framework.
    """

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        self._otherwise: ASGIApp = app.router.app
        self._root: _SegmentTree | None = None
        self._is_complete = True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        route = self._select_route(scope) if scope["type"] == "http" else None
        await (route.app if route is not None else self._otherwise)(scope, receive, send)

    def _select_route(self, scope: Scope) -> RouteContext | None:
        """Returns the route, with its parameters set in the scope; None when the framework must match it."""
        if scope.get("root_path") or "fastapi.telemetry" in scope:  # tracing, if enabled, follows the framework
            return None
        if self._root is None:
            self._root = self._build_index()
        path: str = scope["path"]
        route, has_match = self._match_route(self._root, scope, path)
        if has_match or not self._is_complete:
            return route
        path = other_slash(path)
        route, _ = self._match_route(self._root, scope, path)
        if route is not None:
            scope["path"] = path
        return route

    def _match_route(self, root: _SegmentTree, scope: Scope, path: str) -> tuple[RouteContext | None, bool]:
        """Returns the route of this method, and whether the path exists for any method."""
        has_match = False
        for _, route in sorted(root.find_routes(path.split("/")), key=itemgetter(0)):
            match = route.path_regex.match(path)
            if match is None:
                continue
            has_match = True
            if scope["method"] in (route.methods or ()):
                convert = route.param_convertors
                scope["path_params"] = {name: convert[name].convert(text) for name, text in match.groupdict().items()}
                scope["endpoint"] = route.endpoint
                scope["route"] = route.original_route
                scope.setdefault("fastapi", {})["effective_route_context"] = route
                scope.setdefault("router", self._app.router)
                return route, True
        return None, has_match

    def _build_index(self) -> _SegmentTree:
        root = _SegmentTree()
        for rank, route in enumerate(iter_route_contexts(self._app.routes)):
            if isinstance(route.original_route, APIWebSocketRoute):
                continue
            convertors: dict[str, Any] = route.param_convertors
            has_slashes = any(isinstance(convertor, PathConvertor) for convertor in convertors.values())
            if not isinstance(route.original_route, APIRoute) or has_slashes:
                self._is_complete = False
                break
            node = root
            for segment in (route.path or "").split("/"):
                node = node.below.setdefault(_ANY_SEGMENT if "{" in segment else segment, _SegmentTree())
            node.routes.append((rank, route))
        return root
