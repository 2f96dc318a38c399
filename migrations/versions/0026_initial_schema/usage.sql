-- Usage by quarter of an hour, day and agent, the ledger, and what live conversations hold of it.

CREATE TABLE agent_days (
    organization_id integer NOT NULL,
    day date NOT NULL,
    workflow_id integer NOT NULL,
    outcome varchar(32) NOT NULL,
    calls bigint NOT NULL,
    duration_ms bigint NOT NULL,
    cost_cents bigint NOT NULL,
    CONSTRAINT pk_agent_days PRIMARY KEY (organization_id, day, workflow_id, outcome) INCLUDE (calls, duration_ms, cost_cents),
    CONSTRAINT fk_agent_days_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE
);

CREATE TABLE billing_accounts (
    organization_id integer NOT NULL,
    balance_cents bigint DEFAULT 0 NOT NULL,
    platform_cents_per_minute numeric(10, 4),
    included_minutes integer,
    is_enforced boolean,
    daily_limit_cents bigint,
    own_daily_limit_cents bigint,
    CONSTRAINT pk_billing_accounts PRIMARY KEY (organization_id),
    CONSTRAINT fk_billing_accounts_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE
);

CREATE TABLE credit_holds (
    run_id bigint NOT NULL,
    organization_id integer NOT NULL,
    cents bigint NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_credit_holds PRIMARY KEY (run_id),
    CONSTRAINT fk_credit_holds_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE
);

CREATE INDEX ix_credit_holds_org ON credit_holds (organization_id) INCLUDE (cents);

CREATE TABLE ledger_entries (
    id bigserial NOT NULL,
    organization_id integer NOT NULL,
    kind varchar(16) NOT NULL,
    amount_cents bigint NOT NULL,
    balance_cents bigint NOT NULL,
    run_id bigint,
    note varchar(500),
    created_by integer,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_ledger_entries PRIMARY KEY (id),
    CONSTRAINT fk_ledger_entries_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE
);

CREATE INDEX ix_ledger_entries_charges
    ON ledger_entries (organization_id, created_at)
    INCLUDE (amount_cents)
    WHERE kind = 'charge';

CREATE INDEX ix_ledger_entries_org ON ledger_entries (organization_id, id);

CREATE UNIQUE INDEX uq_ledger_entries_run ON ledger_entries (run_id) WHERE kind = 'run';

CREATE TABLE model_usage_buckets (
    organization_id integer NOT NULL,
    bucket_at timestamptz NOT NULL,
    kind varchar(16) NOT NULL,
    provider varchar(32) NOT NULL,
    model varchar(64) NOT NULL,
    prompt_tokens bigint NOT NULL,
    completion_tokens bigint NOT NULL,
    characters bigint NOT NULL,
    seconds numeric(16, 3) NOT NULL,
    calls bigint NOT NULL,
    runs bigint NOT NULL,
    unpriced_runs bigint NOT NULL,
    cost_cents numeric(20, 8) NOT NULL,
    CONSTRAINT pk_model_usage_buckets PRIMARY KEY (organization_id, bucket_at, kind, provider, model),
    CONSTRAINT fk_model_usage_buckets_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE
);

CREATE TABLE outcome_buckets (
    organization_id integer NOT NULL,
    bucket_at timestamptz NOT NULL,
    outcome varchar(32) NOT NULL,
    calls bigint NOT NULL,
    CONSTRAINT pk_outcome_buckets PRIMARY KEY (organization_id, bucket_at, outcome) INCLUDE (calls),
    CONSTRAINT fk_outcome_buckets_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE
);

CREATE TABLE run_usage (
    run_id bigint NOT NULL,
    organization_id integer NOT NULL,
    workflow_id integer NOT NULL,
    campaign_id integer,
    bucket_at timestamptz NOT NULL,
    duration_ms bigint NOT NULL,
    billable_ms bigint NOT NULL,
    cost_cents bigint NOT NULL,
    outcome varchar(32) DEFAULT 'unknown' NOT NULL,
    models jsonb DEFAULT '[]'::jsonb NOT NULL,
    CONSTRAINT pk_run_usage PRIMARY KEY (run_id),
    CONSTRAINT fk_run_usage_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE
);

CREATE INDEX ix_run_usage_campaign
    ON run_usage (campaign_id)
    INCLUDE (organization_id, cost_cents)
    WHERE campaign_id IS NOT NULL;

CREATE INDEX ix_run_usage_org ON run_usage (organization_id);

CREATE TABLE usage_buckets (
    organization_id integer NOT NULL,
    bucket_at timestamptz NOT NULL,
    calls bigint NOT NULL,
    duration_ms bigint NOT NULL,
    billable_ms bigint NOT NULL,
    cost_cents bigint NOT NULL,
    CONSTRAINT pk_usage_buckets PRIMARY KEY (organization_id, bucket_at) INCLUDE (calls, duration_ms, cost_cents),
    CONSTRAINT fk_usage_buckets_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE
);
