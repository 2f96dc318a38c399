"""The encrypted words of calls, for those who look through everything that an organization has."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.crypto import SecretUnreadable
from offhook.kit.json_values import JsonObject
from offhook.orgs.data_keys.word_keys import word_keys_of
from offhook.runs.records import encrypted_event_queries, transcript_queries
from offhook.runs.records.encrypted_event_queries import WordEvent, list_run_ids, lock_words
from offhook.runs.records.event_cipher import RunCipher, open_events
from offhook.runs.records.storable_json import encode_event_data

__all__ = ["RUN_BATCH", "decrypt_rows", "find_events_with", "list_run_ids", "lock_words", "rewrite_words"]

# Runs whose words are in memory at once.
RUN_BATCH: Final = 100


async def rewrite_words(
    session: AsyncSession, organization_id: int, run_ids: Sequence[int], rewrite: Callable[[JsonObject], JsonObject]
) -> int:
    """Rewrites the data of the encrypted events of these runs, with their search index, and returns how many changed.

    Events that cannot be decrypted stay as they are: nobody can read them.
    """
    await lock_words(session, organization_id)
    ciphers: dict[tuple[int, int], RunCipher | None] = {}
    changes = []
    for event in await encrypted_event_queries.list_encrypted(session, organization_id, run_ids):
        place = (event.run_id, event.key_number or 0)
        if place not in ciphers:
            ciphers[place] = await _find_cipher(session, organization_id, event)
        cipher = ciphers[place]
        if cipher is None or event.sealed is None:
            continue
        try:
            data = cipher.open(event.sealed, event.created_at)
        except SecretUnreadable:
            continue
        rewritten = rewrite(data)
        if rewritten != data:
            changes.append((event, cipher.seal(encode_event_data(rewritten), event.created_at)))
    await encrypted_event_queries.replace_data(session, organization_id, changes)
    changed = {event.run_id for event, _ in changes}
    indexed = await encrypted_event_queries.list_indexed(session, organization_id, changed)
    await transcript_queries.index_transcripts(session, organization_id, indexed)
    return len(changes)


async def find_events_with(
    session: AsyncSession, organization_id: int, run_ids: Sequence[int], is_in: Callable[[JsonObject], bool]
) -> list[tuple[int, int]]:
    """Returns run and number of the encrypted events of these runs whose data ``is_in`` accepts."""
    events = await encrypted_event_queries.list_encrypted(session, organization_id, run_ids)
    opened = await open_events(session, organization_id, events, is_lenient=True)
    return [(event.run_id, event.seq) for event, data in zip(events, opened, strict=True) if is_in(data)]


async def decrypt_rows(
    session: AsyncSession, organization_id: int, rows: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Returns rows of the table of events as if nothing was encrypted; those that cannot be decrypted with their facts."""
    events = [WordEvent(**{name: row[name] for name in WordEvent.__dataclass_fields__}) for row in rows]
    opened = await open_events(session, organization_id, events, is_lenient=True)
    hidden = {"key_number", "sealed"}
    return [
        {**{name: value for name, value in row.items() if name not in hidden}, "data": data}
        for row, data in zip(rows, opened, strict=True)
    ]


async def _find_cipher(session: AsyncSession, organization_id: int, event: WordEvent) -> RunCipher | None:
    keys = word_keys_of(session)
    if keys is None or event.key_number is None:
        return None
    try:
        key = await keys.find_key(session, organization_id, event.key_number)
    except SecretUnreadable:
        return None
    return RunCipher(key, organization_id, event.run_id)
