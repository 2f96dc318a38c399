-- Campaigns, their contacts and attempts.

CREATE TABLE campaign_dial_buckets (
    organization_id integer NOT NULL,
    account varchar(64) NOT NULL,
    tokens double precision NOT NULL,
    at timestamptz NOT NULL,
    CONSTRAINT pk_campaign_dial_buckets PRIMARY KEY (organization_id, account)
);

CREATE TABLE campaign_dial_passes (
    organization_id integer NOT NULL,
    unfinished integer DEFAULT 0 NOT NULL,
    CONSTRAINT pk_campaign_dial_passes PRIMARY KEY (organization_id),
    CONSTRAINT fk_campaign_dial_passes_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE
);

CREATE TABLE campaigns (
    id serial NOT NULL,
    organization_id integer NOT NULL,
    workflow_id integer NOT NULL,
    parent_campaign_id integer,
    name varchar(200) NOT NULL,
    status varchar(16) DEFAULT 'draft' NOT NULL,
    failure_reason varchar(500),
    max_concurrency integer NOT NULL,
    telephony_configuration_id integer,
    contacts_file_key varchar(300),
    columns jsonb DEFAULT '[]'::jsonb NOT NULL,
    calling_hours jsonb,
    retry_config jsonb DEFAULT '{}'::jsonb NOT NULL,
    circuit_breaker jsonb,
    destinations jsonb,
    voicemail jsonb,
    spend_cap_cents integer,
    created_by integer,
    created_at timestamptz DEFAULT now() NOT NULL,
    started_at timestamptz,
    running_since timestamptz,
    completed_at timestamptz,
    CONSTRAINT pk_campaigns PRIMARY KEY (id),
    CONSTRAINT fk_campaigns_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE,
    CONSTRAINT fk_campaigns_workflow_id FOREIGN KEY (workflow_id) REFERENCES workflows (id) ON DELETE CASCADE,
    CONSTRAINT fk_campaigns_parent_campaign_id FOREIGN KEY (parent_campaign_id)
        REFERENCES campaigns (id) ON DELETE SET NULL
);

CREATE INDEX ix_campaigns_org ON campaigns (organization_id, id);

CREATE INDEX ix_campaigns_running ON campaigns (organization_id, id) WHERE status = 'running';

CREATE INDEX ix_campaigns_workflow_id ON campaigns (workflow_id);

CREATE TABLE campaign_contacts (
    id bigserial NOT NULL,
    campaign_id integer NOT NULL,
    organization_id integer NOT NULL,
    row_number integer NOT NULL,
    phone_number varchar(32) NOT NULL,
    variables jsonb DEFAULT '{}'::jsonb NOT NULL,
    state varchar(16) DEFAULT 'pending' NOT NULL,
    outcome varchar(16),
    reason varchar(64),
    dials smallint DEFAULT 0 NOT NULL,
    due_at timestamptz DEFAULT now() NOT NULL,
    hold varchar(64),
    done_at timestamptz,
    CONSTRAINT pk_campaign_contacts PRIMARY KEY (id),
    CONSTRAINT fk_campaign_contacts_campaign_id FOREIGN KEY (campaign_id) REFERENCES campaigns (id) ON DELETE CASCADE
);

CREATE INDEX ix_campaign_contacts_due ON campaign_contacts (campaign_id, due_at, id) WHERE state = 'pending';

CREATE INDEX ix_campaign_contacts_progress ON campaign_contacts (campaign_id, state, outcome, dials);

CREATE INDEX ix_campaign_contacts_row ON campaign_contacts (campaign_id, row_number);

CREATE UNIQUE INDEX uq_campaign_contacts_number ON campaign_contacts (campaign_id, phone_number);

CREATE TABLE campaign_attempts (
    id bigserial NOT NULL,
    organization_id integer NOT NULL,
    campaign_id integer NOT NULL,
    contact_id bigint NOT NULL,
    number smallint NOT NULL,
    state varchar(16) NOT NULL,
    because varchar(100),
    run_id bigint,
    outcome varchar(16),
    reason varchar(64),
    reserved_at timestamptz NOT NULL,
    may_dial_until timestamptz NOT NULL,
    check_at timestamptz NOT NULL,
    placed_at timestamptz,
    ended_at timestamptz,
    CONSTRAINT pk_campaign_attempts PRIMARY KEY (id),
    CONSTRAINT fk_campaign_attempts_campaign_id FOREIGN KEY (campaign_id) REFERENCES campaigns (id) ON DELETE CASCADE,
    CONSTRAINT fk_campaign_attempts_contact_id FOREIGN KEY (contact_id)
        REFERENCES campaign_contacts (id) ON DELETE CASCADE,
    CONSTRAINT fk_campaign_attempts_run_id FOREIGN KEY (run_id) REFERENCES runs (id) ON DELETE SET NULL
);

CREATE INDEX ix_campaign_attempts_ended ON campaign_attempts (campaign_id, ended_at) INCLUDE (outcome);

CREATE INDEX ix_campaign_attempts_open
    ON campaign_attempts (organization_id, campaign_id, check_at)
    WHERE state <> 'final';

CREATE UNIQUE INDEX uq_campaign_attempts_live ON campaign_attempts (contact_id) WHERE state <> 'final';

CREATE UNIQUE INDEX uq_campaign_attempts_number ON campaign_attempts (contact_id, number);

CREATE UNIQUE INDEX uq_campaign_attempts_run ON campaign_attempts (run_id);
