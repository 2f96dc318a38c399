"""Workers die and vendors fail: a document still ends as ready or failed, its work is not done twice, and others are told."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text

from offhook.knowledge.document_processing import GIVEN_UP_MESSAGE, DocumentProcessor
from offhook.knowledge.document_reader import DocumentReader
from offhook.knowledge.embedder import EmbeddingModel, Vectors, normalize_vectors
from offhook.knowledge.errors import EmbeddingFailed
from offhook.knowledge.jobs import SWEEP
from offhook.knowledge.limits import MAX_ATTEMPTS
from offhook.knowledge.services import KnowledgeServices
from offhook.knowledge.tasks import STALE_AFTER
from offhook.root import Root
from tests.knowledge.conftest import GUIDE, Librarian

LONG = "\n\n".join(f"## Part {number}\n\n" + f"Sentence {number} about bricks. " * 30 for number in range(12))


class Killed(BaseException):
    """What a killed process does next: nothing."""


class Counting:
    """Implements Embedder, two texts at a time; ``dies_after`` batches its process is gone. Also the only embedder there is."""

    model = EmbeddingModel("test", "lengths")
    batch_size = 2

    def __init__(self, *, dies_after: int = 10_000, fails: EmbeddingFailed | None = None) -> None:
        self.dies_after = dies_after
        self.fails = fails
        self.texts: list[str] = []

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if self.fails is not None:
            raise self.fails
        if len(self.texts) >= self.dies_after * self.batch_size:
            raise Killed
        self.texts += texts
        return normalize_vectors([[len(text), 1, 2] for text in texts])

    async def embed_query(self, text: str) -> Vectors:
        return await self.embed_passages([text])

    async def current_embedder(self, organization_id: int) -> "Counting":
        return self

    async def embedder_for(self, organization_id: int, model: EmbeddingModel) -> "Counting":
        return self


def processing(root: Root, embedder: Counting) -> DocumentProcessor:
    reader = DocumentReader(root.get(KnowledgeServices).intake)
    return DocumentProcessor(db=root.db, reader=reader, embedders=embedder, clock=root.clock)  # type: ignore[arg-type]


@pytest.fixture
async def waiting(librarian: Librarian) -> tuple[str, dict[str, Any]]:
    """A document nobody has processed yet, and its job's payload."""
    document = (await librarian.send(LONG, "long.md")).json()
    async with librarian.root.db.transaction() as session:
        row = (await session.execute(text("SELECT organization_id, id FROM knowledge_contents"))).one()
        await session.execute(text("DELETE FROM pgqueuer"))
    return document["id"], {"organization_id": row.organization_id, "content_id": row.id}


async def scalar(root: Root, query: str) -> Any:
    async with root.db.transaction() as session:
        return await session.scalar(text(query))


async def test_work_that_was_done_before_a_crash_is_not_done_again(
    librarian: Librarian, waiting: tuple[str, dict[str, Any]]
) -> None:
    document_id, payload = waiting
    first, second = Counting(dies_after=2), Counting()
    with pytest.raises(Killed):
        await processing(librarian.root, first).process_document(payload)
    half = await librarian.get(document_id)
    assert half["status"] == "processing"
    assert 0.1 < half["progress"] < 1
    assert await librarian.find("bricks") == []
    await processing(librarian.root, second).process_document(payload)
    done = await librarian.get(document_id)
    assert done["status"] == "ready"
    assert len(first.texts) == 4
    assert len(second.texts) == done["chunk_count"] - 4
    assert await scalar(librarian.root, "SELECT count(*) FROM knowledge_vectors") == done["chunk_count"]


@pytest.mark.slow
async def test_two_workers_at_one_document_make_it_ready_once(
    librarian: Librarian, waiting: tuple[str, dict[str, Any]]
) -> None:
    document_id, payload = waiting
    await asyncio.gather(*(processing(librarian.root, Counting()).process_document(payload) for _ in range(2)))
    done = await librarian.get(document_id)
    assert done["status"] == "ready"
    assert await scalar(librarian.root, "SELECT count(*) FROM knowledge_chunks") == done["chunk_count"]
    assert await scalar(librarian.root, "SELECT count(*) FROM webhook_events WHERE type = 'document.ready'") == 1
    bricks = "SELECT chunks FROM knowledge_terms WHERE right(term, 6) = chr(58) || 'brick'"
    assert await scalar(librarian.root, bricks) == done["chunk_count"]


@pytest.mark.slow
async def test_a_file_at_which_workers_die_is_given_up(
    librarian: Librarian, waiting: tuple[str, dict[str, Any]]
) -> None:
    document_id, payload = waiting
    for _ in range(MAX_ATTEMPTS):
        with pytest.raises(Killed):
            await processing(librarian.root, Counting(dies_after=0)).process_document(payload)
    await processing(librarian.root, Counting()).process_document(payload)
    failed = await librarian.get(document_id)
    assert (failed["status"], failed["error"]) == ("failed", GIVEN_UP_MESSAGE)
    again = (await librarian.send(LONG, "long.md")).json()
    assert again["status"] == "processing"
    newest = {**payload, "content_id": await scalar(librarian.root, "SELECT max(id) FROM knowledge_contents")}
    await processing(librarian.root, Counting()).process_document(newest)
    assert (await librarian.get(again["id"]))["status"] == "ready"


@pytest.mark.slow
async def test_a_lost_job_is_put_back(librarian: Librarian, waiting: tuple[str, dict[str, Any]]) -> None:
    document_id, _ = waiting
    sweep = librarian.root.jobs.handlers[SWEEP]
    await sweep({})
    assert await scalar(librarian.root, "SELECT count(*) FROM pgqueuer") == 0
    async with librarian.root.db.transaction() as session:
        before = librarian.root.clock.now() - STALE_AFTER - timedelta(seconds=1)
        await session.execute(text("UPDATE knowledge_contents SET touched_at = :before"), {"before": before})
    await sweep({})
    await sweep({})
    assert await scalar(librarian.root, "SELECT count(*) FROM pgqueuer") == 1
    await librarian.work()
    assert (await librarian.get(document_id))["status"] == "ready"


@pytest.mark.slow
async def test_a_vendor_that_may_come_back_is_asked_again_later(
    librarian: Librarian, waiting: tuple[str, dict[str, Any]]
) -> None:
    document_id, payload = waiting
    away = Counting(fails=EmbeddingFailed("It is away.", retryable=True))
    await processing(librarian.root, away).process_document(payload)
    assert (await librarian.get(document_id))["status"] == "processing"
    assert await scalar(librarian.root, "SELECT execute_after > now() FROM pgqueuer") is True
    for _ in range(MAX_ATTEMPTS):
        await processing(librarian.root, away).process_document(payload)
    failed = await librarian.get(document_id)
    assert (failed["status"], failed["error"]) == ("failed", "It is away.")
    assert await scalar(librarian.root, "SELECT count(*) FROM webhook_events WHERE type = 'document.failed'") == 1


@pytest.mark.slow
async def test_large_spaces_are_searched_by_their_own_index(librarian: Librarian) -> None:
    document = await librarian.add(GUIDE * 3)
    async with librarian.root.db.transaction() as session:
        space = (await session.execute(text("SELECT id, organization_id FROM knowledge_spaces"))).one()
    payload = {"organization_id": space.organization_id, "space_id": space.id}
    await librarian.root.jobs.handlers["documents.index"](payload)
    await librarian.root.jobs.handlers["documents.index"](payload)
    async with librarian.root.db.transaction() as session:
        assert await session.scalar(text("SELECT has_index FROM knowledge_spaces"))
        # the pieces of the document count as many
        await session.execute(text("UPDATE knowledge_contents SET chunk_count = 6000"))
    best = (await librarian.find("What does it cost for a grown-up?"))[0]
    assert best["document_id"] == document["id"]
    assert "14 euros" in best["text"]
