"""values of runs by name; leases without index entries."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"

LISTED = ["status", "outcome", "direction", "mode", "duration", "campaign_id", "phone_number", "call_id"]

# What a run's two contexts say by name. An index entry has room for 2,700 bytes and nobody filters by more names.
VALUES_OF = r"""
CREATE FUNCTION run_values_of(initial_context jsonb, gathered_context jsonb)
RETURNS TABLE (name text, value text, number numeric) LANGUAGE sql IMMUTABLE AS $$
  SELECT found.name, left(found.value, 300),
    CASE WHEN length(found.value) <= 62 AND found.value ~ '^-?\d{1,30}(\.\d{1,30})?$' THEN found.value::numeric END
  FROM (
    (SELECT 'context.' || key AS name, value #>> '{}' AS value FROM jsonb_each(initial_context)
     WHERE jsonb_typeof(value) IN ('string', 'number', 'boolean') AND length(key) <= 100 LIMIT 100)
    UNION ALL
    (SELECT 'gathered.' || key, value #>> '{}' FROM jsonb_each(gathered_context)
     WHERE jsonb_typeof(value) IN ('string', 'number', 'boolean') AND length(key) <= 100 LIMIT 100)
  ) AS found
$$
"""
KEEP = """
CREATE FUNCTION keep_run_values() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    DELETE FROM run_values AS kept WHERE kept.run_id = NEW.id AND NOT EXISTS (
      SELECT FROM run_values_of(NEW.initial_context, NEW.gathered_context) AS said
      WHERE said.name = kept.name AND said.value = kept.value);
  END IF;
  INSERT INTO run_values (run_id, name, organization_id, workflow_id, created_at, value, number)
  SELECT NEW.id, said.name, NEW.organization_id, NEW.workflow_id, NEW.created_at, said.value, said.number
  FROM run_values_of(NEW.initial_context, NEW.gathered_context) AS said
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$
"""
TRIGGERS = (
    """CREATE TRIGGER keep_values_of_new AFTER INSERT ON runs FOR EACH ROW
    WHEN (NEW.initial_context <> '{}' OR NEW.gathered_context <> '{}') EXECUTE FUNCTION keep_run_values()""",
    """CREATE TRIGGER keep_values AFTER UPDATE OF initial_context, gathered_context ON runs FOR EACH ROW
    WHEN (OLD.initial_context IS DISTINCT FROM NEW.initial_context
      OR OLD.gathered_context IS DISTINCT FROM NEW.gathered_context) EXECUTE FUNCTION keep_run_values()""",
)
FILL = """
INSERT INTO run_values (run_id, name, organization_id, workflow_id, created_at, value, number)
SELECT r.id, v.name, r.organization_id, r.workflow_id, r.created_at, v.value, v.number
FROM runs AS r CROSS JOIN LATERAL run_values_of(r.initial_context, r.gathered_context) AS v
"""


def upgrade() -> None:
    op.create_table(
        "run_values",
        sa.Column("run_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(collation="C"), nullable=False),
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("workflow_id", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("value", sa.Text(collation="C"), nullable=False),
        sa.Column("number", sa.Numeric(), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_run_values_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "name", name=op.f("pk_run_values")),
    )
    op.execute(VALUES_OF)
    op.execute(KEEP)
    for trigger in TRIGGERS:
        op.execute(trigger)
    op.execute(FILL)
    op.create_index(
        "ix_run_values_number",
        "run_values",
        ["organization_id", "name", "number", "created_at", "run_id"],
        unique=False,
        postgresql_include=["workflow_id"],
        postgresql_where=sa.text("number IS NOT NULL"),
    )
    op.create_index(
        "ix_run_values_value",
        "run_values",
        ["organization_id", "name", "value", "created_at", "run_id"],
        unique=False,
        postgresql_include=["workflow_id"],
    )
    # Index-only scans need pages that VACUUM has seen, as those of runs.
    op.execute(
        "ALTER TABLE run_values SET "
        "(autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.02)"
    )
    # Room for another version of a row beside it, which is what makes renewing a lease cheap.
    op.execute("ALTER TABLE runs SET (fillfactor = 85)")
    op.add_column(
        "runs",
        sa.Column("is_leased", sa.Boolean(), sa.Computed("lease_until IS NOT NULL", persisted=True), nullable=False),
    )
    op.drop_index(op.f("ix_runs_leased"), table_name="runs", postgresql_where="(lease_until IS NOT NULL)")
    op.create_index("ix_runs_leased", "runs", ["id"], unique=False, postgresql_where=sa.text("is_leased"))
    op.drop_index(
        op.f("ix_runs_live"),
        table_name="runs",
        postgresql_where="((status)::text = ANY ((ARRAY['initiated'::character varying, 'ringing'::character varying, 'in_progress'::character varying])::text[]))",
    )
    op.create_index(
        "ix_runs_live",
        "runs",
        ["organization_id", "id"],
        unique=False,
        postgresql_where=sa.text("status IN ('initiated','ringing','in_progress')"),
    )
    op.drop_index("ix_runs_created", table_name="runs")
    op.create_index(
        "ix_runs_created",
        "runs",
        ["created_at", "id"],
        unique=False,
        postgresql_include=["organization_id", "workflow_id", *LISTED],
    )
    op.create_index("ix_runs_shortest", "runs", ["duration", "id"], unique=False)
