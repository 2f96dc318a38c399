"""Liveness, readiness and metrics for load balancers, supervisors and Prometheus."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from fastapi import APIRouter, FastAPI, Request
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, generate_latest
from pydantic import BaseModel
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from starlette.responses import JSONResponse, Response

from offhook import __version__
from offhook.kit.database import migrations
from offhook.kit.database.database import Database
from offhook.settings import Settings

ReadinessCheck = Callable[[Database], Awaitable[bool]]
CHECK_TIMEOUT_S = 3.0


class HealthResponse(BaseModel):
    status: str
    version: str
    signup_enabled: bool


def install_health(app: FastAPI, checks: Mapping[str, ReadinessCheck]) -> None:
    """Serves the endpoints for load balancers and monitors: liveness, readiness by all ``checks``, and metrics."""
    app.state.health_checks = {"database": _database_answers, "migrations": migrations.is_current, **checks}
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


async def _metrics() -> Response:
    return Response(generate_latest(REGISTRY), media_type=CONTENT_TYPE_LATEST)


async def _ready(request: Request) -> Response:
    checks: Mapping[str, ReadinessCheck] = request.app.state.health_checks
    db: Database = request.app.state.root.db
    results = dict.fromkeys(checks, False)
    for name, check in checks.items():
        with suppress(SQLAlchemyError, OSError, TimeoutError):
            async with asyncio.timeout(CHECK_TIMEOUT_S):
                results[name] = await check(db)
    missing = [name for name, passed in results.items() if not passed]
    report = {name: "ok" if passed else "missing" for name, passed in results.items()}
    if missing:
        detail = f"Not ready: {', '.join(missing)}."
        return JSONResponse({"detail": detail, "code": "not_ready", "checks": report}, 503, {"Retry-After": "1"})
    return JSONResponse({"status": "ready", "checks": report})


async def _database_answers(db: Database) -> bool:
    async with db.engine.connect() as connection:
        await connection.execute(text("SELECT 1"))
    return True
