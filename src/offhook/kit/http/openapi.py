"""The OpenAPI description: its version, its address, and the errors that every operation can return."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeVar

from fastapi import FastAPI, Request
from fastapi.dependencies.models import Dependant
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute, iter_route_contexts
from starlette.responses import JSONResponse, Response

PATH = "/api/v1/openapi.json"
TITLE = "Offhook"
VERSION = "1.0.0"

_ERRORS = {
    "401": "The credential is missing or invalid",
    "403": "Your role does not allow this",
    "404": "Not found",
    "409": "The current state does not allow this",
    "429": "Too many requests. Retry-After says how many seconds to wait",
    "503": "The database is unavailable. Try again",
}
_BODY_ERRORS = {"413": "The body is too large"}
# Errors of only some operations, which declare them with ``responses=error_responses(…)``.
_SPECIFIC_ERRORS = {
    400: "The carrier account does not support this",
    402: "Out of credit",
    415: "The file type is not supported",
    502: "A carrier or a vendor failed",
    504: "A vendor took too long",
    507: "The disk is full",
}
_FIELD_SCHEMA = {
    "title": "Field",
    "type": "string",
    "description": "The invalid field, dotted; only if the error refers to one",
}
_ERROR_SCHEMA = {
    "title": "ErrorResponse",
    "type": "object",
    "required": ["detail", "code"],
    "properties": {
        "detail": {
            "title": "Detail",
            "description": "A message for people; an object or a list where the error has parts",
            "anyOf": [{"type": "string"}, {"type": "object"}, {"type": "array", "items": {}}],
        },
        "code": {"title": "Code", "type": "string", "description": "A stable code for programs"},
        "field": _FIELD_SCHEMA,
    },
}

_DECLARED: Final = "offhook_declared_headers"
F = TypeVar("F", bound=Callable[..., Any])


def declares_headers(headers: Mapping[str, str]) -> Callable[[F], F]:
    """Describes optional text headers (name to sentence) that a dependency reads from the connection itself.

    For what every request needs: as the framework's parameters, two headers cost more than the rest of the
    dependency.
    """

    def mark_dependency(dependency: F) -> F:
        setattr(dependency, _DECLARED, headers)
        return dependency

    return mark_dependency


def error_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Returns an operation's ``responses=`` for the errors that are not common to all."""
    return {status: _error_response(_SPECIFIC_ERRORS[status], "ErrorResponse") for status in statuses}


def install_openapi(app: FastAPI) -> None:
    """Serves the description at ``/api/v1/openapi.json``, built on the first request; no page loads a CDN."""
    app.title, app.version = TITLE, VERSION

    def get_description() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _build_description(app)
        return app.openapi_schema

    app.openapi = get_description  # type: ignore[method-assign] # the framework's own way to change the description
    app.add_api_route(PATH, _serve_description, response_model=None, include_in_schema=False)


async def _serve_description(request: Request) -> Response:
    # No closure: the framework keeps endpoints for as long as the process lives, and their application with them.
    app: FastAPI = request.app
    return JSONResponse(app.openapi())


def _build_description(app: FastAPI) -> dict[str, Any]:
    schema = get_openapi(title=TITLE, version=VERSION, summary="Voice agents on the telephone", routes=app.routes)
    schema.setdefault("components", {}).setdefault("schemas", {})["ErrorResponse"] = _ERROR_SCHEMA
    _complete_validation_errors(schema["components"]["schemas"])
    _add_declared_headers(app, schema["paths"])
    for path, operations in schema["paths"].items():
        if path.endswith("/health"):
            continue
        for operation in operations.values():
            responses = operation.setdefault("responses", {})
            common = _ERRORS | _BODY_ERRORS if "requestBody" in operation else _ERRORS
            for status, description in common.items():
                responses.setdefault(status, _error_response(description, "ErrorResponse"))
            responses["422"] = _error_response("The request is invalid", "HTTPValidationError")
    return schema


def _add_declared_headers(app: FastAPI, paths: dict[str, Any]) -> None:
    for route in iter_route_contexts(app.routes):
        if not isinstance(route.original_route, APIRoute) or not route.include_in_schema:
            continue
        found = {name: text for headers in _declared_headers(route.dependant) for name, text in headers.items()}
        for method in route.methods or ():
            operation = paths[route.path_format or ""][method.lower()]
            parameters = operation.get("parameters", [])
            known = {parameter["name"].lower() for parameter in parameters if parameter["in"] == "header"}
            for name, text in found.items():
                if name.lower() not in known:
                    schema = {
                        "anyOf": [{"type": "string"}, {"type": "null"}],
                        "description": text,
                        "title": name.title(),
                    }
                    parameters.append(
                        {"name": name, "in": "header", "required": False, "description": text, "schema": schema}
                    )
            if parameters:
                operation["parameters"] = parameters


def _declared_headers(dependant: Dependant) -> Iterator[Mapping[str, str]]:
    yield getattr(dependant.call, _DECLARED, {})
    for below in dependant.dependencies:
        yield from _declared_headers(below)


def _complete_validation_errors(schemas: dict[str, Any]) -> None:
    """Describes 422: a list of problems and, like every error, a code; or a sentence where one rule was broken."""
    schemas["ValidationError"] = {
        "title": "ValidationError",
        "type": "object",
        "required": ["loc", "msg", "type"],
        "properties": {
            "loc": {
                "title": "Location",
                "type": "array",
                "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            },
            "msg": {"title": "Message", "type": "string"},
            "type": {"title": "Error Type", "type": "string"},
            "limit": {
                "title": "Limit",
                "description": "The limit that the value exceeds, such as the maximum length; only if there is one",
                "type": "number",
            },
        },
    }
    schemas["HTTPValidationError"] = {
        "title": "HTTPValidationError",
        "type": "object",
        "required": ["detail", "code"],
        "properties": {
            "detail": {
                "title": "Detail",
                "anyOf": [
                    {"type": "array", "items": {"$ref": "#/components/schemas/ValidationError"}},
                    {"type": "string"},
                    {"type": "object"},
                ],
            },
            "code": {"title": "Code", "type": "string"},
            "field": _FIELD_SCHEMA,
        },
    }


def _error_response(description: str, schema: str) -> dict[str, Any]:
    return {
        "description": description,
        "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}},
    }


def sdk_method(name: str, description: str) -> dict[str, str]:
    """Returns ``openapi_extra`` for an operation that generated client libraries offer under this name."""
    return {"x-sdk-method": name, "x-sdk-description": description}
