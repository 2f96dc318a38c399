-- Webhook endpoints, events and their deliveries.

CREATE TABLE webhook_endpoints (
    id serial NOT NULL,
    organization_id integer NOT NULL,
    url varchar(2000) NOT NULL,
    description varchar(500),
    events varchar(64)[] DEFAULT '{}' NOT NULL,
    status varchar(16) DEFAULT 'enabled' NOT NULL,
    secret bytea NOT NULL,
    old_secret bytea,
    old_secret_until timestamptz,
    last_sequence bigint DEFAULT 0 NOT NULL,
    failing_since timestamptz,
    last_success_at timestamptz,
    created_by integer,
    created_at timestamptz DEFAULT now() NOT NULL,
    updated_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_webhook_endpoints PRIMARY KEY (id),
    CONSTRAINT fk_webhook_endpoints_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE,
    CONSTRAINT fk_webhook_endpoints_created_by FOREIGN KEY (created_by) REFERENCES users (id) ON DELETE SET NULL
);

CREATE INDEX ix_webhook_endpoints_org ON webhook_endpoints (organization_id, id);

CREATE TABLE webhook_events (
    id bigserial NOT NULL,
    organization_id integer NOT NULL,
    type varchar(64) NOT NULL,
    key varchar(200) NOT NULL,
    data jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_webhook_events PRIMARY KEY (id),
    CONSTRAINT uq_webhook_events_organization_id_key UNIQUE (organization_id, key),
    CONSTRAINT fk_webhook_events_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE
);

CREATE INDEX ix_webhook_events_created_at ON webhook_events (created_at);

CREATE INDEX ix_webhook_events_org ON webhook_events (organization_id, id);

CREATE TABLE webhook_deliveries (
    id bigserial NOT NULL,
    organization_id integer NOT NULL,
    endpoint_id integer NOT NULL,
    event_id bigint NOT NULL,
    sequence bigint NOT NULL,
    status varchar(16) DEFAULT 'pending' NOT NULL,
    round integer DEFAULT 1 NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamptz,
    last_status_code integer,
    last_error varchar(500),
    created_at timestamptz DEFAULT now() NOT NULL,
    delivered_at timestamptz,
    CONSTRAINT pk_webhook_deliveries PRIMARY KEY (id),
    CONSTRAINT uq_webhook_deliveries_endpoint_id_sequence UNIQUE (endpoint_id, sequence),
    CONSTRAINT uq_webhook_deliveries_endpoint_id_event_id UNIQUE (endpoint_id, event_id),
    CONSTRAINT fk_webhook_deliveries_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE,
    CONSTRAINT fk_webhook_deliveries_endpoint_id FOREIGN KEY (endpoint_id)
        REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
    CONSTRAINT fk_webhook_deliveries_event_id FOREIGN KEY (event_id) REFERENCES webhook_events (id) ON DELETE CASCADE
);

CREATE INDEX ix_webhook_deliveries_due ON webhook_deliveries (next_attempt_at) WHERE status = 'pending';

CREATE INDEX ix_webhook_deliveries_event ON webhook_deliveries (event_id);

CREATE INDEX ix_webhook_deliveries_org ON webhook_deliveries (organization_id, endpoint_id, id);

CREATE TABLE webhook_attempts (
    id bigserial NOT NULL,
    organization_id integer NOT NULL,
    delivery_id bigint NOT NULL,
    attempt integer NOT NULL,
    status_code integer,
    error varchar(500),
    answer varchar(1000),
    duration_ms integer NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_webhook_attempts PRIMARY KEY (id),
    CONSTRAINT fk_webhook_attempts_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE,
    CONSTRAINT fk_webhook_attempts_delivery_id FOREIGN KEY (delivery_id)
        REFERENCES webhook_deliveries (id) ON DELETE CASCADE
);

CREATE INDEX ix_webhook_attempts_delivery ON webhook_attempts (delivery_id, id);
