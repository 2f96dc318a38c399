"""How a document that is a web page changes: reading begins, succeeds or fails. Pure."""

from datetime import datetime

from offhook.kit.reading.blocks import NO_TEXT
from offhook.knowledge.tables import DocumentContent, KnowledgeDocument
from offhook.knowledge.web_pages.page_errors import PageErrorCode

EMPTY_MESSAGE = (
    "The page contains no text. Pages that build their text with JavaScript cannot be read from an address. "
    "Save the page as PDF or text, then upload the file."
)


def begin_reading(document: KnowledgeDocument, *, now: datetime) -> None:
    """Marks a page as being read; agents keep its content until then."""
    if document.content_id is None:
        document.status = "processing"
    document.reading_since = document.updated_at = now
    document.next_content_id = document.read_error_code = document.read_error = None


def settle_reading(document: KnowledgeDocument, content: DocumentContent, *, now: datetime) -> int | None:
    """Gives a page the content that was read, or stores why reading failed; returns the id of the content that the page
    no longer uses."""
    if content.state == "failed":
        is_empty = content.error == NO_TEXT
        sentence = EMPTY_MESSAGE if is_empty else content.error or ""
        fail_reading(document, "page_empty" if is_empty else "page_not_processed", sentence, now=now)
        return content.id
    before, document.content_id = document.content_id, content.id
    document.status, document.read_at, document.updated_at = "ready", now, now
    document.reading_since = document.next_content_id = document.read_error_code = document.read_error = None
    return before if before != content.id else None


def fail_reading(document: KnowledgeDocument, code: PageErrorCode, sentence: str, *, now: datetime) -> None:
    """Stores why reading failed; agents keep the previous content."""
    if document.status == "processing":
        document.status = "failed"
    document.reading_since = document.next_content_id = None
    document.read_error_code, document.read_error, document.updated_at = code, sentence, now
