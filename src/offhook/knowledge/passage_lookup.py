"""Knowledge for a call: the full text of a node's short documents, and the best passages of its other documents."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.database.database import Database
from offhook.kit.tasks import TaskTracker
from offhook.knowledge import repository
from offhook.knowledge.embedder_registry import EmbedderRegistry
from offhook.knowledge.errors import EmbeddingFailed
from offhook.knowledge.limits import MAX_PASSAGES, MAX_SHORT_TOKENS, MAX_WHOLE_TOKENS
from offhook.knowledge.passages import KnowledgePassage
from offhook.knowledge.search import PassageSearch

# Passages below this similarity, without a rare word of the question, are off topic.
MIN_COSINE: Final = 0.2
# About 300 tokens each: with more, a recognizer would take what callers say for anything.
MAX_FIRST_TEXTS: Final = 24
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _LookupPlan:
    whole_documents: list[KnowledgePassage]
    searched_ids: list[str]


class PassageLookup:
    """Finds document passages for a question of a call."""

    def __init__(self, db: Database, search: PassageSearch, embedders: EmbedderRegistry, tasks: TaskTracker) -> None:
        self._db = db
        self._search = search
        self._embedders = embedders
        self._tasks = tasks

    def start_warm_up(self) -> None:
        """Loads the offline model before the first question of a call with documents."""
        self._tasks.start(self._warm_up(), name="embedding-model")

    async def _warm_up(self) -> None:
        try:
            await self._embedders.offline.load()
        except EmbeddingFailed as error:
            log.warning("embedding_model_load_failed", error=str(error))

    async def look_up(self, organization_id: int, refs: Sequence[str], question: str) -> list[KnowledgePassage]:
        """Returns passages of ready documents that are not archived; ``refs`` are uuids, or integers of Dograh's list."""
        async with self._db.transaction() as session:
            plan = await self._plan_lookup(session, organization_id, refs)
        if not plan.searched_ids or not question:
            return plan.whole_documents
        hits = await self._search.find_passages(
            organization_id, question, limit=MAX_PASSAGES, document_ids=plan.searched_ids
        )
        return plan.whole_documents + [hit for hit in hits if hit.cosine is None or hit.cosine >= MIN_COSINE]

    async def first_texts(self, organization_id: int, refs: Sequence[str]) -> list[str]:
        """Returns the texts with which usable documents begin: what callers are likely to talk about."""
        async with self._db.transaction() as session:
            usable = await repository.find_usable(session, organization_id, refs)
            contents = [content.id for _, content in usable]
            return await repository.first_texts(session, organization_id, contents, limit=MAX_FIRST_TEXTS)

    async def _plan_lookup(self, session: AsyncSession, organization_id: int, refs: Sequence[str]) -> _LookupPlan:
        whole, searched, left = [], [], MAX_WHOLE_TOKENS
        for document, content in await repository.find_usable(session, organization_id, refs):
            tokens = content.tokens or 0
            limit = {"auto": MAX_SHORT_TOKENS, "full_document": MAX_WHOLE_TOKENS}.get(document.retrieval_mode, 0)
            if tokens <= min(limit, left):
                left -= tokens
                text = await repository.whole_text(session, organization_id, content.id)
                whole.append(KnowledgePassage(str(document.id), document.name, text, is_whole=True))
            else:
                searched.append(str(document.id))
        return _LookupPlan(whole, searched)
