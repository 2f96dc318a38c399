"""Requests about a person's data: made by an admin, carried out by a job, ended with a receipt."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import Final, Literal

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.jobs.queue import enqueue
from offhook.jobs.registry import read_number
from offhook.kit.clock import Clock
from offhook.kit.crypto import Keyring
from offhook.kit.database.database import Database
from offhook.kit.files.file_store import FileStore
from offhook.kit.json_values import JsonObject
from offhook.orgs import Caller, write_audit_entry
from offhook.privacy import repository, statements, superuser_queries
from offhook.privacy.eraser import ErasureProgress, NumberEraser
from offhook.privacy.errors import ArchiveNotReady, DataRequestNotFound, NumberInCall, NumberIsOwn
from offhook.privacy.exporter import FOLDER as ARCHIVES
from offhook.privacy.exporter import NumberExporter
from offhook.privacy.number_forms import NumberForms
from offhook.privacy.tables import PersonDataRequest
from offhook.runs.recording_files.vault import RecordingVault
from offhook.runs.records.deletion import RunEraser
from offhook.scenarios.answers.store import AnswerStore

RequestKind = Literal["erasure", "export"]
ERASURE: Final = "erasure"
EXPORT: Final = "export"
JOB: Final = "privacy.answer_request"
SWEEP_JOB: Final = "privacy.sweep_requests"
SWEEP_INTERVAL_S: Final = 300.0
ARCHIVES_JOB: Final = "privacy.sweep_archives"
ARCHIVES_INTERVAL_S: Final = 86_400.0
# An archive is named one transaction after it is stored.
ARCHIVE_GRACE: Final = timedelta(days=1)
ARCHIVE_TTL_DAYS: Final = 7
# In the ``step`` column, this separates the step's name from the file that is being rewritten.
FILE_MARK: Final = ":"
FILE_MARK_LETTERS: Final = 32
# A new call of the number began after the request.
CALL_RETRY_S: Final = 60.0
log = structlog.get_logger(__name__)


class PersonData:
    """Erases and exports what an organization has about a phone number. One per process."""

    def __init__(
        self, db: Database, storage: FileStore, vault: RecordingVault, keyring: Keyring, clock: Clock, runs: RunEraser
    ) -> None:
        self._db = db
        self._storage = storage
        self._vault = vault
        self._keyring = keyring
        self._clock = clock
        self._runs = runs

    async def create_request(
        self, session: AsyncSession, caller: Caller, kind: RequestKind, number: str
    ) -> PersonDataRequest:
        """Returns the new request, or the same one that is not done yet; ``number`` is in E.164.

        Raises NumberIsOwn, NumberInCall (409), both for erasures only.
        """
        organization_id, forms = caller.organization_id, NumberForms(number)
        number_hash = self.hash_number(organization_id, number)
        found = await repository.find_open_request(session, organization_id, kind, number_hash)
        if found is not None:
            return found
        if kind == ERASURE:
            if await statements.has_own_number(session, organization_id, forms.exact_forms):
                raise NumberIsOwn
            if await statements.has_live_call(session, organization_id, forms.exact_forms):
                raise NumberInCall
        request = PersonDataRequest(
            organization_id=organization_id,
            kind=kind,
            state="waiting",
            phone_number=number,
            number_hash=number_hash,
            counts={},
            created_by=caller.user_id,
            created_by_key=caller.key_id,
        )
        session.add(request)
        await session.flush()
        await session.refresh(request)
        await _enqueue(session, request)
        await write_audit_entry(session, caller, f"person_data.{kind}_requested", _target(request))
        return request

    async def get_request(self, session: AsyncSession, organization_id: int, request_id: int) -> PersonDataRequest:
        """Raises DataRequestNotFound (404)."""
        request = await repository.find_request(session, organization_id, request_id)
        if request is None:
            raise DataRequestNotFound
        return request

    async def list_requests(
        self, session: AsyncSession, organization_id: int, number: str | None, *, limit: int, offset: int
    ) -> tuple[Sequence[PersonDataRequest], int]:
        """Returns a page of requests, newest first, and the total; ``number`` (E.164) finds those about it."""
        number_hash = None if number is None else self.hash_number(organization_id, number)
        return await repository.list_requests(session, organization_id, number_hash, limit=limit, offset=offset)

    async def find_archive(self, organization_id: int, request_id: int) -> str:
        """Returns the key of an export's archive. Raises DataRequestNotFound (404), ArchiveNotReady (409)."""
        async with self._db.transaction() as session:
            request = await self.get_request(session, organization_id, request_id)
        expires_at = request.archive_expires_at
        if request.archive_key is None or expires_at is None or expires_at < self._clock.now():
            raise ArchiveNotReady
        return request.archive_key

    def hash_number(self, organization_id: int, number: str) -> str:
        """Returns what a receipt has instead of the number. Without the installation's key, nobody can try numbers."""
        return self._keyring.derive_token(f"person:{organization_id}:{number}")

    async def handle_request(self, payload: JsonObject) -> None:
        """Runs the job ``privacy.answer_request``."""
        await self.answer_request(read_number(payload, "organization_id"), read_number(payload, "request_id"))

    async def answer_request(self, organization_id: int, request_id: int) -> None:
        """Carries out a request; one that is done stays as it is. It is tried again later while the number is on a
        call."""
        async with self._db.transaction() as session:
            request = await repository.find_request(session, organization_id, request_id, is_locked=True)
            if request is None or request.state == "done" or request.phone_number is None:
                return
            request.state = "running"
        try:
            if request.kind == EXPORT:
                await self._export(request, NumberForms(request.phone_number))
            else:
                await self._erase(request, NumberForms(request.phone_number))
        except NumberInCall:
            async with self._db.transaction() as session:
                request = await self.get_request(session, organization_id, request_id)
                request.state = "waiting"
                await _enqueue(session, request, delay_s=CALL_RETRY_S)

    async def sweep_requests(self, _: JsonObject) -> None:
        """Runs the job ``privacy.sweep_requests``: starts again what a dead worker left, and deletes expired archives."""
        now = self._clock.now()
        async with self._db.transaction() as session:
            for request in await superuser_queries.list_open_requests(session):
                await _enqueue(session, request)
            expired = await superuser_queries.list_expired_archives(session, now)
        for request in expired:
            await self._delete_archive(request)

    async def sweep_archives(self, _: JsonObject) -> None:
        """Runs the job ``privacy.sweep_archives``: deletes archives that no request names, which a worker leaves behind if it
        is killed at the wrong moment."""
        before = self._clock.now() - ARCHIVE_GRACE
        async for batch in self._storage.list_keys(ARCHIVES):
            old = [key for key, stored_at in batch if stored_at < before]
            async with self._db.transaction() as session:
                named = await superuser_queries.list_named_archives(session, old)
            left = [key for key in old if key not in named]
            for key in left:
                await self._storage.delete(key)
            if left:
                log.warning("unnamed_archives_deleted", files=len(left))

    async def _erase(self, request: PersonDataRequest, forms: NumberForms) -> None:
        caller = Caller.system(request.organization_id)
        counts: Counter[str] = Counter(request.counts)

        _, _, begun = (request.step or "").partition(FILE_MARK)

        async def save_counts(session: AsyncSession) -> None:
            (await self.get_request(session, request.organization_id, request.id)).counts = _nonzero(counts)

        async def begin_file(session: AsyncSession, key: str) -> bool:
            nonlocal begun
            before, begun = begun, hashlib.sha256(key.encode()).hexdigest()[:FILE_MARK_LETTERS]
            row = await self.get_request(session, request.organization_id, request.id)
            row.step = _mark_step(row.step or "", begun)
            return begun != before

        async with self._db.without_time_limit() as unlimited:
            answers = AnswerStore(unlimited, self._vault.keys)
            eraser = NumberEraser(
                unlimited,
                self._storage,
                self._runs,
                answers,
                caller=caller,
                forms=forms,
                progress=ErasureProgress(counts, save_counts, begin_file),
            )
            steps = {
                "runs": eraser.erase_runs,
                "rows": eraser.erase_rows,
                "contact_files": eraser.erase_contact_file_rows,
                "documents": eraser.erase_in_documents,
                "mentions": eraser.erase_mentions,
            }
            for name, step in steps.items():
                await self._note_step(request, _mark_step(name, begun), counts)
                await step()
        async with self._db.transaction() as session:
            archives = await repository.list_archives(session, request.organization_id, request.number_hash)
        for archive in archives:
            await self._delete_archive(archive)
        counts["archives"] += len(archives)
        await self._finish(request, counts)

    async def _export(self, request: PersonDataRequest, forms: NumberForms) -> None:
        await self._note_step(request, "archive", Counter())
        async with self._db.without_time_limit() as unlimited:
            exporter = NumberExporter(unlimited, self._storage, self._vault, request.organization_id, forms)
            key = await exporter.write_archive(request.id, self._clock.now())
        await self._finish(request, exporter.counts, archive_key=key)

    async def _note_step(self, request: PersonDataRequest, step: str, counts: Counter[str]) -> None:
        async with self._db.transaction() as session:
            row = await self.get_request(session, request.organization_id, request.id)
            row.step, row.counts = step, _nonzero(counts)

    async def _finish(
        self, request: PersonDataRequest, counts: Counter[str], *, archive_key: str | None = None
    ) -> None:
        now = self._clock.now()
        async with self._db.transaction() as session:
            row = await self.get_request(session, request.organization_id, request.id)
            row.state, row.step, row.counts, row.phone_number = "done", None, _nonzero(counts), None
            row.finished_at, row.archive_key = now, archive_key
            if archive_key is not None:
                row.archive_expires_at = now + timedelta(days=ARCHIVE_TTL_DAYS)
            action = "person_data.erased" if row.kind == ERASURE else "person_data.exported"
            data = {"counts": row.counts, "user_id": row.created_by, "key_id": row.created_by_key}
            await write_audit_entry(session, Caller.system(row.organization_id), action, _target(row), data)

    async def _delete_archive(self, request: PersonDataRequest) -> None:
        if request.archive_key is not None:
            await self._storage.delete(request.archive_key)
        async with self._db.transaction() as session:
            row = await self.get_request(session, request.organization_id, request.id)
            row.archive_key = row.archive_expires_at = None


async def _enqueue(session: AsyncSession, request: PersonDataRequest, *, delay_s: float = 0) -> None:
    payload = {"organization_id": request.organization_id, "request_id": request.id}
    key = f"{JOB}:{request.id}:{'later' if delay_s else 'now'}"
    await enqueue(session, JOB, payload, delay_s=delay_s, dedupe_key=key)


def _mark_step(step: str, begun: str) -> str:
    """Returns the step with the file that was started last, which the next worker must not count again."""
    name, _, _ = step.partition(FILE_MARK)
    return f"{name}{FILE_MARK}{begun}" if begun else name


def _target(request: PersonDataRequest) -> str:
    return f"person_data_request:{request.id}"


def _nonzero(counts: Counter[str]) -> JsonObject:
    return {name: count for name, count in sorted(counts.items()) if count}
