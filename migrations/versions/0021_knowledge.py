"""Knowledge: documents, what was read from them, their vectors and words."""

import sqlalchemy as sa
from alembic import op
from pgvector.sqlalchemy import HALFVEC
from sqlalchemy.dialects import postgresql

revision = "0021"
down_revision = "0020"


# The stems of a text with their positions, each behind the organization's number. Words that would need quoting inside a
# tsvector, and words as long as a line, are left out.
WORDS = r"""
CREATE FUNCTION knowledge_words(organization_id integer, body text) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN (
  SELECT coalesce(
    string_agg('''' || organization_id || ':' || lexeme || ''':' || array_to_string(positions, ','), ' '), '')::tsvector
  FROM unnest(to_tsvector('pg_catalog.english', body))
  WHERE lexeme !~ '[''\\\s]' AND length(lexeme) <= 200)
"""


def upgrade() -> None:
    op.execute("CREATE EXTENSION IF NOT EXISTS vector")
    op.execute(WORDS)
    op.create_table(
        "knowledge_contents",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("size_bytes", sa.Integer(), nullable=False),
        sa.Column("storage_key", sa.String(length=200), nullable=False),
        sa.Column("state", sa.String(length=16), server_default="processing", nullable=False),
        sa.Column("progress", sa.Double(), server_default="0", nullable=False),
        sa.Column("error", sa.String(), nullable=True),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("pages", sa.Integer(), nullable=True),
        sa.Column("characters", sa.Integer(), nullable=True),
        sa.Column("tokens", sa.Integer(), nullable=True),
        sa.Column("chunk_count", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("touched_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=op.f("fk_knowledge_contents_organization_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_knowledge_contents")),
    )
    op.create_index(
        "ix_knowledge_contents_processing",
        "knowledge_contents",
        ["touched_at"],
        unique=False,
        postgresql_where=sa.text("state = 'processing'"),
    )
    op.create_index(
        "uq_knowledge_contents_sha256",
        "knowledge_contents",
        ["organization_id", "sha256"],
        unique=True,
        postgresql_where=sa.text("state <> 'failed'"),
    )
    op.create_table(
        "knowledge_spaces",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("provider", sa.String(length=64), nullable=False),
        sa.Column("model", sa.String(length=200), nullable=False),
        sa.Column("base_url", sa.String(length=500), server_default="", nullable=False),
        sa.Column("dimensions", sa.Integer(), nullable=True),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("has_index", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=op.f("fk_knowledge_spaces_organization_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_knowledge_spaces")),
        sa.UniqueConstraint(
            "organization_id",
            "provider",
            "model",
            "base_url",
            name=op.f("uq_knowledge_spaces_organization_id_provider_model_base_url"),
        ),
    )
    op.create_index(
        "uq_knowledge_spaces_active",
        "knowledge_spaces",
        ["organization_id"],
        unique=True,
        postgresql_where=sa.text("state = 'active'"),
    )
    op.create_table(
        "knowledge_terms",
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("term", sa.String(length=250), nullable=False),
        sa.Column("chunks", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=op.f("fk_knowledge_terms_organization_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organization_id", "term", name=op.f("pk_knowledge_terms")),
    )
    op.create_table(
        "knowledge_chunks",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("content_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("page", sa.Integer(), nullable=True),
        sa.Column("heading", sa.String(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("words", postgresql.TSVECTOR(), nullable=False),
        sa.ForeignKeyConstraint(
            ["content_id"], ["knowledge_contents.id"], name=op.f("fk_knowledge_chunks_content_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_knowledge_chunks")),
        sa.UniqueConstraint("content_id", "position", name=op.f("uq_knowledge_chunks_content_id_position")),
    )
    op.create_index("ix_knowledge_chunks_words", "knowledge_chunks", ["words"], unique=False, postgresql_using="gin")
    op.create_table(
        "knowledge_documents",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), sa.Identity(always=False), nullable=False),
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("content_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("filename", sa.String(length=255), nullable=False),
        sa.Column(
            "metadata", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'::jsonb"), nullable=False
        ),
        sa.Column("status", sa.String(length=16), server_default="processing", nullable=False),
        sa.Column("retrieval_mode", sa.String(length=16), server_default="auto", nullable=False),
        sa.Column("created_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("ready_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("archived_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["content_id"],
            ["knowledge_contents.id"],
            name=op.f("fk_knowledge_documents_content_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=op.f("fk_knowledge_documents_organization_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_knowledge_documents")),
        sa.UniqueConstraint("number", name=op.f("uq_knowledge_documents_number")),
    )
    op.create_index("ix_knowledge_documents_content", "knowledge_documents", ["content_id"], unique=False)
    op.create_index(
        "ix_knowledge_documents_organization", "knowledge_documents", ["organization_id", "number"], unique=False
    )
    op.create_table(
        "knowledge_vectors",
        sa.Column("chunk_id", sa.BigInteger(), nullable=False),
        sa.Column("space_id", sa.Integer(), nullable=False),
        sa.Column("content_id", sa.Integer(), nullable=False),
        sa.Column("embedding", HALFVEC(), nullable=False),
        sa.ForeignKeyConstraint(
            ["chunk_id"], ["knowledge_chunks.id"], name=op.f("fk_knowledge_vectors_chunk_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["space_id"], ["knowledge_spaces.id"], name=op.f("fk_knowledge_vectors_space_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("chunk_id", "space_id", name=op.f("pk_knowledge_vectors")),
    )
    op.create_index("ix_knowledge_vectors_content", "knowledge_vectors", ["space_id", "content_id"], unique=False)
