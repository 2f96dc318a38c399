"""Passage search: by meaning (vectors) and by words (stems), merged by rank."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

import structlog

from offhook.kit.database.database import Database
from offhook.knowledge import repository, search_queries
from offhook.knowledge.document_processing import vectors_as_text
from offhook.knowledge.embedder import EmbeddingModel
from offhook.knowledge.embedder_registry import EmbedderRegistry
from offhook.knowledge.errors import EmbeddingFailed
from offhook.knowledge.passages import KnowledgePassage
from offhook.knowledge.search_queries import SearchScope
from offhook.knowledge.vectors.vector_spaces import OTHER_LENGTH_MESSAGE

# A call repeats the same question while the caller is still speaking.
_MAX_CACHED_VECTORS: Final = 500
# Per organization, so that one that asks all the time only evicts its own vectors.
_MAX_CACHED_OF_ONE: Final = 100
log = structlog.get_logger(__name__)


class PassageSearch:
    """Finds passages that answer a question; keeps the vectors of recent questions."""

    def __init__(self, db: Database, embedders: EmbedderRegistry) -> None:
        self._db = db
        self._embedders = embedders
        # By organization, because a server may answer each key differently: no other one's answer counts.
        self._vectors: OrderedDict[tuple[int, EmbeddingModel, str], str] = OrderedDict()

    async def find_passages(
        self, organization_id: int, question: str, *, limit: int, document_ids: Sequence[str] | None = None
    ) -> list[KnowledgePassage]:
        """Returns the best passages of ready documents that are not archived, only of ``document_ids`` if given.

        Without an answer of the embedding model, words alone decide.
        """
        ids = None
        if document_ids is not None:
            ids = [str(uuid) for ref in document_ids if (uuid := repository.parse_uuid(ref))]
        async with self._db.transaction() as session:
            scope = await search_queries.load_scope(session, organization_id, ids)
        if not scope.chunks:
            return []
        # The model computes the vector while the database searches by words.
        vector, by_words = await asyncio.gather(
            self._question_vector(scope, question), self._rank_by_words(scope, question)
        )
        async with self._db.transaction() as session:
            near = await search_queries.rank_by_meaning(session, scope, vector) if vector is not None else []
            rankings = [[chunk_id for chunk_id, _ in near], by_words] if near else [by_words]
            best = search_queries.merge_rankings(rankings)[:limit]
            return await search_queries.load_hits(session, scope, best, dict(near))

    async def _rank_by_words(self, scope: SearchScope, question: str) -> list[int]:
        async with self._db.transaction() as session:
            terms = await search_queries.question_terms(session, scope.organization_id, question)
            return await search_queries.rank_by_words(session, scope, terms)

    async def _question_vector(self, scope: SearchScope, question: str) -> str | None:
        if scope.model is None:
            return None
        key = (scope.organization_id, scope.model, question)
        if key not in self._vectors:
            try:
                embedder = await self._embedders.embedder_for(scope.organization_id, scope.model)
                if embedder is None:
                    return None
                vectors = await embedder.embed_query(question)
                if scope.dimensions is not None and vectors.shape[1] != scope.dimensions:
                    raise EmbeddingFailed(OTHER_LENGTH_MESSAGE, retryable=False)
                vector = self._vectors[key] = vectors_as_text(vectors)[0]
            except EmbeddingFailed as error:
                log.warning("question_embedding_failed", error=str(error))
                return None
            self._forget_oldest(scope.organization_id)
            return vector
        self._vectors.move_to_end(key)
        return self._vectors[key]

    def _forget_oldest(self, organization_id: int) -> None:
        of_one = [key for key in self._vectors if key[0] == organization_id]
        for key in of_one[: max(0, len(of_one) - _MAX_CACHED_OF_ONE)]:
            del self._vectors[key]
        while len(self._vectors) > _MAX_CACHED_VECTORS:
            self._vectors.popitem(last=False)
