"""Search over transcripts: the words of finished runs, kept where one index finds them for one organization."""

from collections.abc import Collection
from typing import Final

from sqlalchemy import ARRAY, BigInteger, ColumnElement, Integer, Text, bindparam, cast, func, literal, select, text
from sqlalchemy.dialects.postgresql import TSQUERY
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.runs.tables import Run, RunText
from offhook.voice.events import AGENT_SAID, CALLER_SAID

MAX_QUERY_CHARS: Final = 200
# Of every language as it is: "simple" neither stems nor leaves out words. More than an hour of talk has 100,000
# characters; PostgreSQL refuses to index a megabyte.
_INDEX: Final = text(
    "INSERT INTO run_texts (run_id, organization_id, words)"
    " SELECT run_id, organization_id, array_to_tsvector(ARRAY['organization/' || organization_id])"
    " || to_tsvector('simple', left(coalesce(string_agg(left(data ->> 'text', 2000), ' '), ''), 200000))"
    " FROM run_events WHERE run_id = ANY(:run_ids) AND organization_id = :organization_id"
    " AND type = ANY(:types) GROUP BY run_id, organization_id"
    " ON CONFLICT (run_id) DO UPDATE SET words = excluded.words"
).bindparams(
    bindparam("run_ids", type_=ARRAY(BigInteger)),
    bindparam("organization_id", type_=Integer),
    bindparam("types", type_=ARRAY(Text)),
)


async def index_transcripts(session: AsyncSession, organization_id: int, run_ids: Collection[int]) -> None:
    """Makes the transcripts of these runs searchable; idempotent."""
    values = {"run_ids": sorted(run_ids), "organization_id": organization_id, "types": [CALLER_SAID, AGENT_SAID]}
    await session.execute(_INDEX, values)


def transcript_condition(organization_id: int, query: str) -> ColumnElement[bool]:
    """Returns the condition that the transcript has all words of ``query``: ``"in quotes"`` for a phrase, ``or`` between
    alternatives, ``-word`` for what must not be in it."""
    tenant = cast(literal(f"'organization/{organization_id}'"), TSQUERY)
    wanted = tenant.op("&&")(func.websearch_to_tsquery("simple", query))
    return Run.id.in_(
        select(RunText.run_id).where(RunText.organization_id == organization_id, RunText.words.op("@@")(wanted))
    )
