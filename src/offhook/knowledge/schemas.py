"""Requests and responses of the knowledge base."""

import json
from datetime import datetime
from pathlib import PurePath
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, Field, JsonValue, field_validator, model_validator

from offhook.kit.egress.policy import MAX_URL_LENGTH
from offhook.kit.json_numbers import WholeNumber
from offhook.kit.json_values import sanitize_json, sanitize_text
from offhook.kit.reading.kinds import MIME_TYPES, is_named_otherwise
from offhook.kit.schema import Schema
from offhook.knowledge.tables import DocumentContent, KnowledgeDocument
from offhook.knowledge.web_pages.page_errors import PageErrorCode

DocumentStatus = Literal["processing", "ready", "failed", "archived"]
RetrievalMode = Literal["auto", "chunked", "full_document"]
ReferenceStatus = Literal["pending", "processing", "completed", "failed"]
MAX_QUERY_CHARS: Final = 2_000
_MAX_METADATA_CHARS: Final = 10_000
# Of a web page that was never read.
_UNREAD: Final = DocumentContent(sha256="", kind="html", size_bytes=0, progress=0.0)
_AS_REFERENCE: Final[dict[str, ReferenceStatus]] = {
    "processing": "processing",
    "ready": "completed",
    "failed": "failed",
}


def clean_name(value: str) -> str:
    """Returns a name as it is stored; raises ValueError."""
    name = " ".join(sanitize_text(value).split())
    if not 1 <= len(name) <= 255:
        raise ValueError("a name must have 1 to 255 characters")
    return name


def _require_small(metadata: dict[str, Any]) -> dict[str, Any]:
    cleaned: dict[str, Any] = sanitize_json(metadata)
    if len(cleaned) > 50 or len(json.dumps(cleaned)) > _MAX_METADATA_CHARS:
        raise ValueError("metadata is limited to 50 keys and 10,000 characters")
    return cleaned


def document_status(document: KnowledgeDocument) -> DocumentStatus:
    if document.archived_at is not None:
        return "archived"
    status: DocumentStatus = document.status  # type: ignore[assignment] # the column holds these
    return status


class WebPageState(Schema):
    """``read_at`` is when the content that agents use was read. ``error`` says why the latest read failed; agents
    keep the previous content."""

    address: str
    read_at: datetime | None
    is_being_read: bool
    error: str | None
    error_code: PageErrorCode | None

    @classmethod
    def from_document(cls, document: KnowledgeDocument) -> Self | None:
        if document.address is None:
            return None
        return cls(
            address=document.address,
            read_at=document.read_at,
            is_being_read=document.reading_since is not None,
            error=document.read_error,
            error_code=document.read_error_code,
        )


class DocumentResponse(Schema):
    """``progress`` is 0 to 1 while the document is processed, and 1 afterwards. ``chunk_count`` and ``page_count`` are null
    until it is read. ``error`` says why it failed; ``notice`` says what a ready document lacks, such as an embedding
    model, or that its file name has the ending of another kind of file. ``web_page`` is null for uploaded files; a page
    that has never been read has size 0."""

    id: str
    name: str
    status: DocumentStatus
    metadata: dict[str, JsonValue]
    filename: str
    mime_type: str
    size_bytes: int
    chunk_count: int | None
    page_count: int | None
    token_count: int | None
    retrieval_mode: RetrievalMode
    progress: float
    error: str | None
    notice: str | None
    created_at: datetime
    updated_at: datetime
    ready_at: datetime | None
    archived_at: datetime | None
    web_page: WebPageState | None

    @classmethod
    def from_document(cls, document: KnowledgeDocument, content: DocumentContent | None) -> Self:
        is_waiting = document.status == "processing"
        content = content or _UNREAD
        error = content.error if document.address is None else document.read_error
        return cls(
            id=str(document.id),
            name=document.name,
            status=document_status(document),
            metadata=document.details,
            filename=document.filename,
            mime_type=MIME_TYPES[content.kind],  # type: ignore[index] # the column holds these
            size_bytes=content.size_bytes,
            chunk_count=content.chunk_count,
            page_count=content.pages,
            token_count=content.tokens,
            retrieval_mode=document.retrieval_mode,
            progress=round(min(content.progress, 0.99), 3) if is_waiting else 1.0,
            error=error if document.status == "failed" else None,
            notice=_find_notice(document, content),
            created_at=document.created_at,
            updated_at=document.updated_at,
            ready_at=document.ready_at,
            archived_at=document.archived_at,
            web_page=WebPageState.from_document(document),
        )


def _find_notice(document: KnowledgeDocument, content: DocumentContent) -> str | None:
    if document.status != "ready":
        return None
    if content.error is None and document.address is None and is_named_otherwise(content.kind, document.filename):
        ending = PurePath(document.filename).suffix
        return f"The file name ends in {ending}, but its content is {MIME_TYPES[content.kind]}. Check that this is the right file."  # type: ignore[index] # the column holds these
    return content.error


class WebPageRequest(Schema):
    """``name`` defaults to the address without https:// and parameters."""

    address: Annotated[str, Field(min_length=1, max_length=MAX_URL_LENGTH)]
    name: Annotated[str, Field(max_length=1_000), AfterValidator(clean_name)] | None = None
    retrieval_mode: RetrievalMode = "auto"


class DocumentUpdate(Schema):
    """Omitted fields keep their value; ``metadata`` is replaced completely."""

    name: Annotated[str, Field(max_length=1_000), AfterValidator(clean_name)] | None = None
    metadata: Annotated[dict[str, Any], AfterValidator(_require_small)] | None = None
    retrieval_mode: RetrievalMode | None = None

    @model_validator(mode="after")
    def _not_null(self) -> Self:
        if any(getattr(self, name) is None for name in self.model_fields_set):
            raise ValueError("name, metadata and retrieval_mode cannot be null")
        return self


class SearchRequest(Schema):
    query: Annotated[str, Field(min_length=1, max_length=MAX_QUERY_CHARS)]
    limit: Annotated[WholeNumber, Field(ge=1, le=20)] = 5
    document_ids: Annotated[list[Annotated[str, Field(max_length=64)]], Field(max_length=500)] | None = None

    @field_validator("query")
    @classmethod
    def _not_blank(cls, value: str) -> str:
        text = sanitize_text(value).strip()
        if not text:
            raise ValueError("query must not be blank")
        return text


class SearchHit(Schema):
    """``score`` is 1 for the best result of both rankings. ``page`` counts from 1 if the document has pages."""

    document_id: str
    name: str
    text: str
    score: float
    page: int | None = None
    heading: str | None = None


class ReferenceDocument(Schema):
    """A document as a Dograh-compatible object."""

    id: int
    document_uuid: str
    organization_id: int
    filename: str
    file_size_bytes: int
    file_hash: str
    mime_type: str
    processing_status: ReferenceStatus
    processing_error: str | None
    total_chunks: int
    retrieval_mode: Literal["chunked", "full_document"]
    custom_metadata: dict[str, JsonValue]
    docling_metadata: dict[str, JsonValue]
    source_url: str | None
    created_at: datetime
    updated_at: datetime
    created_by: int = Field(description="The user who created it; 0 if it was created with an API key")
    is_active: bool

    @classmethod
    def from_document(cls, document: KnowledgeDocument, content: DocumentContent | None) -> Self:
        content = content or _UNREAD
        error = content.error if document.address is None else document.read_error
        return cls(
            id=document.number,
            document_uuid=str(document.id),
            organization_id=document.organization_id,
            filename=document.filename,
            file_size_bytes=content.size_bytes,
            file_hash=content.sha256,
            mime_type=MIME_TYPES[content.kind],  # type: ignore[index] # the column holds these
            processing_status=_AS_REFERENCE[document.status],
            processing_error=error if document.status == "failed" else None,
            total_chunks=content.chunk_count or 0,
            retrieval_mode="full_document" if document.retrieval_mode == "full_document" else "chunked",
            custom_metadata=document.details,
            docling_metadata={},
            source_url=document.address,
            created_at=document.created_at,
            updated_at=document.updated_at,
            created_by=document.created_by or 0,
            is_active=document.archived_at is None,
        )


class ReferenceDocumentList(Schema):
    documents: list[ReferenceDocument]
    total: int
    limit: int
    offset: int
