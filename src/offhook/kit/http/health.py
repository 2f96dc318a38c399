"""Liveness, readiness and metrics for load balancers, supervisors and Prometheus."""

import asyncio
import ipaddress
import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import cast

from fastapi import APIRouter, FastAPI, Request
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, Gauge, generate_latest
from pydantic import SecretStr
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from offhook import __version__
from offhook.errors import Unauthorized
from offhook.kit.database import migrations
from offhook.kit.database.database import Database
from offhook.kit.schema import Schema
from offhook.settings import Settings

ReadinessCheck = Callable[[Database], Awaitable[bool]]
CHECK_TIMEOUT_S = 3.0
DEPENDENCY_UP = Gauge("offhook_dependency_up", "What the process depends on: 1 when it answered last.", ("dependency",))
_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto")


class MetricsTokenRequired(Unauthorized):
    """Metrics require a bearer token. Set OFFHOOK_METRICS_TOKEN and send the token with the request."""

    code = "metrics_token_required"


class HealthResponse(Schema):
    status: str
    version: str
    signup_enabled: bool


class _Readiness:
    """Requests of the same moment share one run of the checks: anyone may ask, and each run takes a connection."""

    def __init__(self, checks: Mapping[str, ReadinessCheck]) -> None:
        self._checks = checks
        self._running: asyncio.Task[Mapping[str, bool]] | None = None

    async def run_checks(self, db: Database) -> Mapping[str, bool]:
        if self._running is None or self._running.done():
            self._running = asyncio.create_task(self._run_checks(db))
        return await asyncio.shield(self._running)

    async def _run_checks(self, db: Database) -> Mapping[str, bool]:
        results = dict.fromkeys(self._checks, False)
        for name, check in self._checks.items():
            with suppress(SQLAlchemyError, OSError, TimeoutError):
                async with asyncio.timeout(CHECK_TIMEOUT_S):
                    results[name] = await check(db)
            DEPENDENCY_UP.labels(name).set(results[name])
        return results


def install_health(app: FastAPI, checks: Mapping[str, ReadinessCheck]) -> None:
    """Serves the endpoints for load balancers and monitors: liveness, readiness and metrics. ``checks`` are reported by
    the second and the third."""
    app.state.readiness = _Readiness({"database": _database_answers, "migrations": migrations.is_current, **checks})
    router = APIRouter()
    router.add_api_route(
        "/api/v1/health", _health, response_model=HealthResponse, operation_id="get_health", tags=["health"]
    )
    router.add_api_route(
        "/health", _health, methods=["GET", "HEAD"], response_model=HealthResponse, include_in_schema=False
    )
    router.add_api_route("/ready", _ready, response_model=None, include_in_schema=False)
    router.add_api_route("/metrics", _metrics, response_model=None, include_in_schema=False)
    app.include_router(router)


# No closures: the framework keeps endpoints for as long as the process lives, and their application with them.


async def _health(request: Request) -> HealthResponse:
    settings: Settings = request.app.state.root.settings
    return HealthResponse(status="ok", version=__version__, signup_enabled=settings.signup_enabled)


async def _metrics(request: Request) -> Response:
    settings: Settings = request.app.state.root.settings
    if not _may_read_metrics(request, settings.metrics_token):
        raise MetricsTokenRequired
    return Response(generate_latest(REGISTRY), media_type=CONTENT_TYPE_LATEST)


def build_monitored_app(token: SecretStr | None) -> Starlette:
    """Returns the application of a process without an API: its metrics, and that it lives."""

    async def metrics(request: Request) -> Response:
        if not _may_read_metrics(request, token):
            refused = MetricsTokenRequired()
            return JSONResponse({"detail": refused.message, "code": refused.code}, refused.status)
        return Response(generate_latest(REGISTRY), media_type=CONTENT_TYPE_LATEST)

    async def health(request: Request) -> Response:
        return JSONResponse({"status": "ok", "version": __version__})

    return Starlette(routes=[Route("/metrics", metrics), Route("/health", health)])


def _may_read_metrics(request: Request, token: SecretStr | None) -> bool:
    """Whether the request has the token, or where there is none comes from this machine and not through a proxy."""
    if token is not None:
        sent = request.headers.get("authorization", "").encode()
        return secrets.compare_digest(sent, f"Bearer {token.get_secret_value()}".encode())
    if request.client is None or any(name in request.headers for name in _FORWARDED):
        return False
    try:
        return ipaddress.ip_address(request.client.host.removeprefix("::ffff:")).is_loopback
    except ValueError:
        return False


async def _ready(request: Request) -> Response:
    """Whether this process can take work. What all processes share does not count: a balancer that takes all of them out
    for it would answer carriers itself, and nobody would hear that the system is not available."""
    root, readiness = request.app.state.root, cast(_Readiness, request.app.state.readiness)
    dependencies = await readiness.run_checks(root.db)
    checks = {"accepting": not root.is_draining}
    # Without a database these cannot be up to date in any process.
    checks |= {name: check() or not dependencies["database"] for name, check in root.process_checks.items()}
    report = {"checks": _describe(checks), "dependencies": _describe(dependencies)}
    missing = [name for name, passed in checks.items() if not passed]
    if missing:
        detail = f"Not ready: {', '.join(missing)}."
        return JSONResponse({"detail": detail, "code": "not_ready", **report}, 503, {"Retry-After": "1"})
    return JSONResponse({"status": "ready", **report})


def _describe(results: Mapping[str, bool]) -> dict[str, str]:
    return {name: "ok" if passed else "missing" for name, passed in results.items()}


async def _database_answers(db: Database) -> bool:
    """A standby answers, and is of no use."""
    async with db.engine.connect() as connection:
        return bool((await connection.scalar(text("SHOW transaction_read_only"))) == "off")
