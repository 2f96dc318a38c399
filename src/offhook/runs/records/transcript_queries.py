"""Search over transcripts: the words of finished runs, kept where one index finds them for one organization.

Where words are encrypted, the index has tokens of them instead, without their places. They find single words; phrases are looked
for in the transcripts that have all of their words.
"""

import asyncio
from collections.abc import Collection, Sequence
from typing import Any, Final

from sqlalchemy import (
    ARRAY,
    BigInteger,
    ColumnElement,
    Integer,
    Select,
    Text,
    any_,
    bindparam,
    cast,
    func,
    literal,
    or_,
    select,
    text,
)
from sqlalchemy.dialects.postgresql import TSQUERY
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.crypto import DataKey
from offhook.orgs.data_keys.word_keys import word_keys_of
from offhook.runs.errors import PhraseTooCommon
from offhook.runs.records.event_queries import StoredUtterance, read_utterances
from offhook.runs.records.word_search import WordQuery, list_index_words, parse_query
from offhook.runs.tables import Run, RunText
from offhook.voice.events import AGENT_SAID, CALLER_SAID

MAX_QUERY_CHARS: Final = 200
# Of more transcripts than this no phrase is looked for.
MAX_PHRASE_RUNS: Final = 500
_PHRASE_BATCH: Final = 50
_MAX_UTTERANCE_CHARS: Final = 2000
_MAX_TEXT_CHARS: Final = 200_000
# Of every language as it is: "simple" neither stems nor leaves out words. More than an hour of talk has 100,000
# characters; PostgreSQL refuses to index a megabyte.
_INDEX: Final = text(
    "INSERT INTO run_texts (run_id, organization_id, words, key_number)"
    " SELECT run_id, organization_id, array_to_tsvector(ARRAY['organization/' || organization_id])"
    " || to_tsvector('simple', left(coalesce(string_agg(left(data ->> 'text', 2000), ' '), ''), 200000)), NULL"
    " FROM run_events WHERE run_id = ANY(:run_ids) AND organization_id = :organization_id"
    " AND type = ANY(:types) GROUP BY run_id, organization_id HAVING bool_and(key_number IS NULL)"
    " ON CONFLICT (run_id) DO UPDATE SET words = excluded.words, key_number = NULL RETURNING run_id"
).bindparams(
    bindparam("run_ids", type_=ARRAY(BigInteger)),
    bindparam("organization_id", type_=Integer),
    bindparam("types", type_=ARRAY(Text)),
)
_INDEX_TOKENS: Final = text(
    "INSERT INTO run_texts (run_id, organization_id, words, key_number)"
    " VALUES (:run_id, :organization_id, array_to_tsvector(:tokens), :key_number)"
    " ON CONFLICT (run_id) DO UPDATE SET words = excluded.words, key_number = excluded.key_number"
).bindparams(bindparam("tokens", type_=ARRAY(Text)))


async def index_transcripts(session: AsyncSession, organization_id: int, run_ids: Collection[int]) -> None:
    """Makes the transcripts of these runs searchable; idempotent."""
    keys = word_keys_of(session)
    left = set(run_ids)
    if keys is None or not await keys.is_encrypting(session):
        values = {"run_ids": sorted(run_ids), "organization_id": organization_id, "types": [CALLER_SAID, AGENT_SAID]}
        left.difference_update((await session.scalars(_INDEX, values)).all())
    if keys is None or not left:
        return
    utterances = await read_utterances(session, organization_id, left)
    if not utterances:
        return
    key = (await keys.keys.get_newest_of(session, {organization_id}))[organization_id]
    if key is not None:
        for run_id, spoken in _join_utterances(utterances).items():
            await _store_tokens(session, organization_id, run_id, spoken, key)


async def _store_tokens(session: AsyncSession, organization_id: int, run_id: int, spoken: str, key: DataKey) -> None:
    index = key.derive_word_index()
    tokens = [index.hash_word(word) for word in list_index_words(spoken)]
    values = {
        "run_id": run_id,
        "organization_id": organization_id,
        "tokens": [_marker(organization_id, key.number), *tokens],
        "key_number": key.number,
    }
    await session.execute(_INDEX_TOKENS, values)


def _join_utterances(utterances: Sequence[StoredUtterance]) -> dict[int, str]:
    spoken: dict[int, list[str]] = {}
    for utterance in utterances:
        words = str(utterance["data"].get("text") or "")[:_MAX_UTTERANCE_CHARS]
        spoken.setdefault(utterance["run_id"], []).append(words)
    return {run_id: " ".join(parts)[:_MAX_TEXT_CHARS] for run_id, parts in spoken.items()}


def _marker(organization_id: int, key_number: int) -> str:
    return f"organization/{organization_id}/key/{key_number}"


async def find_transcript_condition(
    session: AsyncSession, organization_id: int, query: str, others: Sequence[ColumnElement[bool]] = ()
) -> ColumnElement[bool]:
    """Returns the condition that the transcript has all words of ``query``: ``"in quotes"`` for a phrase, ``or`` between
    alternatives, ``-word`` for what must not be in it.

    ``others`` are conditions on the same runs, within which phrases are looked for in encrypted transcripts. Raises
    PhraseTooCommon (422) when more than ``MAX_PHRASE_RUNS`` have all words of one.
    """
    tenant = cast(literal(f"'organization/{organization_id}'"), TSQUERY)
    plain = tenant.op("&&")(func.websearch_to_tsquery("simple", query))
    keys = word_keys_of(session)
    readable = [] if keys is None else await keys.list_readable(session, organization_id)
    if not readable:
        return Run.id.in_(_select_runs(organization_id, plain))
    parsed = parse_query(query)
    encrypted = cast(
        literal(
            " | ".join(
                f"({parsed.format_tsquery(key.derive_word_index().hash_word, _marker(organization_id, key.number))})"
                for key in readable
            )
        ),
        TSQUERY,
    )
    if not parsed.has_phrases:
        return Run.id.in_(_select_runs(organization_id, plain.op("||")(encrypted)))
    candidates = select(Run.id).where(*others, Run.id.in_(_select_runs(organization_id, encrypted)))
    run_ids = (await session.scalars(candidates.order_by(Run.id.desc()).limit(MAX_PHRASE_RUNS + 1))).all()
    if len(run_ids) > MAX_PHRASE_RUNS:
        raise PhraseTooCommon
    found = await _find_matching(session, organization_id, run_ids, parsed)
    return or_(
        Run.id.in_(_select_runs(organization_id, plain)),
        Run.id == any_(cast(literal(found, ARRAY(BigInteger)), ARRAY(BigInteger))),
    )


def _select_runs(organization_id: int, wanted: ColumnElement[Any]) -> Select[int]:
    return select(RunText.run_id).where(RunText.organization_id == organization_id, RunText.words.op("@@")(wanted))


async def _find_matching(
    session: AsyncSession, organization_id: int, run_ids: Sequence[int], query: WordQuery
) -> list[int]:
    found: list[int] = []
    for start in range(0, len(run_ids), _PHRASE_BATCH):
        utterances = await read_utterances(session, organization_id, run_ids[start : start + _PHRASE_BATCH])
        found += await asyncio.to_thread(_filter_matching, utterances, query)
    return found


def _filter_matching(utterances: Sequence[StoredUtterance], query: WordQuery) -> list[int]:
    return [run_id for run_id, spoken in _join_utterances(utterances).items() if query.matches(spoken)]
