"""Live progress: one reader a campaign and process counts, however many people watch."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, Final

from offhook.campaigns import repository
from offhook.campaigns.reports.presenter import Views
from offhook.campaigns.schemas import ProgressRecord
from offhook.kit.database.database import Database

# A count of 200,000 contacts takes some 30 ms of the database: it must stay a small part of its time.
EVERY_S: Final = 1.0
KEEP_ALIVE_S: Final = 15.0
_OVER: Final = frozenset({"completed", "failed"})
Record = dict[str, Any]


class _Watched:
    """What one reader has last seen; ``changed`` is replaced with every change."""

    def __init__(self) -> None:
        self.record: Record | None = None
        self.is_over = False
        self.changed = asyncio.Event()
        self.watchers = 0
        self.task: asyncio.Task[None] | None = None

    def tell(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()


class ProgressStreams:
    """One per process."""

    def __init__(self, db: Database, views: Views, *, every_s: float = EVERY_S) -> None:
        self._db = db
        self._views = views
        self._every_s = every_s
        self._watched: dict[tuple[int, int], _Watched] = {}

    async def follow(self, organization_id: int, campaign_id: int) -> AsyncIterator[Record | None]:
        """The progress record at once and after every change, None when there was none for a while; ends with the
        campaign's last call, or when it is gone."""
        watched = self._enter(organization_id, campaign_id)
        shown: Record | None = None
        try:
            while True:
                changed = watched.changed
                if watched.record is not None and watched.record != shown:
                    shown = watched.record
                    yield shown
                if watched.is_over:
                    return
                try:
                    async with asyncio.timeout(KEEP_ALIVE_S):
                        await changed.wait()
                except TimeoutError:
                    yield None
        finally:
            await self._leave(organization_id, campaign_id, watched)

    async def close(self) -> None:
        """End every reader; the streams end with their requests."""
        for watched in list(self._watched.values()):
            await _end(watched)

    def _enter(self, organization_id: int, campaign_id: int) -> _Watched:
        key = organization_id, campaign_id
        watched = self._watched.get(key)
        if watched is None:
            watched = self._watched[key] = _Watched()
            watched.task = asyncio.create_task(self._read(key, watched), name=f"campaign-progress-{campaign_id}")
        watched.watchers += 1
        return watched

    async def _leave(self, organization_id: int, campaign_id: int, watched: _Watched) -> None:
        watched.watchers -= 1
        if not watched.watchers:
            if self._watched.get((organization_id, campaign_id)) is watched:
                del self._watched[organization_id, campaign_id]
            await _end(watched)

    async def _read(self, key: tuple[int, int], watched: _Watched) -> None:
        try:
            while True:
                record = await self._now(*key)
                if record is not None and record != watched.record:
                    watched.record = record
                    watched.tell()
                if record is None or (record["status"] in _OVER and not record["in_progress"]):
                    return
                await asyncio.sleep(self._every_s)
        finally:
            # however it ends: who watches must not wait for ever, and asks again
            watched.is_over = True
            self._watched.pop(key, None)
            watched.tell()

    async def _now(self, organization_id: int, campaign_id: int) -> Record | None:
        async with self._db.transaction() as session:
            campaign = await repository.by_id(session, organization_id, campaign_id)
            if campaign is None:
                return None
            found = await self._views.progress(session, campaign)
        return ProgressRecord.model_validate(found).model_dump(mode="json")


async def _end(watched: _Watched) -> None:
    if watched.task is not None:
        watched.task.cancel()
        with suppress(asyncio.CancelledError):
            await watched.task


async def as_sse(records: AsyncIterator[Record | None]) -> AsyncIterator[str]:
    """The stream's text; event ``ended`` closes it once the campaign is over."""
    yield "retry: 1000\n\n"
    last: Record | None = None
    async for record in records:
        if record is None:
            yield ": keep-alive\n\n"
        else:
            last = record
            yield _message("progress", record)
    if last is not None and last["status"] in _OVER:
        yield _message("ended", {"status": last["status"]})


def _message(kind: str, data: Record) -> str:
    return f"event: {kind}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
