"""Live progress: one reader per campaign and process counts for all watchers."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress
from typing import Final

from offhook.campaigns import repository, service
from offhook.campaigns.reports.presenter import CampaignPresenter
from offhook.campaigns.schemas import ProgressRecord
from offhook.kit.database.database import Database
from offhook.kit.json_values import ReadableJsonObject

# A count of 200,000 contacts takes the database some 30 ms: it must stay a small share of its time.
POLL_INTERVAL_S: Final = 1.0
KEEP_ALIVE_S: Final = 15.0
_OVER: Final = frozenset({"completed", "failed"})


class _WatchedCampaign:
    """The last record of one reader; ``changed`` is replaced with every change."""

    def __init__(self) -> None:
        self.record: ProgressRecord | None = None
        self.is_over = False
        self.changed = asyncio.Event()
        self.watchers = 0
        self.task: asyncio.Task[None] | None = None

    def notify_watchers(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()


class ProgressStreams:
    """Streams progress to any number of watchers. One per process."""

    def __init__(self, db: Database, presenter: CampaignPresenter, *, every_s: float = POLL_INTERVAL_S) -> None:
        self._db = db
        self._presenter = presenter
        self._every_s = every_s
        self._watched: dict[tuple[int, int], _WatchedCampaign] = {}

    async def open_event_stream(self, organization_id: int, campaign_id: int) -> AsyncGenerator[str]:
        """Returns the text of a server-sent event stream. Raises CampaignNotFound (404)."""
        async with self._db.transaction() as session:
            await service.get_campaign(session, organization_id, campaign_id)
        return _format_events(self.follow(organization_id, campaign_id))

    async def follow(self, organization_id: int, campaign_id: int) -> AsyncIterator[ProgressRecord | None]:
        """Yields the progress record at once and after every change, and None when idle for a while.

        Ends with the campaign's last call, or when the campaign is deleted.
        """
        watched = self._add_watcher(organization_id, campaign_id)
        shown: ProgressRecord | None = None
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
            watched.watchers -= 1
            if not watched.watchers:
                if self._watched.get((organization_id, campaign_id)) is watched:
                    del self._watched[organization_id, campaign_id]
                await _cancel_reader(watched)

    async def close(self) -> None:
        """Cancels every reader; the streams end with their requests."""
        for watched in list(self._watched.values()):
            await _cancel_reader(watched)

    def _add_watcher(self, organization_id: int, campaign_id: int) -> _WatchedCampaign:
        key = organization_id, campaign_id
        watched = self._watched.get(key)
        if watched is None:
            watched = self._watched[key] = _WatchedCampaign()
            watched.task = asyncio.create_task(
                self._poll_progress(key, watched), name=f"campaign-progress-{campaign_id}"
            )
        watched.watchers += 1
        return watched

    async def _poll_progress(self, key: tuple[int, int], watched: _WatchedCampaign) -> None:
        try:
            while True:
                async with self._db.transaction(key[0]) as session:
                    campaign = await repository.find_campaign(session, *key)
                    record = None if campaign is None else await self._presenter.present_progress(session, campaign)
                if record is not None and record != watched.record:
                    watched.record = record
                    watched.notify_watchers()
                if record is None or (record.status in _OVER and not record.in_progress):
                    return
                await asyncio.sleep(self._every_s)
        finally:
            # In any case: watchers must not wait forever; they ask again.
            watched.is_over = True
            self._watched.pop(key, None)
            watched.notify_watchers()


async def _cancel_reader(watched: _WatchedCampaign) -> None:
    if watched.task is not None:
        watched.task.cancel()
        with suppress(asyncio.CancelledError):
            await watched.task


async def _format_events(records: AsyncIterator[ProgressRecord | None]) -> AsyncGenerator[str]:
    """Yields the stream's text; the event ``ended`` closes it once the campaign is over."""
    yield "retry: 1000\n\n"
    last: ProgressRecord | None = None
    async for record in records:
        if record is None:
            yield ": keep-alive\n\n"
        else:
            last = record
            yield _sse_message("progress", record.model_dump(mode="json"))
    if last is not None and last.status in _OVER:
        yield _sse_message("ended", {"status": last.status})


def _sse_message(kind: str, data: ReadableJsonObject) -> str:
    return f"event: {kind}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
