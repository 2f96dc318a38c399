"""Routers of endpoints, which the application includes: their routes are built once, where they are included."""

import inspect
from collections.abc import Callable
from enum import Enum
from typing import Any, Final

from fastapi import APIRouter
from fastapi.routing import APIRoute
from starlette.routing import Match
from starlette.types import Scope

_DEFAULTS: Final = {
    parameter.name: parameter.default
    for parameter in inspect.signature(APIRoute).parameters.values()
    if parameter.default is not inspect.Parameter.empty
}


class IncludedRoute(APIRoute):
    """What was declared of a route. It answers only through a router that includes its own.

    The framework builds parameters, schemas and a handler for a route when it is declared, and again, with prefix and
    dependencies, for the router that includes it; only those answer. The first ones take a tenth of the start.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        declared = {**_DEFAULTS, **options}
        declared["form_limits"] = declared["form_limits"] or {}
        declared["name"] = declared["name"] or endpoint.__name__
        declared["methods"] = {method.upper() for method in declared["methods"] or ["GET"]}
        declared["description"] = declared["description"] or inspect.cleandoc(endpoint.__doc__ or "")
        vars(self).update(declared, path=path, endpoint=endpoint, stream_item_type=None)


class Router(APIRouter):
    """Endpoints with a prefix of their paths, for ``root.api.include_router``."""

    def __init__(self, *, prefix: str = "", tags: list[str | Enum] | None = None) -> None:
        super().__init__(prefix=prefix, tags=tags, route_class=IncludedRoute)
        self._fixed_prefix = prefix.partition("{")[0]

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Leaves the routes of other paths unbuilt: the framework builds those of every router that it asks."""
        if self._fixed_prefix not in scope["path"]:
            return Match.NONE, {}
        return super().matches(scope)
