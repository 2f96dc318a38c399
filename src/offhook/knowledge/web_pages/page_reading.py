"""Jobs that fetch web pages and delete content that their pages no longer use."""

from collections.abc import Mapping
from datetime import timedelta
from io import BytesIO
from typing import Any, Final

import structlog

from offhook.jobs.queue import enqueue
from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.kit.files.disk_space import DiskAlmostFull
from offhook.kit.files.file_store import StorageUnavailable
from offhook.knowledge import service
from offhook.knowledge.errors import DocumentDamaged, DocumentEmpty, DocumentKindUnknown
from offhook.knowledge.jobs import PROCESS
from offhook.knowledge.uploads import DocumentIntake, StoredFile
from offhook.knowledge.web_pages import page_queries
from offhook.knowledge.web_pages.fetching import PageFetcher
from offhook.knowledge.web_pages.page_errors import PageUnreadable
from offhook.knowledge.web_pages.page_state import EMPTY_MESSAGE, fail_reading
from offhook.orgs import StorageQuotaExceeded

# A worker that dies is followed by another one; what stops each of them, or waits for as long, is given up.
GIVE_UP_AFTER: Final = timedelta(hours=1)
INTERRUPTED_MESSAGE: Final = (
    "The page was not read within an hour because the server was busy or stopped while reading. Read it again."
)
# Longer than a request takes from storing a file to its document.
UPLOAD_TIME: Final = timedelta(minutes=1)
NOT_TEXT_MESSAGE: Final = "The page's content is not text. Web pages, PDF, Markdown, and plain text can be read."
log = structlog.get_logger(__name__)


class PageReading:
    """Runs the jobs ``document.fetch`` and ``document.forget``."""

    def __init__(self, *, db: Database, fetcher: PageFetcher, intake: DocumentIntake, clock: Clock) -> None:
        self._db = db
        self._fetcher = fetcher
        self._intake = intake
        self._clock = clock

    async def read_page(self, payload: Mapping[str, Any]) -> None:
        """Fetches and stores a page; its content is then processed like that of an upload."""
        organization_id, document_id = payload["organization_id"], payload["document_id"]
        async with self._db.transaction() as session:
            document = await page_queries.find_page_being_read(session, organization_id, document_id)
        if document is None or document.address is None or document.reading_since is None:
            return
        try:
            if self._clock.now() - document.reading_since > GIVE_UP_AFTER:
                raise PageUnreadable("page_interrupted", INTERRUPTED_MESSAGE)
            stored = await self._fetch_and_store(organization_id, document.address)
        except PageUnreadable as error:
            await self._mark_failed(organization_id, document_id, error)
            return
        async with self._db.transaction() as session:
            document = await page_queries.find_page_being_read(session, organization_id, document_id, for_update=True)
            if document is None:
                return
            content, is_new = await service.get_or_add_content(session, organization_id, stored)
            document.next_content_id = content.id
            # While a content is processed, its own job completes every document that waits for it.
            if is_new or content.state != "processing":
                await enqueue(session, PROCESS, {"organization_id": organization_id, "content_id": content.id})

    async def forget_content(self, payload: Mapping[str, int]) -> None:
        async with self._db.transaction() as session:
            key = await page_queries.delete_unused_content(session, payload["organization_id"], payload["content_id"])
        if key is None:
            return
        # It counts for the organization's storage. What stays here is removed by the daily sweep.
        try:
            await self._intake.forget_file(key, self._clock.now() - UPLOAD_TIME)
        except StorageUnavailable as error:
            log.warning("document_file_left", key=key, error=error.message)

    async def _fetch_and_store(self, organization_id: int, address: str) -> StoredFile:
        page = await self._fetcher.fetch(address)
        try:
            return await self._intake.store_upload(organization_id, BytesIO(page.content), page.filename)
        except DocumentEmpty:
            raise PageUnreadable("page_empty", EMPTY_MESSAGE) from None
        except (DocumentKindUnknown, DocumentDamaged):
            raise PageUnreadable("page_not_text", NOT_TEXT_MESSAGE) from None
        except (StorageQuotaExceeded, DiskAlmostFull) as error:
            raise PageUnreadable("storage_full", error.message) from None

    async def _mark_failed(self, organization_id: int, document_id: str, error: PageUnreadable) -> None:
        async with self._db.transaction() as session:
            document = await page_queries.find_page_being_read(session, organization_id, document_id, for_update=True)
            if document is None:
                return
            was_waiting = document.status == "processing"
            fail_reading(document, error.code, str(error), now=self._clock.now())
            if was_waiting and document.archived_at is None:
                await service.publish_outcome(session, document, None)
        log.info("page_not_read", document_id=document_id, code=error.code)
