"""Encrypts the words of calls that exist with the newest key of their organization."""

from collections.abc import Callable
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.crypto import DataKey
from offhook.kit.database.database import Database
from offhook.nodes import queries as nodes
from offhook.orgs.data_keys.keys import DataKeys
from offhook.runs.errors import OlderProcessRunning
from offhook.runs.records import encrypted_event_queries, transcript_queries
from offhook.runs.records.encrypted_event_queries import WordEvent
from offhook.runs.records.event_cipher import RunCipher, SealedData
from offhook.runs.records.storable_json import encode_event_data

BATCH: Final = 100
_REPORT_EVERY: Final = 10


class WordSealer:
    """Can be stopped at any moment and begun again: each batch of runs is one transaction. ``say`` gets the progress."""

    def __init__(self, db: Database, keys: DataKeys, say: Callable[[str], None], *, batch: int = BATCH) -> None:
        self._batch = batch
        self._db = db
        self._keys = keys
        self._say = say

    async def seal_words(self, organization_id: int) -> tuple[int, int]:
        """Returns the number of the newest key, with which all words are encrypted now, and how many events were not.

        Raises OlderProcessRunning (409) while a process runs that cannot read them, SecretUnreadable when a key is sealed
        with a secret that this installation does not have.
        """
        async with self._db.transaction() as session:
            if await nodes.is_any_older(session) or await nodes.find_sealed_level(session) < nodes.SEALED_LEVEL:
                raise OlderProcessRunning
            newest = await self._keys.get_newest(session, organization_id)
            # Transactions that use an older key end before this lock is given, and later ones use the newest.
            await self._keys.lock_all(session, organization_id)
            newest = await self._keys.get_newest(session, organization_id)
            total = await encrypted_event_queries.count_runs(session, organization_id)
        sealed = done = last = batches = 0
        while True:
            async with self._db.transaction() as session:
                run_ids = await encrypted_event_queries.list_run_ids(
                    session, organization_id, after=last, limit=self._batch
                )
                if not run_ids:
                    break
                sealed += await self._seal_batch(session, organization_id, list(run_ids), newest)
            done, last, batches = done + len(run_ids), run_ids[-1], batches + 1
            if batches % _REPORT_EVERY == 0:
                self._say(f"Transcripts of {done:,} of {total:,} runs are encrypted.")
        return newest.number, sealed

    async def _seal_batch(
        self, session: AsyncSession, organization_id: int, run_ids: list[int], newest: DataKey
    ) -> int:
        await encrypted_event_queries.lock_words(session, organization_id)
        events = await encrypted_event_queries.list_without_key(session, organization_id, run_ids, newest.number)
        ciphers = {run_id: RunCipher(newest, organization_id, run_id) for run_id in {event.run_id for event in events}}
        older: dict[int, DataKey | None] = {}
        changes: list[tuple[WordEvent, SealedData]] = []
        for event in events:
            data = event.data
            if event.key_number is not None and event.sealed is not None:
                if event.key_number not in older:
                    older[event.key_number] = await self._find_key(session, organization_id, event.key_number)
                key = older[event.key_number]
                if key is None:
                    continue
                data = RunCipher(key, organization_id, event.run_id).open(event.sealed, event.created_at)
            changes.append((event, ciphers[event.run_id].seal(encode_event_data(data), event.created_at)))
        await encrypted_event_queries.replace_data(session, organization_id, changes)
        indexed = await encrypted_event_queries.list_indexed(session, organization_id, run_ids, before=newest.number)
        await transcript_queries.index_transcripts(session, organization_id, indexed)
        return len(changes)

    async def _find_key(self, session: AsyncSession, organization_id: int, number: int) -> DataKey | None:
        """Returns an older key; None when it was deleted, and with it what it encrypted."""
        if number not in await self._keys.list_numbers(session, organization_id):
            return None
        return await self._keys.find_key(session, organization_id, number)
