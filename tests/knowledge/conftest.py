"""Somebody who keeps documents over HTTP, and the jobs that process them."""

from typing import Any

import pytest
from httpx2 import AsyncClient, Response

from offhook.jobs.worker import run_until_empty
from offhook.root import Root
from tests.fixtures_orgs import OrgFixture

GUIDE = """# Visitor guide

## Opening hours

The museum is open from Tuesday to Sunday, ten in the morning until six in the evening. On Mondays it stays closed.

## Tickets

| Ticket | Price |
|---|---|
| Adults | 14 euros |
| Children under twelve | free |

Groups of ten and more pay eleven euros each when they book a week ahead.

## Lost property

Things that were found are kept at the cloakroom for thirty days. Afterwards they go to the city's office in Mill Lane.

## Dogs

Guide dogs are welcome. Other animals wait in the courtyard, where there is water and shade.
"""


class Librarian:
    """Works for one organization."""

    def __init__(self, client: AsyncClient, headers: dict[str, str], root: Root) -> None:
        self.client = client
        self.headers = headers
        self.root = root

    async def request(self, method: str, path: str = "/", **more: Any) -> Response:
        return await self.client.request(method, f"/knowledge-base{path}", headers=self.headers, **more)

    async def send(self, content: bytes | str = GUIDE, filename: str = "guide.md", **fields: str) -> Response:
        raw = content.encode() if isinstance(content, str) else content
        return await self.request("POST", files={"file": (filename, raw)}, data=fields)

    async def work(self) -> None:
        """Let the jobs run that wait."""
        await run_until_empty(self.root.db, self.root.jobs)

    async def add(self, content: bytes | str = GUIDE, filename: str = "guide.md", **fields: str) -> dict[str, Any]:
        """A document as it is when its job has run."""
        answer = await self.send(content, filename, **fields)
        assert answer.status_code == 200, answer.text
        assert answer.json()["status"] == "processing"
        await self.work()
        return await self.get(answer.json()["id"])

    async def get(self, document_id: str) -> dict[str, Any]:
        answer = await self.request("GET", f"/{document_id}")
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def find(self, query: str, **more: Any) -> list[dict[str, Any]]:
        answer = await self.request("POST", "/search", json={"query": query, **more})
        assert answer.status_code == 200, answer.text
        found: list[dict[str, Any]] = answer.json()
        return found


@pytest.fixture
def librarian(client: AsyncClient, org: OrgFixture, root: Root) -> Librarian:
    return Librarian(client, org.key_headers, root)


@pytest.fixture
def other_librarian(client: AsyncClient, other_org: OrgFixture, root: Root) -> Librarian:
    return Librarian(client, other_org.key_headers, root)
