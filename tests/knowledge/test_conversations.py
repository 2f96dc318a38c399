"""Agents use documents in conversations, and their authors are told of documents that cannot be used."""

from typing import Any

import pytest
from httpx2 import AsyncClient

from tests.fixtures_orgs import OrgFixture
from tests.knowledge.conftest import GUIDE, Librarian
from tests.voice.phone import simple_agent

# Longer than what is given whole.
LONG_GUIDE = GUIDE + "\n## History\n\n" + "The house was built for a merchant of wool and has a tower of brick. " * 60


@pytest.fixture
def organization(client: AsyncClient, org: OrgFixture) -> "Organization":
    return Organization(client, org)


class Organization:
    """Makes agents and talks to them."""

    def __init__(self, client: AsyncClient, org: OrgFixture) -> None:
        self._client = client
        self._headers = org.owner_headers

    async def call(self, method: str, path: str, **more: Any) -> Any:
        answer = await self._client.request(method, path, headers=self._headers, **more)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def agent(self, *refs: Any, field: str = "document_refs") -> int:
        definition = simple_agent(**{field: list(refs)})
        body = {"name": "Museum desk", "workflow_definition": definition}
        return int((await self.call("POST", "/workflow/create/definition", json=body))["id"])

    async def asks(self, workflow_id: int, question: str) -> tuple[str, list[dict[str, Any]]]:
        """The agent's last message and the sources in the run's events."""
        path = f"/workflow/{workflow_id}/text-chat/sessions"
        chat = await self.call("POST", path, json={})
        chat = await self.call("POST", f"{path}/{chat['id']}/messages", json={"text": question})
        run = await self.call("GET", f"/workflow/{workflow_id}/runs/{chat['workflow_run_id']}")
        sources = [event["data"]["sources"] for event in run["events"] if event["type"] == "knowledge_found"]
        return chat["messages"][-1]["text"], [source for listed in sources for source in listed]

    async def warnings(self, workflow_id: int) -> list[str]:
        report = await self.call("POST", f"/workflow/{workflow_id}/validate")
        assert report["is_valid"]
        return [issue["code"] for issue in report["warnings"] if issue["code"].startswith("document_")]


class TestAnAgent:
    @pytest.mark.slow
    async def test_answers_from_a_document_until_it_is_archived(
        self, organization: Organization, librarian: Librarian
    ) -> None:
        document = await librarian.add(LONG_GUIDE)
        await librarian.add("Lost property is thrown away after one day.", "wrong.txt")
        workflow_id = await organization.agent(document["id"])
        said, sources = await organization.asks(workflow_id, "How long is lost property kept?")
        assert "thirty days" in said
        assert {source["document_id"] for source in sources} == {document["id"]}
        assert not any(source["whole"] for source in sources)
        await librarian.request("DELETE", f"/{document['id']}")
        said, sources = await organization.asks(workflow_id, "How long is lost property kept?")
        assert "thirty days" not in said
        assert sources == []

    @pytest.mark.slow
    async def test_is_given_a_short_document_whole(self, organization: Organization, librarian: Librarian) -> None:
        document = await librarian.add()
        number = (await librarian.request("GET", "/documents")).json()["documents"][0]["id"]
        workflow_id = await organization.agent(number, field="document_uuids")
        said, sources = await organization.asks(workflow_id, "Where do dogs wait?")
        assert "courtyard" in said
        assert [(source["document_id"], source["whole"]) for source in sources] == [(document["id"], True)]

    @pytest.mark.slow
    async def test_s_author_is_told_of_documents_that_cannot_be_used(
        self, organization: Organization, librarian: Librarian, other_librarian: Librarian
    ) -> None:
        good, archived = await librarian.add(), await librarian.add("Archived.", "archived.txt")
        await librarian.request("DELETE", f"/{archived['id']}")
        failed = await librarian.add("<html><script>alert(1)</script></html>", "script.html")
        foreign = await other_librarian.add()
        waiting = (await librarian.send("Waiting.", "waiting.txt")).json()
        refs = [item["id"] for item in (good, archived, failed, foreign, waiting)]
        workflow_id = await organization.agent(*refs)
        assert await organization.warnings(workflow_id) == [
            "document_archived",
            "document_failed",
            "document_unknown",
            "document_processing",
        ]
        copy = await organization.call("POST", f"/workflow/{workflow_id}/duplicate")
        assert len(await organization.warnings(copy["id"])) == 4
