"""Finds a request's route by the segments of its path: the framework tries every route, and nested routers twice."""

from collections.abc import Iterable, Iterator
from operator import itemgetter
from typing import Final

from fastapi import FastAPI
from fastapi.routing import APIRoute, APIWebSocketRoute, RouteContext, _IncludedRouter, iter_route_contexts
from starlette.convertors import PathConvertor
from starlette.routing import BaseRoute, compile_path
from starlette.types import ASGIApp, Receive, Scope, Send

from offhook.kit.http.slashes import other_slash

_ANY_SEGMENT: Final = "{}"


class _SegmentTree:
    """A tree over the segments of path templates; its leaves are routes with their rank, the order of registration.

    Routers wait where their prefixes end: the framework builds the routes of one when they are first looked at, and
    those of all of them take half a second.
    """

    def __init__(self) -> None:
        self.below: dict[str, _SegmentTree] = {}
        self.routes: list[tuple[tuple[int, int], RouteContext]] = []
        self.waiting: list[tuple[int, BaseRoute]] = []

    def find_routes(self, segments: list[str], at: int = 0) -> Iterator[tuple[tuple[int, int], RouteContext]]:
        if self.waiting:
            self._read_routers(at)
        if at == len(segments):
            yield from self.routes
            return
        # A client's literal "{}" is not one of our keys: its own text is looked up first and may be the wildcard, which
        # is the same.
        for key in {segments[at], _ANY_SEGMENT}:
            if below := self.below.get(key):
                yield from below.find_routes(segments, at + 1)

    def grow(self, segments: Iterable[str]) -> "_SegmentTree":
        """Returns the tree below these segments of a template."""
        tree = self
        for segment in segments:
            tree = tree.below.setdefault(_ANY_SEGMENT if "{" in segment else segment, _SegmentTree())
        return tree

    def _read_routers(self, at: int) -> None:
        for rank, router in self.waiting:
            for place, route in enumerate(iter_route_contexts([router])):
                if not isinstance(route.original_route, APIWebSocketRoute):
                    leaf = self.grow((route.path or "").split("/")[at:])
                    leaf.routes.append(((rank, place), route))
        self.waiting = []


class PathIndex:
    """Called by the router for each request. A request whose route is in the index goes straight to it.

    It is the same route that the framework would have found: the first one registered whose template and method
    match; failing any template, that of the other spelling of the slash. Everything else takes the framework's
    linear search: 405, 404 and pages, sockets, routes behind a kind that the index does not know (a mount, a
    parameter with slashes). A router is read with the first request below its prefix; routes added later are found by
    the framework.
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
        for rank, router in enumerate(_each_router(self._app.routes)):
            if not all(_is_indexed(route) for route in _declared_routes(router)):
                self._is_complete = False
                break
            root.grow(_prefix_segments(router)).waiting.append((rank, router))
        return root


def _each_router(routes: Iterable[BaseRoute]) -> Iterator[BaseRoute]:
    """Yields the routers that have routes of their own, and routes outside of routers, in the framework's order."""
    for route in routes:
        if isinstance(route, _IncludedRouter) and all(
            isinstance(declared, _IncludedRouter) for declared in route.original_router.routes
        ):
            inner = route.effective_candidates()
            yield from _each_router(router for router in inner if isinstance(router, _IncludedRouter))
        else:
            yield route


def _declared_routes(route: BaseRoute) -> Iterator[BaseRoute]:
    if isinstance(route, _IncludedRouter):
        for inner in route.original_router.routes:
            yield from _declared_routes(inner)
    else:
        yield route


def _is_indexed(route: BaseRoute) -> bool:
    if not isinstance(route, APIRoute | APIWebSocketRoute):
        return False
    return not any(isinstance(found, PathConvertor) for found in compile_path(route.path)[2].values())


def _prefix_segments(route: BaseRoute) -> list[str]:
    if not isinstance(route, _IncludedRouter):
        return []
    return (route.include_context.prefix + route.original_router.prefix).split("/")
