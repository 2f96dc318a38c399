"""A process whose calls to shop.test, other.test and mcp.test lead to this machine, and short ways to make tools."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from httpx2 import AsyncClient, Response

from offhook.bootstrap import build_root, stop_domains
from offhook.kit.database.database import Database
from offhook.root import Root
from offhook.settings import Settings
from tests.fakes.web import egress_to_loopback
from tests.fixtures_orgs import OrgFixture


@pytest.fixture
async def root(settings: Settings, database: Database) -> AsyncIterator[Root]:
    built = build_root(settings, database, egress_to_loopback("shop.test", "other.test", "mcp.test"))
    yield built
    await stop_domains(built)
    await built.db.dispose()


class Maker:
    """Somebody who makes tools and credentials of one organization over HTTP."""

    def __init__(self, client: AsyncClient, headers: dict[str, str]) -> None:
        self._client = client
        self._headers = headers

    async def get(self, path: str, **more: Any) -> Response:
        return await self._client.get(path, headers=self._headers, **more)

    async def post(self, path: str, **more: Any) -> Response:
        return await self._client.post(path, headers=self._headers, **more)

    async def put(self, path: str, **more: Any) -> Response:
        return await self._client.put(path, headers=self._headers, **more)

    async def delete(self, path: str) -> Response:
        return await self._client.delete(path, headers=self._headers)

    async def tool(self, definition: dict[str, Any], name: str = "Order status") -> str:
        """Make one; its uuid."""
        answer = await self.post("/tools/", json={"name": name, "definition": definition})
        assert answer.status_code == 200, answer.text
        return str(answer.json()["tool_uuid"])

    async def credential(self, kind: str = "bearer_token", name: str = "CRM", **data: str) -> str:
        body = {"name": name, "credential_type": kind, "credential_data": data or {"token": "s3cret-token"}}
        answer = await self.post("/credentials/", json=body)
        assert answer.status_code == 200, answer.text
        return str(answer.json()["uuid"])


@pytest.fixture
def maker(client: AsyncClient, org: OrgFixture) -> Maker:
    return Maker(client, org.key_headers)


@pytest.fixture
def other_maker(client: AsyncClient, other_org: OrgFixture) -> Maker:
    """Works for another organization."""
    return Maker(client, other_org.key_headers)


@pytest.fixture
def viewer(client: AsyncClient, org: OrgFixture) -> Maker:
    return Maker(client, org.headers_for("viewer"))


def http_api(url: str = "https://shop.example/orders/{{order}}", **config: Any) -> dict[str, Any]:
    """The definition of an HTTP tool with one argument."""
    parameters = [{"name": "order", "type": "string", "description": "The number", "required": True}]
    return {"schema_version": 1, "type": "http_api", "config": {"url": url, "parameters": parameters, **config}}
