"""Measures the cost of authentication per request: ``python -m bench.auth [--requests N] [--json]``.

Requests the same tiny endpoint with and without authentication through the whole ASGI application (middleware,
routing, dependencies) without a network, one after the other and in alternating rounds, on the embedded database.
``cpu_ms`` is this process's CPU, ``wall_ms`` includes the wait for PostgreSQL. The difference of the two endpoints is
the cost of authentication, and the ratio compares runs on machines of any speed. The goal is <= 0.3 ms CPU.

2026-11-21, 136 routes, with other work (load 6 on 2 cores), CPU ms per request; one run after each step:

                             without   api_key          session
    before                   1.15      +0.41 (1.35x)    +0.48 (1.41x)
    routes by segments       0.18      +0.37 (3.06x)    +0.39 (3.22x)
    headers read directly    0.18      +0.34 (2.83x)    +0.36 (2.94x)
    connections in a list    0.18      +0.24 (2.33x)    +0.26 (2.40x)

Ratios grew because a request without authentication is six times cheaper; compare the differences. Of the 0.24, the
query on its connection is 0.03 in a tight loop.
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvloop
from fastapi import FastAPI
from pydantic import BaseModel

from offhook.api import create_app
from offhook.bootstrap import build_root, stop_domains
from offhook.kit import logging
from offhook.kit.database import migrations
from offhook.kit.database.embedded_postgres import EmbeddedPostgres
from offhook.orgs import CurrentOrg, service
from offhook.settings import Settings

ROUNDS = 10
Case = tuple[str, list[tuple[bytes, bytes]]]


class Answer(BaseModel):
    organization_id: int


async def bare() -> Answer:
    return Answer(organization_id=1)


async def with_caller(org: CurrentOrg) -> Answer:
    return Answer(organization_id=org.organization_id)


async def call(app: FastAPI, path: str, headers: list[tuple[bytes, bytes]]) -> None:
    status = 0

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        nonlocal status
        status = message.get("status", status)

    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "scheme": "http",
        "path": path, "raw_path": path.encode(), "root_path": "", "query_string": b"", "headers": headers,
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80), "state": {},
    }  # fmt: skip
    await app(scope, receive, send)
    if status != 200:
        raise SystemExit(f"{path} answered {status}")


async def measure(app: FastAPI, cases: dict[str, Case], requests: int) -> dict[str, dict[str, float]]:
    """Returns milliseconds per request in the best round, because other load on the machine only adds."""
    found: dict[str, dict[str, list[float]]] = {name: {"cpu_ms": [], "wall_ms": []} for name in cases}
    for case in cases.values():
        await _round(app, case, requests // 10)
    for _ in range(ROUNDS):
        for name, case in cases.items():
            cpu_s, wall_s = await _round(app, case, requests // ROUNDS)
            found[name]["cpu_ms"].append(cpu_s * 1000)
            found[name]["wall_ms"].append(wall_s * 1000)
    return {name: {kind: round(min(values), 4) for kind, values in kinds.items()} for name, kinds in found.items()}


async def _round(app: FastAPI, case: Case, count: int) -> tuple[float, float]:
    path, headers = case
    cpu, wall = time.process_time(), time.perf_counter()
    for _ in range(count):
        await call(app, path, headers)
    return (time.process_time() - cpu) / count, (time.perf_counter() - wall) / count


async def run(url: str, folder: Path, requests: int) -> dict[str, Any]:
    root = build_root(Settings(data_dir=folder / "data", log_level="warning"), url)
    silent: Callable[[str], None] = lambda _: None  # noqa: E731
    await migrations.upgrade_database(root.db, silent)
    async with root.db.transaction() as session:
        organization_id = await service.create_organization(session, "Bench")
        user = await service.create_user(session, "bench@bench.example")
        await service.add_member(session, organization_id, user.id, "owner")
        token = await service.start_session(
            session, organization_id=organization_id, user_id=user.id, now=root.clock.now()
        )
        key = (await service.create_key(session, organization_id=organization_id, name="bench")).key
    root.api.add_api_route("/bench/bare", bare, response_model=Answer)
    root.api.add_api_route("/bench/caller", with_caller, response_model=Answer)
    app = create_app(root)
    cases: dict[str, Case] = {
        "without": ("/api/v1/bench/bare", []),
        "api_key": ("/api/v1/bench/caller", [(b"x-api-key", key.encode())]),
        "session": ("/api/v1/bench/caller", [(b"authorization", f"Bearer {token}".encode())]),
    }
    try:
        measured = await measure(app, cases, requests)
    finally:
        await stop_domains(root)
        await root.db.dispose()
    bare_ms = measured["without"]
    return {
        "requests": requests,
        **measured,
        "authentication": {
            name: {
                "cpu_ms": round(measured[name]["cpu_ms"] - bare_ms["cpu_ms"], 4),
                "wall_ms": round(measured[name]["wall_ms"] - bare_ms["wall_ms"], 4),
                "cpu_ratio": round(measured[name]["cpu_ms"] / bare_ms["cpu_ms"], 2),
            }
            for name in ("api_key", "session")
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=3000)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    logging.configure_logging("warning")
    with tempfile.TemporaryDirectory() as folder:
        server = EmbeddedPostgres(Path(folder) / "pg")
        try:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                result = runner.run(run(server.start(), Path(folder), arguments.requests))
        finally:
            server.stop()
    if arguments.json:
        print(json.dumps(result, indent=2))
        return
    for name in ("without", "api_key", "session"):
        print(f"{name:10} {result[name]['cpu_ms']:.3f} ms CPU, {result[name]['wall_ms']:.3f} ms a request")
    for name, cost in result["authentication"].items():
        print(f"authentication by {name}: {cost['cpu_ms']:.3f} ms CPU ({cost['cpu_ratio']}x), {cost['wall_ms']:.3f} ms")


if __name__ == "__main__":
    main()
