"""Finding passages: by meaning (vectors) and by words (stems), merged by rank."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import structlog
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.database.database import Database
from offhook.knowledge import repository, search_queries
from offhook.knowledge.document_processing import vectors_as_text
from offhook.knowledge.embedder import EmbeddingModel
from offhook.knowledge.embedder_registry import EmbedderRegistry
from offhook.knowledge.errors import EmbeddingFailed
from offhook.knowledge.search_queries import SearchScope

# Questions of calls come again and again while they are spoken.
_MAX_CACHED_VECTORS: Final = 500
_HITS_SQL: Final = (
    "SELECT chunk.id, chunk.text, chunk.heading, chunk.page, document.id AS document_id, document.name"
    " FROM knowledge_chunks chunk JOIN LATERAL ("
    "   SELECT live.id, live.name FROM knowledge_documents live"
    "   WHERE live.organization_id = :organization_id AND live.content_id = chunk.content_id"
    "     AND live.status = 'ready' AND live.archived_at IS NULL"
    "     AND (CAST(:ids AS uuid[]) IS NULL OR live.id = ANY(CAST(:ids AS uuid[])))"
    "   ORDER BY live.number DESC LIMIT 1) AS document ON true"
    " WHERE chunk.organization_id = :organization_id AND chunk.id = ANY(CAST(:chunks AS bigint[]))"
)
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class KnowledgePassage:
    """Implements ``voice.ports.Passage``. ``is_whole``: the document's whole text. ``score``: 1 is the first place of both
    rankings; ``cosine`` is None for passages that were found by their words alone."""

    document_id: str
    name: str
    text: str
    heading: str = ""
    page: int | None = None
    score: float = 1.0
    cosine: float | None = None
    is_whole: bool = False


class PassageSearch:
    """One per process."""

    def __init__(self, db: Database, embedders: EmbedderRegistry) -> None:
        self._db = db
        self._embedders = embedders
        self._vectors: OrderedDict[tuple[EmbeddingModel, str], str] = OrderedDict()

    async def find_passages(
        self, organization_id: int, question: str, *, limit: int, document_ids: Sequence[str] | None = None
    ) -> list[KnowledgePassage]:
        """The best passages of ready documents that are not archived. ``document_ids``: only of these; empty: of none.

        When the embedding model does not answer, words alone decide.
        """
        ids = (
            None
            if document_ids is None
            else [str(found) for ref in document_ids if (found := repository.parse_uuid(ref))]
        )
        async with self._db.transaction() as session:
            where = await search_queries.load_scope(session, organization_id, ids)
        if not where.chunks:
            return []
        # a model of the process or of a vendor makes the vector while the database looks for the words
        vector, said = await asyncio.gather(self._question_vector(where, question), self._by_words(where, question))
        async with self._db.transaction() as session:
            near = await search_queries.rank_by_meaning(session, where, vector) if vector is not None else []
            both = [[chunk_id for chunk_id, _ in near], said] if near else [said]
            return await _load_hits(session, where, search_queries.merge_rankings(both)[:limit], dict(near))

    async def _by_words(self, where: SearchScope, question: str) -> list[int]:
        async with self._db.transaction() as session:
            return await search_queries.rank_by_words(
                session, where, await search_queries.question_terms(session, where.organization_id, question)
            )

    async def _question_vector(self, where: SearchScope, question: str) -> str | None:
        if where.model is None:
            return None
        key = (where.model, question)
        if key not in self._vectors:
            try:
                embedder = await self._embedders.embedder_for(where.organization_id, where.model)
                if embedder is None:
                    return None
                self._vectors[key] = vectors_as_text(await embedder.embed_query(question))[0]
            except EmbeddingFailed as error:
                log.warning("question_embedding_failed", error=str(error))
                return None
            while len(self._vectors) > _MAX_CACHED_VECTORS:
                self._vectors.popitem(last=False)
        self._vectors.move_to_end(key)
        return self._vectors[key]


async def _load_hits(
    session: AsyncSession, where: SearchScope, best: Sequence[tuple[int, float]], cosines: dict[int, float]
) -> list[KnowledgePassage]:
    parameters = {**where.query_parameters, "chunks": [chunk_id for chunk_id, _ in best]}
    rows = {row.id: row for row in await session.execute(text(_HITS_SQL), parameters)}
    return [
        KnowledgePassage(
            document_id=str(row.document_id),
            name=row.name,
            text=row.text,
            heading=row.heading,
            page=row.page,
            score=round(score, 4),
            cosine=cosines.get(chunk_id),
        )
        for chunk_id, score in best
        if (row := rows.get(chunk_id)) is not None
    ]
