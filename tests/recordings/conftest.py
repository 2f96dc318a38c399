"""Somebody who keeps recordings over HTTP."""

from typing import Any

import pytest
from httpx2 import AsyncClient, Response

from offhook.recordings.schemas import MAX_FILE_BYTES
from tests.fixtures_orgs import OrgFixture
from tests.recordings.sounds import sound_file
from tests.workflows.conftest import Editor


class Studio:
    """Works for one organization."""

    def __init__(self, client: AsyncClient, headers: dict[str, str]) -> None:
        self.client = client
        self.headers = headers

    async def request(self, method: str, path: str = "/", **more: Any) -> Response:
        return await self.client.request(method, f"/workflow-recordings{path}", headers=self.headers, **more)

    async def place(self, size: int = MAX_FILE_BYTES) -> dict[str, str]:
        """Somewhere to upload so many bytes to: upload_url, recording_id, storage_key."""
        files = [{"filename": "hello.wav", "mime_type": "audio/wav", "file_size": size}]
        answer = await self.request("POST", "/upload-url", json={"files": files})
        assert answer.status_code == 200, answer.text
        item: dict[str, str] = answer.json()["items"][0]
        return item

    async def upload(self, content: bytes | None = None) -> dict[str, str]:
        place = await self.place()
        answer = await self.client.put(place["upload_url"], content=sound_file() if content is None else content)
        assert answer.status_code == 200, answer.text
        return place

    async def create(self, *items: dict[str, Any]) -> Response:
        return await self.request("POST", json={"recordings": list(items)})

    async def record(self, recording_id: str, transcript: str = "Hello from Acme.", **more: Any) -> dict[str, Any]:
        content = more.pop("content", None)
        place = await self.upload(content)
        item = {"recording_id": recording_id, "storage_key": place["storage_key"], "transcript": transcript, **more}
        answer = await self.create(item)
        assert answer.status_code == 200, answer.text
        made: dict[str, Any] = answer.json()["recordings"][0]
        return made

    async def list(self, **filters: Any) -> tuple[list[str], int]:
        answer = await self.request("GET", params=filters)
        assert answer.status_code == 200, answer.text
        return [item["recording_id"] for item in answer.json()["recordings"]], answer.json()["total"]


@pytest.fixture
def studio(client: AsyncClient, org: OrgFixture) -> Studio:
    return Studio(client, org.key_headers)


@pytest.fixture
def other_studio(client: AsyncClient, other_org: OrgFixture) -> Studio:
    return Studio(client, other_org.key_headers)


@pytest.fixture
def viewer(client: AsyncClient, org: OrgFixture) -> Studio:
    return Studio(client, org.headers_for("viewer"))


@pytest.fixture
def editor(client: AsyncClient, org: OrgFixture) -> Editor:
    return Editor(client, org.key_headers)
