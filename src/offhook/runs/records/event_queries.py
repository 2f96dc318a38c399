"""The append-only event list in the database: how rows are numbered, and how readers are notified."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypedDict

import structlog
from sqlalchemy import ColumnElement, LargeBinary, bindparam, select, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.types import BigInteger, DateTime, Integer, Text

from offhook.kit.json_values import JsonObject
from offhook.orgs.data_keys.word_keys import word_keys_of
from offhook.runs.records.event_cipher import RunCipher, SealedData, drop_words, has_words, open_events
from offhook.runs.tables import Run, RunEvent
from offhook.voice.events import AGENT_SAID, CALLER_SAID

CHANNEL: Final = "offhook_run_events"
# What :func:`event_cipher.open_events` reads of an event.
DATA_COLUMNS: Final = (RunEvent.run_id, RunEvent.data, RunEvent.created_at, RunEvent.key_number, RunEvent.sealed)
_FIRST_EVENTS: Final = 60  # event types that a call's summary line uses
log = structlog.get_logger(__name__)
_NOTIFY_IDS: Final = 300  # ids per notification; its payload is limited to 8000 bytes


class StoredEvent(TypedDict):
    """An event of a run as readers get it."""

    seq: int
    type: str
    at_ms: int
    data: JsonObject
    created_at: datetime


class StoredUtterance(TypedDict):
    """An utterance of one of several runs."""

    run_id: int
    type: str
    at_ms: int
    data: JsonObject


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event without its number. ``data_json`` is from :func:`encode_event_data`; ``created_at`` is unique per
    writer."""

    run_id: int
    type: str
    at_ms: int
    data_json: str
    created_at: datetime


# One lock per run, so that a callback in another process and a live call's writer never assign the same number.
_LOCK: Final = text(
    "SELECT pg_advisory_xact_lock(hashtextextended('offhook.run_events', id)) "
    "FROM (SELECT DISTINCT unnest(:run_ids) AS id ORDER BY 1) AS runs"
).bindparams(bindparam("run_ids", type_=ARRAY(BigInteger)))

_INSERT: Final = """
WITH e AS (
  SELECT * FROM unnest(:run_ids, :types, :at_ms, :data, :created_at, :key_numbers, :sealed) WITH ORDINALITY
    AS t(run_id, type, at_ms, data, created_at, key_number, sealed, position)
), fresh AS (SELECT * FROM e {where}), last AS (
  SELECT ids.run_id, coalesce((SELECT max(seq) FROM run_events x WHERE x.run_id = ids.run_id), 0) AS seq
  FROM (SELECT DISTINCT run_id FROM fresh) AS ids
)
INSERT INTO run_events (run_id, seq, organization_id, type, at_ms, data, created_at, key_number, sealed)
SELECT fresh.run_id, last.seq + row_number() OVER (PARTITION BY fresh.run_id ORDER BY fresh.position),
       runs.organization_id, fresh.type, fresh.at_ms, CAST(fresh.data AS jsonb), fresh.created_at,
       fresh.key_number, fresh.sealed
FROM fresh JOIN last USING (run_id) JOIN runs ON runs.id = fresh.run_id
"""
_UNLESS_THERE: Final = (
    "WHERE NOT EXISTS (SELECT 1 FROM run_events d "
    "WHERE d.run_id = e.run_id AND d.created_at = e.created_at AND d.type = e.type)"
)
_TYPES: Final = (
    bindparam("run_ids", type_=ARRAY(BigInteger)),
    bindparam("types", type_=ARRAY(Text)),
    bindparam("at_ms", type_=ARRAY(Integer)),
    bindparam("data", type_=ARRAY(Text)),
    bindparam("created_at", type_=ARRAY(DateTime(timezone=True))),
    bindparam("key_numbers", type_=ARRAY(Integer)),
    bindparam("sealed", type_=ARRAY(LargeBinary)),
)
_INSERT_FIRST: Final = text(_INSERT.format(where="")).bindparams(*_TYPES)
_INSERT_RETRY: Final = text(_INSERT.format(where=_UNLESS_THERE)).bindparams(*_TYPES)


async def append_events(session: AsyncSession, events: Sequence[NewEvent], *, is_retry: bool = False) -> None:
    """Appends events in order, continuing each run's numbering, and notifies listeners after the commit.

    ``is_retry`` skips what an earlier attempt without a confirmed commit may have written. Events of deleted runs
    are dropped. Their words are encrypted where the installation encrypts them.
    """
    if not events:
        return
    run_ids = [event.run_id for event in events]
    await session.execute(_LOCK, {"run_ids": run_ids})
    stored = await _seal_events(session, events)
    await session.execute(
        _INSERT_RETRY if is_retry else _INSERT_FIRST,
        {
            "run_ids": run_ids,
            "types": [event.type for event in events],
            "at_ms": [event.at_ms for event in events],
            "data": [part.data_json for part in stored],
            "created_at": [event.created_at for event in events],
            "key_numbers": [part.key_number for part in stored],
            "sealed": [part.sealed for part in stored],
        },
    )
    await notify_listeners(session, run_ids)


async def _seal_events(session: AsyncSession, events: Sequence[NewEvent]) -> list[SealedData]:
    keys = word_keys_of(session)
    run_ids = {event.run_id for event in events if has_words(event.type)}
    if keys is None or not run_ids or not await keys.is_encrypting(session):
        return [SealedData(event.data_json) for event in events]
    owners = keys.known_owners(run_ids)
    if unknown := run_ids - owners.keys():
        rows = await session.execute(select(Run.id, Run.organization_id).where(Run.id.in_(unknown)))
        found = {row.id: row.organization_id for row in rows}
        keys.note_owners(found)
        owners |= found
    newest = await keys.keys.get_newest_of(session, set(owners.values()))
    ciphers = {
        run_id: RunCipher(key, owner, run_id) for run_id, owner in owners.items() if (key := newest[owner]) is not None
    }
    lost = sorted(owners.keys() - ciphers.keys())
    if lost:
        log.error("words_not_encrypted", run_ids=lost[:20], count=len(lost))
    return [_seal_event(event, ciphers.get(event.run_id)) for event in events]


def _seal_event(event: NewEvent, cipher: RunCipher | None) -> SealedData:
    if not has_words(event.type):
        return SealedData(event.data_json)
    # Without a readable key only the facts are stored: words are not stored plain where they have to be encrypted.
    return drop_words(event.data_json) if cipher is None else cipher.seal(event.data_json, event.created_at)


async def notify_listeners(session: AsyncSession, run_ids: Sequence[int]) -> None:
    """Wakes the listeners of these runs in every process once this transaction commits."""
    distinct = sorted(set(run_ids))
    for start in range(0, len(distinct), _NOTIFY_IDS):
        payload = ",".join(map(str, distinct[start : start + _NOTIFY_IDS]))
        await session.execute(text("SELECT pg_notify(:channel, :payload)"), {"channel": CHANNEL, "payload": payload})


async def read_events(
    session: AsyncSession,
    organization_id: int,
    run_id: int,
    *,
    after: int = 0,
    limit: int = 1000,
    is_lenient: bool = False,
) -> list[StoredEvent]:
    """Returns a run's stored events ``{seq, type, at_ms, data, created_at}`` in order, after number ``after``.

    Raises WordsUnreadable (409) when they are encrypted and their key is not there; ``is_lenient`` leaves the facts of
    such events.
    """
    rows = (
        await session.execute(
            select(RunEvent.seq, RunEvent.type, RunEvent.at_ms, *DATA_COLUMNS)
            .where(RunEvent.run_id == run_id, RunEvent.organization_id == organization_id, RunEvent.seq > after)
            .order_by(RunEvent.seq)
            .limit(limit)
        )
    ).all()
    opened = await open_events(session, organization_id, rows, is_lenient=is_lenient)
    return [
        StoredEvent(seq=row.seq, type=row.type, at_ms=row.at_ms, data=data, created_at=row.created_at)
        for row, data in zip(rows, opened, strict=True)
    ]


async def read_first_utterances(
    session: AsyncSession, organization_id: int, run_ids: Sequence[int]
) -> list[StoredUtterance]:
    """Returns the first utterances ``{run_id, type, at_ms, data}`` of several runs, for their summary lines; without
    words where they cannot be decrypted."""
    return await _read_utterances(session, organization_id, run_ids, RunEvent.seq <= _FIRST_EVENTS)


async def read_utterances(
    session: AsyncSession, organization_id: int, run_ids: Collection[int]
) -> list[StoredUtterance]:
    """Returns all utterances of several runs, run by run in order; without words where they cannot be decrypted."""
    return await _read_utterances(session, organization_id, run_ids)


async def _read_utterances(
    session: AsyncSession, organization_id: int, run_ids: Collection[int], *conditions: ColumnElement[bool]
) -> list[StoredUtterance]:
    rows = (
        await session.execute(
            select(RunEvent.type, RunEvent.at_ms, *DATA_COLUMNS)
            .where(
                RunEvent.run_id.in_(run_ids),
                RunEvent.organization_id == organization_id,
                RunEvent.type.in_([AGENT_SAID, CALLER_SAID]),
                *conditions,
            )
            .order_by(RunEvent.run_id, RunEvent.seq)
        )
    ).all()
    opened = await open_events(session, organization_id, rows, is_lenient=True)
    return [
        StoredUtterance(run_id=row.run_id, type=row.type, at_ms=row.at_ms, data=data)
        for row, data in zip(rows, opened, strict=True)
    ]
