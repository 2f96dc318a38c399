"""Embeddings by a vendor, and the way from one model to another without a gap."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import text

from offhook.knowledge import search
from offhook.models.providers.openai_compatible.http_requests import close_clients
from offhook.settings import Settings
from offhook_lab.embeddings_server import EmbeddingsServer, serve_embeddings
from tests.fixtures_orgs import OrgFixture
from tests.knowledge.conftest import Librarian

KEY = "sk-lab-0123456789"
SPACES = text(
    "SELECT space.model, space.state, count(vector.chunk_id) AS vectors FROM knowledge_spaces space"
    " LEFT JOIN knowledge_vectors vector ON vector.space_id = space.id GROUP BY space.id ORDER BY space.id"
)


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"egress_allow": "127.0.0.1"})


@pytest.fixture
async def lab() -> AsyncIterator[EmbeddingsServer]:
    async with serve_embeddings(KEY, {"words-64": 64, "words-96": 96}) as server:
        yield server
        await close_clients()


async def choose(librarian: Librarian, service: dict[str, Any] | None) -> Any:
    path = "/organizations/model-configurations/v2"
    return await librarian.client.put(path, json={"embeddings": service} if service else {}, headers=librarian.headers)


async def spaces(librarian: Librarian) -> list[tuple[str, str, int]]:
    async with librarian.root.db.transaction() as session:
        return [(row.model, row.state, row.vectors) for row in await session.execute(SPACES)]


class TestAVendor:
    async def test_the_choice_is_checked_and_its_key_sealed(self, librarian: Librarian, lab: EmbeddingsServer) -> None:
        for service in ({"provider": "openai"}, {"provider": "openai", "model": "gpt-4.1", "api_key": KEY}):
            assert (await choose(librarian, service)).status_code == 422
        service = {"provider": "openai", "model": "words-64", "base_url": lab.base_url, "api_key": KEY}
        shown = (await choose(librarian, service)).json()
        assert shown["configuration"]["embeddings"]["api_key"].endswith("6789")
        assert KEY not in str(shown)
        assert shown["effective"]["embeddings"] == {
            "provider": "openai",
            "model": "words-64",
            "has_key": True,
            "base_url": lab.base_url,
        }

    async def test_embeds_documents_and_questions(self, librarian: Librarian, lab: EmbeddingsServer) -> None:
        await choose(librarian, {"provider": "openai", "model": "words-64", "base_url": lab.base_url, "api_key": KEY})
        document = await librarian.add()
        assert await spaces(librarian) == [("words-64", "active", document["chunk_count"])]
        assert "courtyard" in (await librarian.find("Where do other animals wait?"))[0]["text"]
        assert lab.asked[-1] == ("words-64", ["Where do other animals wait?"])

    @pytest.mark.slow
    async def test_that_refuses_the_key_makes_the_document_fail(
        self, librarian: Librarian, lab: EmbeddingsServer
    ) -> None:
        await choose(
            librarian, {"provider": "openai", "model": "words-64", "base_url": lab.base_url, "api_key": "sk-wrong-1234"}
        )
        document = await librarian.add()
        assert document["status"] == "failed"
        assert "Incorrect API key" in document["error"]

    @pytest.mark.slow
    async def test_that_is_away_leaves_searches_to_words(self, librarian: Librarian, lab: EmbeddingsServer) -> None:
        await choose(librarian, {"provider": "openai", "model": "words-64", "base_url": lab.base_url, "api_key": KEY})
        await librarian.add()
        lab.refuses_with = 429
        assert "courtyard" in (await librarian.find("courtyard for animals"))[0]["text"]

    @pytest.mark.parametrize(
        "vector",
        [[0.5] * 65, [0.5] * 63 + [float("inf")], [float("nan")] * 64, [1e300] * 64, [0.5] * 300_000],
        ids=["longer", "infinite", "no numbers", "too large for a float", "endless"],
    )
    async def test_that_answers_a_question_with_no_vector_of_its_space_leaves_it_to_words(
        self, librarian: Librarian, lab: EmbeddingsServer, vector: list[float]
    ) -> None:
        """Up to 500 answers to questions are kept, of all organizations together."""
        await choose(librarian, {"provider": "openai", "model": "words-64", "base_url": lab.base_url, "api_key": KEY})
        await librarian.add()
        lab.fixed_vector = vector
        for _ in range(2):
            assert "courtyard" in (await librarian.find("courtyard for animals"))[0]["text"]
        assert len(lab.asked) == 3, "asked again: nothing was kept"

    async def test_answers_the_questions_of_one_organization_only(
        self, librarian: Librarian, lab: EmbeddingsServer, other_org: OrgFixture
    ) -> None:
        """A server may treat keys differently: what it answered to one organization's key is not another's vector."""
        service = {"provider": "openai", "model": "words-64", "base_url": lab.base_url, "api_key": KEY}
        stranger = Librarian(librarian.client, other_org.key_headers, librarian.root)
        for each in (librarian, stranger):
            await choose(each, service)
            await each.add()
        lab.asked.clear()
        for _ in range(2):
            for each in (stranger, librarian):
                await each.find("courtyard for animals")
        assert len(lab.asked) == 2, "each asked once"

    async def test_keeps_a_share_of_the_vectors_for_each_organization(
        self,
        librarian: Librarian,
        lab: EmbeddingsServer,
        other_org: OrgFixture,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(search, "_MAX_CACHED_OF_ONE", 3)
        monkeypatch.setattr(search, "_MAX_CACHED_VECTORS", 5)
        service = {"provider": "openai", "model": "words-64", "base_url": lab.base_url, "api_key": KEY}
        stranger = Librarian(librarian.client, other_org.key_headers, librarian.root)
        for each in (librarian, stranger):
            await choose(each, service)
            await each.add()
        await librarian.find("courtyard for animals")
        for number in range(8):
            await stranger.find(f"question {number}")
        lab.asked.clear()
        await librarian.find("courtyard for animals")
        await stranger.find("question 7")
        assert lab.asked == []
        await stranger.find("question 4")
        assert len(lab.asked) == 1


class TestAnotherModel:
    @pytest.mark.slow
    async def test_the_old_vectors_are_searched_until_the_new_ones_are_there(
        self, librarian: Librarian, lab: EmbeddingsServer, org: OrgFixture
    ) -> None:
        document = await librarian.add()
        count = document["chunk_count"]
        service = {"provider": "openai", "model": "words-64", "base_url": lab.base_url, "api_key": KEY}
        lab.refuses_with = 401
        await choose(librarian, service)
        await librarian.work()
        assert [state for _, state, _ in await spaces(librarian)] == ["active", "building"]
        assert (await librarian.find("grown-up price"))[0]["document_id"] == document["id"]
        lab.refuses_with = None
        await choose(librarian, service)
        await librarian.work()
        assert await spaces(librarian) == [("words-64", "active", count)]
        assert (await librarian.find("Where do other animals wait?"))[0]["document_id"] == document["id"]
        await choose(librarian, None)
        second = await librarian.add("A second text about tickets.", "second.txt")
        assert await spaces(librarian) == [("all-minilm-l6-v2", "active", count + second["chunk_count"])]
