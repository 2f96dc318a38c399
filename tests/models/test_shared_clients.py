"""HTTP clients of model servers. All organizations of a process share them, so a server must not leave anything in one."""

from collections.abc import AsyncIterator

import httpx2
import pytest

from offhook.models.http_clients import close_http_clients, http_client
from offhook.models.providers.openai_compatible.http_requests import close_clients, post_request
from offhook.models.speech.errors import VendorErrors
from offhook.models.speech.network_route import NetworkRoute
from tests.fakes.web import LocalServer, Reply, egress_to_loopback, local_server

HOST = "models.example"


@pytest.fixture
async def server() -> AsyncIterator[LocalServer]:
    """Sets a cookie with each answer."""
    async with local_server(Reply(headers={"set-cookie": "session=of-one-organization; Path=/"})) as server:
        yield server
        await close_http_clients()
        await close_clients()


@pytest.mark.parametrize("is_guarded", [True, False])
async def test_cookies_come_with_no_request_of_another_organization(server: LocalServer, is_guarded: bool) -> None:
    egress, host = (egress_to_loopback(HOST), HOST) if is_guarded else (None, "127.0.0.1")
    for _ in range(2):
        await (await http_client(egress)).get(server.url(host, "/v1"))
    way = NetworkRoute(is_guarded=is_guarded, egress=egress)
    for _ in range(2):
        async with post_request(server.url(host, "/v1"), "", VendorErrors("tts", ""), 5.0, way, json={}) as response:
            assert response.status_code == 200
    assert len(server.seen) == 4
    assert not [seen.headers["cookie"] for seen in server.seen if "cookie" in seen.headers]


async def test_a_client_of_one_organization_keeps_them(server: LocalServer) -> None:
    """Balancers in front of MCP servers keep a session on one server by a cookie."""
    client: httpx2.AsyncClient = egress_to_loopback(HOST).vendor_client(5.0, keeps_cookies=True)
    async with client:
        for _ in range(2):
            await client.get(server.url(HOST, "/"))
    assert [seen.headers.get("cookie") for seen in server.seen] == [None, "session=of-one-organization"]
