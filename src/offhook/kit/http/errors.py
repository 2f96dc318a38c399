"""Every error is sent as ``{"detail", "code"}`` (and ``field`` where one field is wrong); no client input causes a 500."""

from collections.abc import Mapping
from math import isfinite
from typing import Any

import structlog
from asyncpg.exceptions import DataError as AsyncpgDataError
from fastapi import FastAPI
from fastapi.encoders import jsonable_encoder
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import JSONResponse, Response
from starlette.websockets import WebSocket, WebSocketState

from offhook.errors import DomainError
from offhook.kit.database.database import DatabaseSilent
from offhook.kit.http.edge import add_headers, name_route

log = structlog.get_logger(__name__)

_CODES = {
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
    415: "unsupported_media_type",
    422: "validation_error",
    429: "too_many_requests",
    503: "not_ready",
}
# An id beyond its column's range (``kit.http.path_ids``) cannot exist.
_OUT_OF_RANGE = frozenset({"greater_than_equal", "less_than_equal", "int_parsing_size"})
_RETRY = {"Retry-After": "1"}

# A client mends a few at a time, and each repeats its place in the body.
MAX_PROBLEMS = 100


def install_error_handlers(app: FastAPI) -> None:
    app.add_exception_handler(DomainError, _domain_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_exception)
    app.add_exception_handler(DBAPIError, _database_error)
    app.add_exception_handler(PoolTimeout, _database_unreachable)
    app.add_exception_handler(DatabaseSilent, _database_unreachable)
    app.add_exception_handler(ConnectionError, _database_unreachable)
    app.add_exception_handler(ClientDisconnect, _client_disconnected)
    app.add_exception_handler(Exception, _unexpected_error)


def error_response(
    status: int, detail: Any, code: str, headers: Mapping[str, str] | None = None, *, field: str | None = None
) -> JSONResponse:
    content = {"detail": _replace_surrogates(detail), "code": code}
    return JSONResponse(content if field is None else {**content, "field": field}, status, headers)


def _replace_surrogates(value: Any) -> Any:
    """Returns the value without lone surrogates, so that messages that quote a client's text can be encoded."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_replace_surrogates(key): _replace_surrogates(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_replace_surrogates(item) for item in value]
    return value


async def _send_answer(connection: HTTPConnection, response: JSONResponse, code: str) -> Response:
    """Returns the response; a socket is refused with it, or closed if it is open already."""
    if not isinstance(connection, WebSocket):
        return response
    if connection.application_state is not WebSocketState.CONNECTING:
        await connection.close(1011 if response.status_code >= 500 else 1008, code)
    elif "websocket.http.response" in (connection.scope.get("extensions") or {}):
        await connection.send_denial_response(response)
    else:
        await connection.close(1008, code)
    return response


async def _client_disconnected(connection: HTTPConnection, error: Exception) -> Response:
    """Handles a client that disconnected before the request was read: it gets no response, and it is not our fault."""
    log.info("client_gone", route=name_route(connection.scope))
    return Response(status_code=400)


async def _domain_error(connection: HTTPConnection, error: Exception) -> Response:
    assert isinstance(error, DomainError)
    detail = error.message if error.detail is None else jsonable_encoder(error.detail)
    response = error_response(error.status, detail, error.code, error.headers, field=error.field)
    return await _send_answer(connection, response, error.code)


def _limit_of(problem: Mapping[str, Any]) -> dict[str, float]:
    """``{"limit": 8}`` for a value past a limit, else nothing."""
    context = problem.get("ctx") or {}
    figures = (context.get(name) for name in ("min_length", "max_length", "gt", "ge", "lt", "le", "multiple_of"))
    return next(({"limit": figure} for figure in figures if isinstance(figure, int | float) and isfinite(figure)), {})


async def _validation_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    # Without ``input`` and the rest of ``ctx``: they repeat passwords and what cannot be encoded.
    problems = [
        {"loc": list(e["loc"]), "msg": e["msg"].removeprefix("Value error, "), "type": e["type"], **_limit_of(e)}
        for e in error.errors()[:MAX_PROBLEMS]
    ]
    if problems and all(p["loc"][:1] == ["path"] and p["type"] in _OUT_OF_RANGE for p in problems):
        return error_response(404, "Not found", "not_found")
    return error_response(422, problems, "validation_error")


async def _http_exception(connection: HTTPConnection, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 400:  # the framework's term for a body that it cannot read
        problem = [{"loc": ["body"], "msg": str(error.detail), "type": "body_invalid"}]
        return error_response(422, problem, "validation_error")
    detail = str(error.detail).capitalize() if error.status_code < 500 else "The service has a problem."
    code = _CODES.get(error.status_code, f"http_{error.status_code}")
    return await _send_answer(connection, error_response(error.status_code, detail, code, error.headers), code)


async def _database_error(connection: HTTPConnection, error: Exception) -> Response:
    """Responds to requests whose values the database rejected.

    Invalid text or a number too large: the input's fault, 422. A row that another request created or removed at the
    same time: 409. A lost connection or a deadlock: 503, try again. The rest is ours.
    """
    assert isinstance(error, DBAPIError)
    state = getattr(error.orig, "sqlstate", None) or ""
    if state.startswith("22") or isinstance(getattr(error.orig, "__cause__", None), AsyncpgDataError):
        log.info("request_refused_by_database", sqlstate=state, error=type(error.orig).__name__)
        problem = [{"loc": ["body"], "msg": "A value cannot be stored.", "type": "value_not_storable"}]
        return await _send_answer(connection, error_response(422, problem, "value_not_storable"), "value_not_storable")
    if state.startswith("23"):
        # Not the error itself: its details have the row.
        constraint = getattr(getattr(error.orig, "__cause__", None), "constraint_name", None)
        route = name_route(connection.scope)
        log.warning("request_conflicted_in_database", sqlstate=state, constraint=constraint, route=route)
        return await _send_answer(
            connection, error_response(409, "This changed at the same time: try again.", "conflict"), "conflict"
        )
    if error.connection_invalidated or state[:2] in {"08", "40", "53", "57"}:
        return await _database_unreachable(connection, error)
    return await _unexpected_error(connection, error)


async def _database_unreachable(connection: HTTPConnection, error: Exception) -> Response:
    log.warning("database_unreachable", error=f"{type(error).__name__}: {error}")
    return await _send_answer(
        connection, error_response(503, "The database is unavailable. Try again.", "not_ready", _RETRY), "not_ready"
    )


async def _unexpected_error(connection: HTTPConnection, error: Exception) -> Response:
    """Responds to unexpected errors with the id of the log entry, without details of the error."""
    error_id = connection.scope.get("state", {}).get("request_id", "unknown")
    log.error("request_failed", error_id=error_id, route=name_route(connection.scope), exc_info=error)
    response = error_response(500, f"Internal error. The server log has details under {error_id}.", "internal_error")
    # This response bypasses the edge that adds them elsewhere.
    is_https = connection.url.scheme in {"https", "wss"}
    add_headers(MutableHeaders(raw=response.raw_headers), error_id, is_api=True, is_https=is_https)
    return await _send_answer(connection, response, "internal_error")
