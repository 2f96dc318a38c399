"""usage and the ledger."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0004"
down_revision = "0003"

# Runs that were over before anything was counted. They were free: the ledger begins empty.
COUNT_MODELS = """
CREATE TEMPORARY TABLE counted_models ON COMMIT DROP AS
SELECT runs.id AS run_id, runs.organization_id,
       date_bin('15 minutes', runs.created_at, '2000-01-01T00:00:00Z') AS bucket_at,
       kinds.kind, left(entry->>'provider', 32) AS provider, left(entry->>'model', 64) AS model,
       sum(coalesce((entry->>'prompt_tokens')::numeric, 0))::bigint AS prompt_tokens,
       sum(coalesce((entry->>'completion_tokens')::numeric, 0))::bigint AS completion_tokens,
       sum(coalesce((entry->>'characters')::numeric, 0))::bigint AS characters,
       sum(coalesce((entry->>'seconds')::numeric, 0)) AS seconds,
       sum(coalesce((entry->>'calls')::numeric, 0))::bigint AS calls
FROM runs CROSS JOIN (VALUES ('llm'), ('tts'), ('stt')) AS kinds (kind)
CROSS JOIN LATERAL jsonb_array_elements(
  CASE WHEN jsonb_typeof(runs.usage->kinds.kind) = 'array' THEN runs.usage->kinds.kind ELSE '[]'::jsonb END
) AS entries (entry)
WHERE runs.status IN ('completed', 'busy', 'no_answer', 'failed', 'canceled')
GROUP BY runs.id, kinds.kind, left(entry->>'provider', 32), left(entry->>'model', 64)
"""
PRICE_MODELS = """
CREATE TEMPORARY TABLE priced_models ON COMMIT DROP AS
SELECT counted.*, 1 AS runs, CASE WHEN lines.cost_cents IS NULL THEN 1 ELSE 0 END AS unpriced_runs,
       coalesce(lines.cost_cents, 0) AS cost_cents
FROM counted_models AS counted
LEFT JOIN LATERAL (
  SELECT sum(quantity * unit_price_cents) AS cost_cents FROM run_cost_lines AS line
  WHERE line.run_id = counted.run_id AND line.kind = counted.kind AND line.provider = counted.provider
    AND line.model = counted.model
) AS lines ON true
"""
COUNT_RUNS = """
INSERT INTO run_usage
  (run_id, organization_id, workflow_id, campaign_id, bucket_at, duration_ms, billable_ms, cost_cents, models)
SELECT id, organization_id, workflow_id, campaign_id,
       date_bin('15 minutes', created_at, '2000-01-01T00:00:00Z'), round(coalesce(duration, 0) * 1000),
       CASE WHEN mode = 'textchat' THEN 0 ELSE round(coalesce(duration, 0) * 1000) END, cost_cents,
       coalesce((
         SELECT jsonb_agg(to_jsonb(used) - 'run_id' - 'organization_id' - 'bucket_at') FROM priced_models AS used
         WHERE used.run_id = runs.id
       ), '[]'::jsonb)
FROM runs WHERE status IN ('completed', 'busy', 'no_answer', 'failed', 'canceled')
"""
SUM_RUNS = """
INSERT INTO usage_buckets (organization_id, bucket_at, calls, duration_ms, billable_ms, cost_cents)
SELECT organization_id, bucket_at, count(*), sum(duration_ms), sum(billable_ms), sum(cost_cents)
FROM run_usage GROUP BY organization_id, bucket_at
"""
SUM_MODELS = """
INSERT INTO model_usage_buckets
  (organization_id, bucket_at, kind, provider, model, prompt_tokens, completion_tokens, characters, seconds, calls,
   runs, unpriced_runs, cost_cents)
SELECT organization_id, bucket_at, kind, provider, model, sum(prompt_tokens), sum(completion_tokens), sum(characters),
       sum(seconds), sum(calls), sum(runs), sum(unpriced_runs), sum(cost_cents)
FROM priced_models GROUP BY organization_id, bucket_at, kind, provider, model
"""


def upgrade() -> None:
    op.create_table(
        "billing_accounts",
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("balance_cents", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("platform_cents_per_minute", sa.Numeric(precision=10, scale=4), nullable=True),
        sa.Column("included_minutes", sa.Integer(), nullable=True),
        sa.Column("is_enforced", sa.Boolean(), nullable=True),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=op.f("fk_billing_accounts_organization_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organization_id", name=op.f("pk_billing_accounts")),
    )
    op.create_table(
        "ledger_entries",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("amount_cents", sa.BigInteger(), nullable=False),
        sa.Column("balance_cents", sa.BigInteger(), nullable=False),
        sa.Column("run_id", sa.BigInteger(), nullable=True),
        sa.Column("note", sa.String(length=500), nullable=True),
        sa.Column("created_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=op.f("fk_ledger_entries_organization_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ledger_entries")),
    )
    op.create_index("ix_ledger_entries_org", "ledger_entries", ["organization_id", "id"], unique=False)
    op.create_index(
        "uq_ledger_entries_run", "ledger_entries", ["run_id"], unique=True, postgresql_where=sa.text("kind = 'run'")
    )
    op.create_table(
        "model_usage_buckets",
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("bucket_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("provider", sa.String(length=32), nullable=False),
        sa.Column("model", sa.String(length=64), nullable=False),
        sa.Column("prompt_tokens", sa.BigInteger(), nullable=False),
        sa.Column("completion_tokens", sa.BigInteger(), nullable=False),
        sa.Column("characters", sa.BigInteger(), nullable=False),
        sa.Column("seconds", sa.Numeric(precision=16, scale=3), nullable=False),
        sa.Column("calls", sa.BigInteger(), nullable=False),
        sa.Column("runs", sa.BigInteger(), nullable=False),
        sa.Column("unpriced_runs", sa.BigInteger(), nullable=False),
        sa.Column("cost_cents", sa.Numeric(precision=20, scale=8), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=op.f("fk_model_usage_buckets_organization_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "organization_id", "bucket_at", "kind", "provider", "model", name=op.f("pk_model_usage_buckets")
        ),
    )
    op.create_table(
        "run_usage",
        sa.Column("run_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("workflow_id", sa.Integer(), nullable=False),
        sa.Column("campaign_id", sa.Integer(), nullable=True),
        sa.Column("bucket_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("duration_ms", sa.BigInteger(), nullable=False),
        sa.Column("billable_ms", sa.BigInteger(), nullable=False),
        sa.Column("cost_cents", sa.BigInteger(), nullable=False),
        sa.Column(
            "models", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'[]'::jsonb"), nullable=False
        ),
        sa.ForeignKeyConstraint(
            ["organization_id"], ["organizations.id"], name=op.f("fk_run_usage_organization_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_run_usage")),
    )
    op.create_index(
        "ix_run_usage_campaign",
        "run_usage",
        ["campaign_id"],
        unique=False,
        postgresql_include=["organization_id", "cost_cents"],
        postgresql_where=sa.text("campaign_id IS NOT NULL"),
    )
    op.create_index("ix_run_usage_org", "run_usage", ["organization_id"], unique=False)
    op.create_table(
        "usage_buckets",
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("bucket_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("calls", sa.BigInteger(), nullable=False),
        sa.Column("duration_ms", sa.BigInteger(), nullable=False),
        sa.Column("billable_ms", sa.BigInteger(), nullable=False),
        sa.Column("cost_cents", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"], ["organizations.id"], name=op.f("fk_usage_buckets_organization_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("organization_id", "bucket_at", name=op.f("pk_usage_buckets")),
    )
    op.execute(COUNT_MODELS)
    op.execute("CREATE INDEX ON counted_models (run_id)")
    op.execute(PRICE_MODELS)
    op.execute("CREATE INDEX ON priced_models (run_id)")
    op.execute(COUNT_RUNS)
    op.execute(SUM_RUNS)
    op.execute(SUM_MODELS)
