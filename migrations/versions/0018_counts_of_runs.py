"""counts of runs."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"

# Rows of changes instead of a number that is changed: runs that begin at once would wait for it, each for the other's end.
NOTE = """
CREATE FUNCTION note_run_counts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO run_count_changes (organization_id, workflow_id, change)
  SELECT organization_id, workflow_id, CASE TG_OP WHEN 'INSERT' THEN count(*) ELSE -count(*) END
  FROM changed_runs GROUP BY 1, 2;
  RETURN NULL;
END $$
"""
TRIGGERS = (
    """CREATE TRIGGER count_new_runs AFTER INSERT ON runs REFERENCING NEW TABLE AS changed_runs
    FOR EACH STATEMENT EXECUTE FUNCTION note_run_counts()""",
    """CREATE TRIGGER count_deleted_runs AFTER DELETE ON runs REFERENCING OLD TABLE AS changed_runs
    FOR EACH STATEMENT EXECUTE FUNCTION note_run_counts()""",
)
FILL = """
INSERT INTO run_counts (organization_id, workflow_id, runs)
SELECT organization_id, workflow_id, count(*) FROM runs GROUP BY 1, 2
"""


def upgrade() -> None:
    op.create_table(
        "run_count_changes",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("workflow_id", sa.Integer(), nullable=False),
        sa.Column("change", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_run_count_changes")),
    )
    op.create_index("ix_run_count_changes_org", "run_count_changes", ["organization_id", "workflow_id"], unique=False)
    op.create_table(
        "run_counts",
        sa.Column("workflow_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("runs", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("workflow_id", name=op.f("pk_run_counts")),
    )
    op.create_index("ix_run_counts_org", "run_counts", ["organization_id"], unique=False)
    op.execute(NOTE)
    # From here on nobody else writes runs until this is committed, so that none is counted twice or forgotten.
    for trigger in TRIGGERS:
        op.execute(trigger)
    op.execute(FILL)
