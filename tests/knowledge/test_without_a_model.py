"""The wheel with the offline model is not installed: documents are found by their words, and say so."""

from pathlib import Path

import pytest
from sqlalchemy import text

from offhook.knowledge.document_processing import DocumentProcessor
from offhook.knowledge.document_reader import DocumentReader
from offhook.knowledge.embedder_registry import EmbedderRegistry
from offhook.knowledge.offline.model import OfflineModel
from offhook.knowledge.offline.prepared_model import MISSING_MESSAGE
from offhook.knowledge.search import PassageSearch
from offhook.knowledge.services import KnowledgeServices
from offhook.knowledge.vectors.reembedding import ReembeddingJob
from offhook.models import ModelConfigurationStore
from offhook.root import Root
from tests.knowledge.conftest import Librarian


def embedders(root: Root, wheel: str, folder: Path) -> EmbedderRegistry:
    configurations = root.get(ModelConfigurationStore)
    return EmbedderRegistry(root.db, configurations, configurations.egress, OfflineModel(folder, wheel))


@pytest.fixture
def without(root: Root, tmp_path: Path) -> EmbedderRegistry:
    return embedders(root, "no_such_wheel", tmp_path / "models")


@pytest.mark.slow
async def test_a_document_is_ready_by_its_words_and_gets_its_vectors_when_there_is_a_model(
    librarian: Librarian, root: Root, without: EmbedderRegistry
) -> None:
    root.jobs.handlers["document.process"] = DocumentProcessor(
        db=root.db, reader=DocumentReader(root.get(KnowledgeServices).intake), embedders=without, clock=root.clock
    ).process_document
    document = await librarian.add()
    assert (document["status"], document["error"], document["notice"]) == ("ready", None, MISSING_MESSAGE)
    async with root.db.transaction() as session:
        organization_id = await session.scalar(text("SELECT organization_id FROM knowledge_contents"))
        assert await session.scalar(text("SELECT count(*) FROM webhook_events WHERE type = 'document.ready'")) == 1
    (best, *_) = await PassageSearch(root.db, without).find_passages(
        organization_id, "in which courtyard are animals", limit=4
    )
    assert "courtyard" in best.text
    assert best.cosine is None
    assert not without.offline.is_installed()
    await ReembeddingJob(root.db, without).run_job({"organization_id": organization_id, "tries": 1})
    assert (await librarian.get(document["id"]))["notice"] == MISSING_MESSAGE
    for hook in root.on_work:
        await hook()
    await librarian.work()
    healed = await librarian.get(document["id"])
    assert (healed["status"], healed["notice"]) == ("ready", None)
    assert "14 euros" in (await librarian.find("What does a grown-up pay?"))[0]["text"]
    async with root.db.transaction() as session:
        assert await session.scalar(text("SELECT count(*) FROM knowledge_vectors")) == document["chunk_count"]
