"""The job that deletes a closed organization, in short transactions. It can be killed anywhere and is then run again."""

import asyncio
from typing import Final

import structlog

from offhook.campaigns.intake.contact_files import FOLDER as CONTACT_FILES
from offhook.errors import DomainError
from offhook.jobs.registry import read_number
from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.kit.files.file_store import FileStore
from offhook.kit.json_values import JsonObject
from offhook.knowledge.uploads import STORAGE_FOLDER as DOCUMENTS
from offhook.knowledge.vectors import vector_spaces
from offhook.orgs import Caller
from offhook.privacy import organization_statements as statements
from offhook.privacy import superuser_queries
from offhook.privacy.exporter import FOLDER as EXPORTS
from offhook.privacy.organization_deletion import enqueue_deletion
from offhook.privacy.statements import list_run_ids
from offhook.privacy.tables import OrganizationDeletion
from offhook.recordings.service import UPLOADS_FOLDER as FIXED_SPEECH
from offhook.runs.recording_files.recording_spool import FOLDER as RECORDINGS
from offhook.runs.records.deletion import BATCH, RunEraser
from offhook.scenarios.plays.recordings import FOLDER as PLAY_RECORDINGS
from offhook.telephony.accounts.number_purchasing import ManagedNumbers

SWEEP_JOB: Final = "privacy.sweep_organization_deletions"
SWEEP_INTERVAL_S: Final = 60.0
FOLDERS: Final = (RECORDINGS, CONTACT_FILES, DOCUMENTS, EXPORTS, FIXED_SPEECH, PLAY_RECORDINGS)
# Contacts take their dials with them, passages their vectors.
ROW_BATCH: Final = 1000
MAX_PASSES: Final = 10
# What the return of a number to its carrier needs, and what it may still be charged or refunded with.
NUMBER_TABLES: Final = frozenset(
    {
        "phone_numbers",
        "telephony_configurations",
        "number_purchases",
        "carrier_sub_accounts",
        "sandbox_numbers",
        "billing_accounts",
        "ledger_entries",
    }
)

log = structlog.get_logger(__name__)


class OrganizationEraser:
    """Deletes closed organizations. Files go before their rows: a file without a row would stay forever."""

    def __init__(
        self, db: Database, storage: FileStore, clock: Clock, runs: RunEraser, numbers: ManagedNumbers
    ) -> None:
        self._db = db
        self._storage = storage
        self._clock = clock
        self._runs = runs
        self._numbers = numbers

    async def handle_deletion(self, payload: JsonObject) -> None:
        """Runs the job ``privacy.delete_organization``."""
        await self.delete_organization(read_number(payload, "deletion_id"))

    async def sweep_deletions(self, _: JsonObject) -> None:
        """Runs the job ``privacy.sweep_organization_deletions``: goes on with what waits, and with what a dead worker left."""
        async with self._db.transaction() as session:
            for deletion in await superuser_queries.list_open_deletions(session):
                await enqueue_deletion(session, deletion)

    async def delete_organization(self, deletion_id: int) -> None:
        """Deletes everything of a closed organization; a deletion that is done stays as it is.

        It ends early, for the sweep to go on, while a call that began at the last moment is not over, and while a carrier does
        not take a number back. The second deletes everything else first.
        """
        async with self._db.transaction() as session:
            deletion = await superuser_queries.find_deletion(session, deletion_id)
        if deletion is None or deletion.state == "done":
            return
        async with self._db.without_time_limit() as unlimited:
            if not await self._begin(unlimited, deletion):
                return
            await self._note_step(deletion, "runs")
            await self._erase_runs(deletion.organization_id)
            await self._note_step(deletion, "files")
            for folder in FOLDERS:
                async for batch in self._storage.list_keys(f"{folder}/{deletion.organization_id}"):
                    await asyncio.gather(*(self._storage.delete(key) for key, _ in batch))
            await self._note_step(deletion, "numbers")
            are_released = await self._release_numbers(deletion)
            await self._note_step(deletion, "rows" if are_released else "numbers")
            await self._delete_rows(unlimited, deletion, frozenset() if are_released else NUMBER_TABLES)
            if are_released:
                await self._finish(unlimited, deletion)

    async def _begin(self, unlimited: Database, deletion: OrganizationDeletion) -> bool:
        """Returns whether it can be gone on with. The first time, it counts what there is."""
        organization_id = deletion.organization_id
        async with unlimited.transaction() as session:
            if await statements.has_live_run(session, organization_id):
                row = await statements.lock_deletion(session, deletion)
                row.state, row.step = "waiting", "calls"
                return False
            await statements.delete_jobs(session, organization_id)
            row = await statements.lock_deletion(session, deletion)
            row.state = "running"
            if row.counts is None:
                row.counts = dict(await statements.count_rows(session, organization_id))
        return True

    async def _erase_runs(self, organization_id: int) -> None:
        while True:
            async with self._db.transaction() as session:
                run_ids = await list_run_ids(session, organization_id, after=0, limit=BATCH)
            if not run_ids:
                return
            await self._runs.erase_runs(organization_id, run_ids)

    async def _release_numbers(self, deletion: OrganizationDeletion) -> bool:
        """Returns the platform's numbers to their carrier and closes the organization's sub-accounts there; False while
        one is left."""
        async with self._db.transaction() as session:
            is_settled = not await statements.has_open_purchase(session, deletion.organization_id)
            number_ids = await statements.list_managed_numbers(session, deletion.organization_id)
        caller = Caller.system(deletion.organization_id, role="owner")
        for number_id in number_ids:
            try:
                await self._numbers.release_number(caller, number_id)
            except DomainError as error:
                is_settled = False
                log.warning("number_not_released", deletion_id=deletion.id, number_id=number_id, code=error.code)
        return await self._numbers.sub_accounts.close_all(deletion.organization_id) and is_settled

    async def _delete_rows(
        self, unlimited: Database, deletion: OrganizationDeletion, kept: frozenset[str] = frozenset()
    ) -> None:
        """Deletes all rows but those of the tables in ``kept``, until none is left: what was under way may add some."""
        organization_id = deletion.organization_id
        async with unlimited.transaction() as session:
            spaces = await statements.list_vector_spaces(session, organization_id)
            row = await statements.lock_deletion(session, deletion)
            if row.books is None and not kept:
                row.books = await statements.sum_ledger(session, organization_id)
        for space_id in spaces:
            await vector_spaces.drop_index(self._db, space_id)
        for _ in range(MAX_PASSES):
            async with unlimited.transaction() as session:
                left = await statements.list_left(session, organization_id, kept)
            for name in left:
                await _delete_all(unlimited, organization_id, name)
            if not left:
                return
        raise RuntimeError(f"rows of organization {organization_id} are added again and again: {left}")

    async def _finish(self, unlimited: Database, deletion: OrganizationDeletion) -> None:
        async with unlimited.transaction() as session:
            row = await statements.lock_deletion(session, deletion)
            await statements.delete_organization(session, deletion.organization_id)
            row.state, row.step, row.finished_at = "done", None, self._clock.now()
        log.info("organization_deleted", deletion_id=deletion.id, organization_id=deletion.organization_id)

    async def _note_step(self, deletion: OrganizationDeletion, step: str) -> None:
        async with self._db.transaction() as session:
            (await statements.lock_deletion(session, deletion)).step = step


async def _delete_all(unlimited: Database, organization_id: int, name: str) -> None:
    deleted = ROW_BATCH
    while deleted == ROW_BATCH:
        async with unlimited.transaction() as session:
            deleted = await statements.delete_some_rows(session, organization_id, name, limit=ROW_BATCH)
