"""The wheel with the offline model is not installed: documents are found by their words, and say so."""

from pathlib import Path

import pytest
from sqlalchemy import text

from offhook.knowledge.document_processing import Processing
from offhook.knowledge.document_reader import Reader
from offhook.knowledge.embedder_registry import Embedders
from offhook.knowledge.offline.model import MISSING, OfflineModel
from offhook.knowledge.reembedding import Moving
from offhook.knowledge.search import Search
from offhook.knowledge.uploads import Intake
from offhook.models import ModelConfigurations
from offhook.root import Root
from tests.knowledge.conftest import Librarian


def embedders(root: Root, wheel: str, folder: Path) -> Embedders:
    configurations = root.get(ModelConfigurations)
    return Embedders(root.db, configurations, configurations.egress, OfflineModel(folder, wheel))


@pytest.fixture
def without(root: Root, tmp_path: Path) -> Embedders:
    return embedders(root, "no_such_wheel", tmp_path / "models")


async def test_a_document_is_ready_by_its_words_and_gets_its_vectors_when_there_is_a_model(
    librarian: Librarian, root: Root, without: Embedders
) -> None:
    root.jobs.handlers["document.process"] = Processing(
        db=root.db, reader=Reader(root.get(Intake)), embedders=without, clock=root.clock
    ).handle
    document = await librarian.add()
    assert (document["status"], document["error"], document["notice"]) == ("ready", None, MISSING)
    async with root.db.transaction() as session:
        organization_id = await session.scalar(text("SELECT organization_id FROM knowledge_contents"))
        assert await session.scalar(text("SELECT count(*) FROM webhook_events WHERE type = 'document.ready'")) == 1
    (best, *_) = await Search(root.db, without).find(organization_id, "in which courtyard are animals", limit=4)
    assert "courtyard" in best.text
    assert best.cosine is None
    assert not without.is_offline_installed()
    await Moving(root.db, without).handle({"organization_id": organization_id, "tries": 1})
    assert (await librarian.get(document["id"]))["notice"] == MISSING
    for hook in root.on_work:
        await hook()
    await librarian.work()
    healed = await librarian.get(document["id"])
    assert (healed["status"], healed["notice"]) == ("ready", None)
    assert "14 euros" in (await librarian.find("What does a grown-up pay?"))[0]["text"]
    async with root.db.transaction() as session:
        assert await session.scalar(text("SELECT count(*) FROM knowledge_vectors")) == document["chunk_count"]
