"""An organization's documents, their text, and the data of their search."""

import uuid
from datetime import datetime
from typing import Any

from pgvector.sqlalchemy import HALFVEC
from sqlalchemy import BigInteger, ForeignKey, Identity, Index, String, UniqueConstraint, func, text
from sqlalchemy.dialects.postgresql import TSVECTOR
from sqlalchemy.orm import Mapped, mapped_column

from offhook.kit.database.database import Base
from offhook.kit.json_values import JsonObject


class DocumentContent(Base):
    """The bytes of documents, stored, read and embedded once per organization however often they are uploaded.

    ``state``: processing, ready or failed; a new upload of failed content is processed again. ``touched_at`` moves
    while a worker processes it. ``chunk_count`` is null until it is read. ``error``: why it failed, or, when it is
    ready, why it has no vectors and is found by words alone.
    """

    __tablename__ = "knowledge_contents"
    __table_args__ = (
        Index(
            "uq_knowledge_contents_sha256",
            "organization_id",
            "sha256",
            unique=True,
            postgresql_where=text("state <> 'failed'"),
        ),
        Index("ix_knowledge_contents_processing", "touched_at", postgresql_where=text("state = 'processing'")),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    sha256: Mapped[str] = mapped_column(String(64))
    kind: Mapped[str] = mapped_column(String(16))
    size_bytes: Mapped[int]
    storage_key: Mapped[str] = mapped_column(String(200))
    state: Mapped[str] = mapped_column(String(16), server_default="processing")
    progress: Mapped[float] = mapped_column(server_default="0")
    error: Mapped[str | None]
    attempts: Mapped[int] = mapped_column(server_default="0")
    pages: Mapped[int | None]
    characters: Mapped[int | None]
    tokens: Mapped[int | None]
    chunk_count: Mapped[int | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    touched_at: Mapped[datetime] = mapped_column(server_default=func.now())


class KnowledgeDocument(Base):
    """A document. ``number`` is the integer id of Dograh's list; ``status`` keeps the state from before archiving.

    ``retrieval_mode``: chunked, full_document, or auto (whole when it is short). A web page has an ``address``, and no
    content until it was read once. It is read from ``reading_since`` on; ``next_content_id`` replaces its content once
    that is ready. ``read_error`` says why the last reading failed.
    """

    __tablename__ = "knowledge_documents"
    __table_args__ = (
        Index(
            "ix_knowledge_documents_next_content_id",
            "next_content_id",
            postgresql_where=text("reading_since IS NOT NULL"),
        ),
        Index(
            "ix_knowledge_documents_reading_since", "reading_since", postgresql_where=text("reading_since IS NOT NULL")
        ),
        Index("ix_knowledge_documents_org", "organization_id", "number"),
        Index("ix_knowledge_documents_content", "content_id"),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=uuid.uuid4)
    number: Mapped[int] = mapped_column(Identity(), unique=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    content_id: Mapped[int | None] = mapped_column(ForeignKey("knowledge_contents.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(255))
    filename: Mapped[str] = mapped_column(String(255))
    details: Mapped[JsonObject] = mapped_column("metadata", server_default=text("'{}'::jsonb"))
    status: Mapped[str] = mapped_column(String(16), server_default="processing")
    retrieval_mode: Mapped[str] = mapped_column(String(16), server_default="auto")
    created_by: Mapped[int | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now())
    ready_at: Mapped[datetime | None]
    archived_at: Mapped[datetime | None]
    address: Mapped[str | None] = mapped_column(String(4096))
    next_content_id: Mapped[int | None]
    reading_since: Mapped[datetime | None]
    read_at: Mapped[datetime | None]
    read_error_code: Mapped[str | None] = mapped_column(String(64))
    read_error: Mapped[str | None]


class KnowledgeChunk(Base):
    """A piece of a content. ``words`` are its stems with positions, each prefixed by the organization's id.

    The prefix gives each organization its own postings: other organizations' pieces do not slow its searches.
    """

    __tablename__ = "knowledge_chunks"
    __table_args__ = (
        UniqueConstraint("content_id", "position"),
        # no pending list: every search of every organization would scan the latest inserts
        Index("ix_knowledge_chunks_words", "words", postgresql_using="gin", postgresql_with={"fastupdate": "off"}),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    organization_id: Mapped[int]  # the content's, with which it is deleted
    content_id: Mapped[int] = mapped_column(ForeignKey("knowledge_contents.id", ondelete="CASCADE"))
    position: Mapped[int]
    page: Mapped[int | None]
    heading: Mapped[str]
    text: Mapped[str]
    tokens: Mapped[int]
    words: Mapped[Any] = mapped_column(TSVECTOR)


class KnowledgeTerm(Base):
    """The number of an organization's pieces that contain a stem: rare words say more."""

    __tablename__ = "knowledge_terms"

    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"), primary_key=True)
    term: Mapped[str] = mapped_column(String(250), primary_key=True)
    chunks: Mapped[int]


class VectorSpace(Base):
    """The vectors of one embedding model in one organization. ``state``: active (searched), building or retired.

    ``has_index``: it is large enough for its own HNSW index; smaller ones are scanned.
    """

    __tablename__ = "knowledge_spaces"
    __table_args__ = (
        UniqueConstraint("organization_id", "provider", "model", "base_url"),
        Index("uq_knowledge_spaces_active", "organization_id", unique=True, postgresql_where=text("state = 'active'")),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    provider: Mapped[str] = mapped_column(String(64))
    model: Mapped[str] = mapped_column(String(200))
    base_url: Mapped[str] = mapped_column(String(500), server_default="")
    dimensions: Mapped[int | None]
    state: Mapped[str] = mapped_column(String(16))
    has_index: Mapped[bool] = mapped_column(server_default=text("false"))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class KnowledgeVector(Base):
    """A vector of length one, so that the inner product is the cosine."""

    __tablename__ = "knowledge_vectors"
    __table_args__ = (Index("ix_knowledge_vectors_content", "space_id", "content_id"),)

    chunk_id: Mapped[int] = mapped_column(
        BigInteger, ForeignKey("knowledge_chunks.id", ondelete="CASCADE"), primary_key=True
    )
    space_id: Mapped[int] = mapped_column(ForeignKey("knowledge_spaces.id", ondelete="CASCADE"), primary_key=True)
    content_id: Mapped[int]  # the chunk's
    embedding: Mapped[Any] = mapped_column(HALFVEC())
