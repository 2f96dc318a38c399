"""Statements of passage search: the two rankings of an organization's pieces, and the scope that both search."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.knowledge.embedder import EmbeddingModel
from offhook.knowledge.passages import KnowledgePassage

# Pieces per ranking.
MAX_RANKED: Final = 40
# With a space's index: how many neighbors are followed, and from how many pieces on it pays off.
EF_SEARCH: Final = 100
MAX_EXACT: Final = 5_000
# Pieces that are scanned for words: those with the rarest ones. Each costs 5 to 10 µs.
MAX_CANDIDATES: Final = 600
MAX_TERMS: Final = 16

_LIVE_CONTENTS_SQL: Final = (
    "SELECT live.content_id FROM knowledge_documents live WHERE live.organization_id = :organization_id"
    " AND live.status = 'ready' AND live.archived_at IS NULL"
    " AND (CAST(:ids AS uuid[]) IS NULL OR live.id = ANY(CAST(:ids AS uuid[])))"
)


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


@dataclass(frozen=True, slots=True)
class SearchScope:
    """The scope of a search: ``chunks`` pieces of ready documents; ``space_id`` is None before the first vector."""

    organization_id: int
    ids: list[str] | None
    chunks: int
    space_id: int | None = None
    model: EmbeddingModel | None = None
    dimensions: int | None = None
    has_index: bool = False

    @property
    def query_parameters(self) -> dict[str, object]:
        return {"organization_id": self.organization_id, "ids": self.ids}


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """A stem of the question, as it is indexed, and the number of the organization's pieces that contain it."""

    lexeme: str
    chunks: int


async def load_scope(session: AsyncSession, organization_id: int, ids: list[str] | None) -> SearchScope:
    """Returns the scope of these documents (uuids), or of all of the organization's for None."""
    row = (
        await session.execute(
            text(
                "SELECT space.*, (SELECT coalesce(sum(content.chunk_count), 0) FROM knowledge_contents content"  # noqa: S608
                f"   WHERE content.id IN ({_LIVE_CONTENTS_SQL})) AS chunks"
                " FROM (SELECT 1) AS one LEFT JOIN knowledge_spaces space"
                "   ON space.organization_id = :organization_id AND space.state = 'active'"
            ),
            {"organization_id": organization_id, "ids": ids},
        )
    ).one()
    if row.id is None:
        return SearchScope(organization_id, ids, row.chunks)
    model = EmbeddingModel(row.provider, row.model, row.base_url)
    return SearchScope(organization_id, ids, row.chunks, row.id, model, row.dimensions, row.has_index)


async def question_terms(session: AsyncSession, organization_id: int, question: str) -> list[QueryTerm]:
    """Returns the stems of a question that occur in the organization's pieces, rarest first."""
    rows = await session.execute(
        text(
            "SELECT asked.lexeme, known.chunks FROM unnest(knowledge_tsvector(:organization_id, :question)) AS asked"
            " JOIN knowledge_terms known ON known.organization_id = :organization_id AND known.term = asked.lexeme"
            " ORDER BY known.chunks, asked.lexeme LIMIT :most"
        ),
        {"organization_id": organization_id, "question": question, "most": MAX_TERMS},
    )
    return [QueryTerm(row.lexeme, row.chunks) for row in rows]


async def rank_by_meaning(session: AsyncSession, scope: SearchScope, vector: str) -> list[tuple[int, float]]:
    """Returns ``(chunk id, cosine)``, nearest first: few pieces are compared one by one, many by the space's index."""
    if scope.space_id is None or scope.dimensions is None:
        return []
    if scope.has_index and scope.chunks > MAX_EXACT:
        await session.execute(
            text(
                "SELECT set_config('hnsw.ef_search', :ef_search, true),"
                " set_config('hnsw.iterative_scan', 'strict_order', true)"
            ),
            {"ef_search": str(EF_SEARCH)},
        )
        # the statement contains the space's number, so that the planner can use this space's own index
        size, space_id = int(scope.dimensions), int(scope.space_id)
        column, space = f"(v.embedding::halfvec({size})) <#> CAST(:vector AS halfvec({size}))", str(space_id)
    else:
        column, space = "v.embedding <#> CAST(:vector AS halfvec)", ":space_id"
    rows = await session.execute(
        text(
            f"SELECT v.chunk_id, -({column}) AS cosine FROM knowledge_vectors v"  # noqa: S608 - our own numbers
            f" WHERE v.space_id = {space} AND v.content_id IN ({_LIVE_CONTENTS_SQL}) ORDER BY {column} LIMIT {MAX_RANKED}"
        ),
        {**scope.query_parameters, "vector": vector, **({"space_id": scope.space_id} if space == ":space_id" else {})},
    )
    return [(row.chunk_id, row.cosine) for row in rows]


async def rank_by_words(session: AsyncSession, scope: SearchScope, terms: Sequence[QueryTerm]) -> list[int]:
    """Returns chunk ids, best first: the more of the rare words, and the more often, the better.

    Candidates are the pieces with the rarest words; the frequent words only change their order.
    """
    if not terms:
        return []
    seen = 0
    leading: list[QueryTerm] = []
    for term in terms:
        if leading and seen + term.chunks > MAX_CANDIDATES:
            break
        seen += term.chunks
        leading.append(term)
    known = max(scope.chunks, *(term.chunks for term in terms))
    score: list[str] = []
    parameters: dict[str, object] = {}
    for index, term in enumerate(terms):
        weight = math.log(1 + (known - term.chunks + 0.5) / (term.chunks + 0.5))
        # numbers are parameters, so that only sixteen statements exist, which the server has already planned
        score.append(f"CAST(:weight{index} AS float8) * ts_rank(hit.words, CAST(:term{index} AS tsquery))")
        parameters |= {f"term{index}": quote_lexeme(term.lexeme), f"weight{index}": weight}
    rows = await session.execute(
        text(
            "WITH hit AS MATERIALIZED (SELECT id, content_id, organization_id, words FROM knowledge_chunks"  # noqa: S608
            f"   WHERE words @@ CAST(:leading AS tsquery) LIMIT {2 * MAX_CANDIDATES})"
            f" SELECT hit.id FROM hit WHERE hit.organization_id = :organization_id AND hit.content_id IN ({_LIVE_CONTENTS_SQL})"
            f" ORDER BY {' + '.join(score)} DESC, hit.id LIMIT {MAX_RANKED}"
        ),
        {**scope.query_parameters, **parameters, "leading": " | ".join(quote_lexeme(term.lexeme) for term in leading)},
    )
    return [row.id for row in rows]


def quote_lexeme(lexeme: str) -> str:
    """Returns a stem as a query; it holds no quote and no backslash (``knowledge_tsvector`` leaves such words out)."""
    return f"'{lexeme}'"


def merge_rankings(rankings: Sequence[Sequence[int]], *, constant: int = 60) -> list[tuple[int, float]]:
    """Merges rankings by reciprocal rank fusion: ``(id, score)``, best first; 1 is the first place of every ranking."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for place, item in enumerate(ranking, 1):
            scores[item] = scores.get(item, 0.0) + 1 / (constant + place)
    best = max(len(rankings), 1) / (constant + 1)
    return sorted(((item, score / best) for item, score in scores.items()), key=lambda pair: (-pair[1], pair[0]))


async def load_hits(
    session: AsyncSession, scope: SearchScope, best: Sequence[tuple[int, float]], cosines: dict[int, float]
) -> list[KnowledgePassage]:
    """Returns the passages of ``(chunk id, score)`` pairs, in their order."""
    parameters = {**scope.query_parameters, "chunks": [chunk_id for chunk_id, _ in best]}
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
