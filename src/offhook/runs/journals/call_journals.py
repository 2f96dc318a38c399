"""Keeps the journals of calls: begun with the call, encrypted with the organization's key and written once, after its end."""

import asyncio
import hashlib
import json
import os
from typing import Final

import structlog
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.clock import Clock
from offhook.kit.crypto import DataKey, SecretUnreadable
from offhook.kit.database.database import Database
from offhook.kit.database.outage import DATABASE_ERRORS
from offhook.orgs.data_keys.keys import DataKeys
from offhook.runs.errors import JournalDamaged, JournalNotKept
from offhook.runs.journals import queries
from offhook.runs.tables import Run, RunJournal
from offhook.voice.journal.recorded_call import RecordedCall
from offhook.voice.journal.tape import CallTape
from offhook.workflows.service import VersionToRun

_SALT_BYTES: Final = 16
_BATCH: Final = 50
WRITE_TIMEOUT_S: Final = 10.0
# Why a call has no journal, by what is stored.
REASONS: Final = {
    "too_long": "The call was too long for its journal (OFFHOOK_CALL_JOURNAL_KB).",
    "redacted": "The organization redacts what is said, which a journal would have in full.",
    "moved": "The call went on in another process.",
    "realtime": "A realtime model spoke in the call: its session's audio is in no journal, so nothing could play it again.",
    "recording_paused": "The recording of the call was paused.",
    "recording_discarded": "The recording of the call was discarded.",
}
log = structlog.get_logger(__name__)


class CallJournals:
    """``max_kb`` bounds the journal of one call in memory; 0: no call has one."""

    def __init__(self, db: Database, keys: DataKeys, clock: Clock, *, max_kb: int) -> None:
        self._db = db
        self._keys = keys
        self._clock = clock
        self._max_bytes = max_kb * 1024

    # -- writing --------------------------------------------------------------------------------------------------

    def begin(
        self, version: VersionToRun, *, keeps_words: bool, is_redacted: bool, is_resumed: bool
    ) -> RecordedCall | None:
        """Returns the journal of a call that begins in the running loop; None where nothing of it is kept."""
        if not keeps_words or not self._max_bytes:
            return None
        tape = CallTape(asyncio.get_running_loop().time, max_bytes=self._max_bytes)
        if is_redacted or is_resumed:
            tape.omit("redacted" if is_redacted else "moved")
        call = RecordedCall(tape, started=self._clock.now())
        call.facts["agent"] = hash_agent(version)
        return call

    async def keep(self, organization_id: int, run_id: int, call: RecordedCall) -> None:
        """Writes the journal of a call that is over. Without the database it is lost: the call is more important."""
        try:
            async with asyncio.timeout(WRITE_TIMEOUT_S):
                await self._write(organization_id, run_id, call)
        except IntegrityError:
            log.info("journal_of_deleted_run", run_id=run_id)
        except (*DATABASE_ERRORS, SecretUnreadable) as error:
            log.warning("journal_not_kept", run_id=run_id, error=type(error).__name__)

    async def _write(self, organization_id: int, run_id: int, call: RecordedCall) -> None:
        journal = RunJournal(
            run_id=run_id,
            organization_id=organization_id,
            omitted=call.tape.omitted or None,
            key_number=None,
            sealed=None,
        )
        packed = await asyncio.to_thread(call.pack) if journal.omitted is None else None
        async with self._db.transaction() as session:
            if packed is not None:
                key = await self._keys.get_newest(session, organization_id, is_kept=True)
                journal.key_number = key.number
                journal.sealed = _seal(key, organization_id, run_id, packed)
            await queries.add_journal(session, journal)

    async def seal_again(self, organization_id: int) -> int:
        """Encrypts journals with the organization's newest key, and returns how many had an older one."""
        count = 0
        while True:
            async with self._db.transaction() as session:
                sealed = await self._seal_batch(session, organization_id)
            count += sealed
            if sealed < _BATCH:
                return count

    async def delete_older_keys(self, organization_id: int, number: int) -> None:
        """Deletes the keys before this one, after encrypting the journals that were stored meanwhile with the newest."""
        async with self._db.transaction() as session:
            await self._keys.lock_all(session, organization_id)
            while await self._seal_batch(session, organization_id) == _BATCH:
                pass
            await self._keys.delete_older(session, organization_id, number)

    async def _seal_batch(self, session: AsyncSession, organization_id: int) -> int:
        newest = await self._keys.get_newest(session, organization_id)
        older = await queries.list_with_older_keys(session, organization_id, newest.number, limit=_BATCH)
        for journal in older:
            await self._replace_key(session, journal, newest)
        return len(older)

    async def _replace_key(self, session: AsyncSession, journal: RunJournal, newest: DataKey) -> None:
        organization_id, run_id = journal.organization_id, journal.run_id
        try:
            packed = await self._open(session, journal)
        except SecretUnreadable:
            # Nobody can read it, now or later.
            await queries.delete_journal(session, organization_id, run_id)
            return
        sealed = _seal(newest, organization_id, run_id, packed)
        await queries.replace_sealed(session, organization_id, run_id, newest.number, sealed)

    # -- reading --------------------------------------------------------------------------------------------------

    async def read(self, session: AsyncSession, run: Run) -> bytes:
        """Returns the journal of a run as it was packed. Raises JournalNotKept, JournalDamaged (409)."""
        journal = await queries.find_journal(session, run.organization_id, run.id)
        if journal is None:
            raise JournalNotKept
        if journal.omitted is not None:
            raise JournalNotKept(f"This run has no journal. {REASONS.get(journal.omitted, journal.omitted)}")
        try:
            return await self._open(session, journal)
        except SecretUnreadable:
            raise JournalDamaged("The journal cannot be decrypted: it is damaged, or its key was deleted.") from None

    async def _open(self, session: AsyncSession, journal: RunJournal) -> bytes:
        if journal.sealed is None or journal.key_number is None:
            raise SecretUnreadable("there is nothing to decrypt")
        key = await self._keys.find_key(session, journal.organization_id, journal.key_number)
        cipher = key.derive_cipher(_salt(journal.organization_id, journal.run_id, journal.sealed[:_SALT_BYTES]))
        return cipher.decrypt(0, journal.sealed[_SALT_BYTES:])


def _salt(organization_id: int, run_id: int, random: bytes) -> bytes:
    # with the run's number: the journal of another run does not pass for this one's
    return random + f"journal of run {run_id} of organization {organization_id}".encode()


def _seal(key: DataKey, organization_id: int, run_id: int, packed: bytes) -> bytes:
    random = os.urandom(_SALT_BYTES)
    return random + key.derive_cipher(_salt(organization_id, run_id, random)).encrypt(0, packed)


def hash_agent(version: VersionToRun) -> str:
    """Returns a name for what of a version a call depends on: a draft can change under the same number."""
    parts = [version.definition, version.configurations, version.template_context_variables]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:32]
