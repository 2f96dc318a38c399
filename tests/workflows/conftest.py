"""A client that acts as an organization, and short ways to make workflows over HTTP."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from httpx2 import AsyncClient, Response

from tests.fixtures_orgs import OrgFixture
from tests.workflows.definitions import simple


class Editor:
    """Somebody who edits workflows of one organization over HTTP."""

    def __init__(self, client: AsyncClient, headers: dict[str, str]) -> None:
        self._client = client
        self.client = client
        self._headers = {"Content-Type": "application/json", **headers}

    async def get(self, path: str, **more: Any) -> Response:
        return await self._client.get(path, headers=self._headers, **more)

    async def post(self, path: str, **more: Any) -> Response:
        return await self._client.post(path, headers=self._headers, **more)

    async def put(self, path: str, **more: Any) -> Response:
        return await self._client.put(path, headers=self._headers, **more)

    async def delete(self, path: str, **more: Any) -> Response:
        return await self._client.delete(path, headers=self._headers, **more)

    async def create(self, definition: dict[str, Any] | None = None, name: str = "Agent") -> dict[str, Any]:
        body = {"name": name, "workflow_definition": simple() if definition is None else definition}
        answer = await self.post("/workflow/create/definition", json=body)
        assert answer.status_code == 200, answer.text
        created: dict[str, Any] = answer.json()
        return created

    async def publish(self, workflow_id: int) -> Response:
        return await self.post(f"/workflow/{workflow_id}/publish")

    async def create_published(self, definition: dict[str, Any] | None = None, name: str = "Agent") -> int:
        workflow_id = int((await self.create(definition, name))["id"])
        answer = await self.publish(workflow_id)
        assert answer.status_code == 200, answer.text
        return workflow_id

    async def fetch(self, workflow_id: int) -> dict[str, Any]:
        answer = await self.get(f"/workflow/fetch/{workflow_id}")
        assert answer.status_code == 200, answer.text
        fetched: dict[str, Any] = answer.json()
        return fetched

    async def versions(self, workflow_id: int) -> list[tuple[int, str]]:
        """``(number, status)``, newest first."""
        answer = await self.get(f"/workflow/{workflow_id}/versions")
        return [(row["version_number"], row["status"]) for row in answer.json()]


MakeEditor = Callable[[OrgFixture], Awaitable[Editor]]


@pytest.fixture
def editor(client: AsyncClient, org: OrgFixture) -> Editor:
    return Editor(client, org.key_headers)


@pytest.fixture
def other_editor(client: AsyncClient, other_org: OrgFixture) -> Editor:
    """Works for another organization."""
    return Editor(client, other_org.key_headers)


@pytest.fixture
def viewer(client: AsyncClient, org: OrgFixture) -> Editor:
    """May only read."""
    return Editor(client, org.headers_for("viewer"))
