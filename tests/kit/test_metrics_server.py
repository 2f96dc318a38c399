"""The page for monitors of a process without an API."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from httpx2 import AsyncClient
from pydantic import SecretStr

from offhook.kit.http.metrics_server import serve_metrics
from offhook.kit.http.server import PortInUse
from offhook.settings import Settings


@pytest.fixture
async def port() -> AsyncIterator[int]:
    settings = Settings(metrics_token=SecretStr("monitor-token"))
    taken: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(serve_metrics(settings, 0, taken.set_result))
    yield await taken
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)


async def test_metrics_need_the_token_and_health_does_not(port: int) -> None:
    async with AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as monitor:
        assert (await monitor.get("/health")).json()["status"] == "ok"
        for headers in ({}, {"Authorization": "Bearer wrong"}):
            refused = await monitor.get("/metrics", headers=headers)
            assert (refused.status_code, refused.json()["code"]) == (401, "metrics_token_required")
        page = await monitor.get("/metrics", headers={"Authorization": "Bearer monitor-token"})
        assert page.status_code == 200
        assert "offhook_queued_jobs" in page.text
        assert (await monitor.get("/api/v1/health")).status_code == 404


async def test_a_port_that_is_taken_is_said(port: int) -> None:
    with pytest.raises(PortInUse):
        await serve_metrics(Settings(), port)
