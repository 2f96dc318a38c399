"""Somebody who runs campaigns of one organization over HTTP."""

import csv
import io
from typing import Any

from httpx2 import AsyncClient, Response

HEADER = "phone_number,name,city"


def numbers(count: int, first: int = 0) -> list[str]:
    """Valid American numbers, one after the other."""
    return [f"+1415{2000000 + first + index}" for index in range(count)]


def contact_file(count: int = 3, first: int = 0) -> bytes:
    lines = [f"{number},Person {row},Oslo" for row, number in enumerate(numbers(count, first), 1)]
    return "\n".join([HEADER, *lines]).encode() + b"\n"


class Desk:
    def __init__(self, client: AsyncClient, headers: dict[str, str], workflow_id: int) -> None:
        self.client = client
        self.headers = headers
        self.workflow_id = workflow_id

    async def ask(self, method: str, path: str, **more: Any) -> Response:
        headers = {**self.headers, **more.pop("headers", {})}
        return await self.client.request(method, f"/campaign{path}", headers=headers, **more)

    async def place(self, size: int = 100, name: str = "contacts.csv") -> Response:
        body = {"file_name": name, "file_size": size, "content_type": "text/csv"}
        return await self.client.post("/s3/presigned-upload-url", json=body, headers=self.headers)

    async def upload(self, content: bytes) -> str:
        place = (await self.place(len(content) or 1)).json()
        sent = await self.client.put(place["upload_url"], content=content)
        assert sent.status_code == 200, sent.text
        key: str = place["file_key"]
        return key

    async def create(self, content: bytes | None = None, **values: Any) -> Response:
        headers = values.pop("headers", {})
        body = {"name": "Spring", "workflow_id": self.workflow_id, "max_concurrency": 5} | values
        if "contacts_file_key" not in body and "source_id" not in body:
            body["contacts_file_key"] = await self.upload(contact_file() if content is None else content)
        return await self.ask("POST", "/create", json=body, headers=headers)

    async def made(self, content: bytes | None = None, **values: Any) -> dict[str, Any]:
        answer = await self.create(content, **values)
        assert answer.status_code == 200, answer.text
        campaign: dict[str, Any] = answer.json()
        return campaign

    async def get(self, path: str, **params: Any) -> Any:
        answer = await self.ask("GET", path, params=params)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def report(self, campaign_id: int, **params: Any) -> list[dict[str, str]]:
        answer = await self.ask("GET", f"/{campaign_id}/report", params=params)
        assert answer.status_code == 200, answer.text
        return list(csv.DictReader(io.StringIO(answer.text)))
