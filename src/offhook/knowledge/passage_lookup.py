"""What a call asks for: of the documents that a node names, the short ones whole and the best passages of the others."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.database.database import Database
from offhook.kit.tasks import Tasks
from offhook.knowledge import repository
from offhook.knowledge.embedder_registry import Embedders
from offhook.knowledge.errors import EmbeddingFailed
from offhook.knowledge.limits import SHORT_TOKENS, TOP, WHOLE_TOKENS
from offhook.knowledge.search import Search

# Passages less alike than this, and without a rare word of the question, are about something else.
LEAST_COSINE: Final = 0.2
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Found:
    """A passage, or with ``is_whole`` a document's whole text."""

    document_id: str
    name: str
    text: str
    heading: str = ""
    page: int | None = None
    score: float = 1.0
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class _Plan:
    whole: list[Found]
    searched: list[str]


class Consultant:
    """One per process."""

    def __init__(self, db: Database, search: Search, embedders: Embedders, tasks: Tasks) -> None:
        self._db = db
        self._search = search
        self._embedders = embedders
        self._tasks = tasks

    def warm(self) -> None:
        """A call with documents has begun: have the offline model in memory before its first question."""
        self._tasks.start(self._warm(), name="embedding-model")

    async def _warm(self) -> None:
        try:
            await self._embedders.warm()
        except EmbeddingFailed as error:
            log.warning("embedding_model_not_loaded", error=str(error))

    async def consult(self, organization_id: int, refs: Sequence[str], question: str) -> list[Found]:
        """Only documents that are ready and not archived; ``refs`` are uuids, or integers of the reference's list."""
        async with self._db.transaction() as session:
            plan = await self._plan(session, organization_id, refs)
        if not plan.searched or not question:
            return plan.whole
        hits = await self._search.find(organization_id, question, limit=TOP, document_ids=plan.searched)
        return plan.whole + [
            Found(hit.document_id, hit.name, hit.text, hit.heading, hit.page, hit.score)
            for hit in hits
            if hit.cosine is None or hit.cosine >= LEAST_COSINE
        ]

    async def _plan(self, session: AsyncSession, organization_id: int, refs: Sequence[str]) -> _Plan:
        whole, searched, left = [], [], WHOLE_TOKENS
        for document, content in await repository.usable(session, organization_id, refs):
            tokens = content.tokens or 0
            limit = {"auto": SHORT_TOKENS, "full_document": WHOLE_TOKENS}.get(document.retrieval_mode, 0)
            if tokens <= min(limit, left):
                left -= tokens
                text = await repository.whole_text(session, organization_id, content.id)
                whole.append(Found(str(document.id), document.name, text, is_whole=True))
            else:
                searched.append(str(document.id))
        return _Plan(whole, searched)
