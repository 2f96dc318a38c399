"""Search transcripts."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.create_table(
        "run_texts",
        sa.Column("run_id", sa.BigInteger(), nullable=False),
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("words", postgresql.TSVECTOR(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_run_texts_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_run_texts")),
    )
    # Calls that ended before they could be searched; the index is built once, afterwards.
    op.execute(
        "INSERT INTO run_texts (run_id, organization_id, words)"
        " SELECT e.run_id, e.organization_id, array_to_tsvector(ARRAY['organization/' || e.organization_id])"
        " || to_tsvector('simple', left(string_agg(left(e.data ->> 'text', 2000), ' '), 200000))"
        " FROM run_events e JOIN runs ON runs.id = e.run_id"
        " WHERE e.type IN ('caller_said', 'agent_said')"
        " AND runs.status NOT IN ('initiated', 'ringing', 'in_progress') GROUP BY e.run_id, e.organization_id"
    )
    op.create_index("ix_run_texts_words", "run_texts", ["words"], unique=False, postgresql_using="gin")
