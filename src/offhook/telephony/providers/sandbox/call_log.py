"""Records the simulated network's calls in the database."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.database.database import Database
from offhook.kit.database.group_commit import GroupCommit
from offhook.telephony.providers.sandbox import repository
from offhook.telephony.providers.sandbox.network import CallRecord


class SandboxCallLog:
    """Implements ``network.CallLog``. Entries written at the same time share one transaction; each is durable before
    its phone rings."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._writing: GroupCommit[CallRecord, None] = GroupCommit(self._write_batch)
        self._ending: GroupCommit[tuple[str, str], None] = GroupCommit(self._end_batch)

    async def record_call(self, record: CallRecord) -> None:
        await self._writing.submit(record)

    async def record_end(self, call_id: str, status: str) -> None:
        await self._ending.submit((call_id, status))

    async def find_by_run(self, organization_id: int, run_id: int) -> CallRecord | None:
        async with _log_transaction(self._db) as session:
            return await repository.find_sandbox_call(session, organization_id, run_id)

    async def _write_batch(self, records: Sequence[CallRecord]) -> list[None]:
        async with _log_transaction(self._db) as session:
            await repository.write_sandbox_calls(session, records)
        return [None] * len(records)

    async def _end_batch(self, calls: Sequence[tuple[str, str]]) -> list[None]:
        async with _log_transaction(self._db) as session:
            await repository.end_sandbox_calls(session, calls)
        return [None] * len(calls)


@asynccontextmanager
async def _log_transaction(db: Database) -> AsyncIterator[AsyncSession]:
    try:
        async with db.transaction() as session:
            yield session
    except (DBAPIError, OSError) as error:
        raise ConnectionError(type(error).__name__) from None
