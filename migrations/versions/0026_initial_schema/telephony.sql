-- Carrier accounts, phone numbers, transfers and the sandbox's own records.

CREATE TABLE sandbox_calls (
    call_id varchar(40) NOT NULL,
    run_id bigint NOT NULL,
    organization_id integer NOT NULL,
    to_number varchar(32) NOT NULL,
    process varchar(64) NOT NULL,
    status varchar(16) NOT NULL,
    dialled_at timestamptz DEFAULT now() NOT NULL,
    ended_at timestamptz,
    CONSTRAINT pk_sandbox_calls PRIMARY KEY (call_id)
);

CREATE INDEX ix_sandbox_calls_dialled_at ON sandbox_calls (dialled_at);

CREATE INDEX ix_sandbox_calls_run_id ON sandbox_calls (run_id);

CREATE TABLE seen_webhooks (
    nonce_sha256 bytea NOT NULL,
    body_sha256 bytea NOT NULL,
    received_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_seen_webhooks PRIMARY KEY (nonce_sha256)
);

CREATE INDEX ix_seen_webhooks_received_at ON seen_webhooks (received_at);

CREATE TABLE number_purchases (
    id bigserial NOT NULL,
    organization_id integer NOT NULL,
    provider varchar(32) NOT NULL,
    phone_number varchar(32) NOT NULL,
    country varchar(2) NOT NULL,
    request jsonb DEFAULT '{}'::jsonb NOT NULL,
    state varchar(16) DEFAULT 'buying' NOT NULL,
    carrier_id varchar(128),
    phone_number_id integer,
    charged_cents bigint DEFAULT 0 NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    error varchar(500),
    created_at timestamptz DEFAULT now() NOT NULL,
    updated_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_number_purchases PRIMARY KEY (id),
    CONSTRAINT fk_number_purchases_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE
);

CREATE INDEX ix_number_purchases_open ON number_purchases (updated_at) WHERE state IN ('buying', 'bought');

CREATE TABLE sandbox_numbers (
    phone_number varchar(32) NOT NULL,
    organization_id integer NOT NULL,
    carrier_id varchar(40) NOT NULL,
    bought_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_sandbox_numbers PRIMARY KEY (phone_number),
    CONSTRAINT fk_sandbox_numbers_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE
);

CREATE INDEX ix_sandbox_numbers_organization_id ON sandbox_numbers (organization_id);

CREATE TABLE telephony_configurations (
    id serial NOT NULL,
    organization_id integer NOT NULL,
    name varchar(64) NOT NULL,
    provider varchar(32) NOT NULL,
    config jsonb DEFAULT '{}'::jsonb NOT NULL,
    secrets bytea,
    account_reference varchar(200),
    is_default_outbound boolean DEFAULT false NOT NULL,
    is_managed boolean DEFAULT false NOT NULL,
    verified_at timestamptz,
    inactive_since timestamptz,
    inactive_reason varchar(500),
    created_at timestamptz DEFAULT now() NOT NULL,
    updated_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_telephony_configurations PRIMARY KEY (id),
    CONSTRAINT uq_telephony_configurations_organization_id_name UNIQUE (organization_id, name),
    CONSTRAINT uq_telephony_configurations_owner UNIQUE (id, organization_id, is_managed),
    CONSTRAINT fk_telephony_configurations_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE
);

CREATE INDEX ix_telephony_configurations_account ON telephony_configurations (provider, account_reference);

CREATE UNIQUE INDEX uq_telephony_configurations_managed ON telephony_configurations (organization_id) WHERE is_managed;

CREATE TABLE refused_calls (
    id bigserial NOT NULL,
    organization_id integer NOT NULL,
    telephony_configuration_id integer,
    provider varchar(32) NOT NULL,
    call_id varchar(128) NOT NULL,
    caller_number varchar(255),
    called_number varchar(255),
    workflow_id integer,
    reason varchar(64) NOT NULL,
    message varchar(500) NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_refused_calls PRIMARY KEY (id),
    CONSTRAINT uq_refused_calls_organization_id_provider_call_id UNIQUE (organization_id, provider, call_id),
    CONSTRAINT fk_refused_calls_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE,
    CONSTRAINT fk_refused_calls_telephony_configuration_id FOREIGN KEY (telephony_configuration_id)
        REFERENCES telephony_configurations (id) ON DELETE SET NULL
);

CREATE INDEX ix_refused_calls_org ON refused_calls (organization_id, id);

CREATE TABLE phone_numbers (
    id serial NOT NULL,
    organization_id integer NOT NULL,
    telephony_configuration_id integer NOT NULL,
    address varchar(255) NOT NULL,
    address_normalized varchar(255) NOT NULL,
    address_type varchar(16) NOT NULL,
    country_code varchar(2),
    label varchar(64),
    inbound_workflow_id integer,
    is_active boolean DEFAULT true NOT NULL,
    is_default_caller_id boolean DEFAULT false NOT NULL,
    extra_metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    is_managed boolean DEFAULT false NOT NULL,
    is_primary boolean DEFAULT false NOT NULL,
    existing_number varchar(32),
    carrier_id varchar(128),
    created_at timestamptz DEFAULT now() NOT NULL,
    updated_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_phone_numbers PRIMARY KEY (id),
    CONSTRAINT uq_phone_numbers_telephony_configuration_id_address_normalized UNIQUE (telephony_configuration_id, address_normalized),
    CONSTRAINT fk_phone_numbers_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE,
    CONSTRAINT fk_phone_numbers_account FOREIGN KEY (telephony_configuration_id, organization_id, is_managed)
        REFERENCES telephony_configurations (id, organization_id, is_managed) ON DELETE CASCADE,
    CONSTRAINT fk_phone_numbers_inbound_workflow_id FOREIGN KEY (inbound_workflow_id)
        REFERENCES workflows (id) ON DELETE SET NULL
);

CREATE INDEX ix_phone_numbers_address ON phone_numbers (address_normalized);

CREATE INDEX ix_phone_numbers_inbound_workflow_id ON phone_numbers (inbound_workflow_id);

CREATE INDEX ix_phone_numbers_org ON phone_numbers (organization_id, id);

CREATE UNIQUE INDEX uq_phone_numbers_default_caller
    ON phone_numbers (telephony_configuration_id)
    WHERE is_default_caller_id;

CREATE UNIQUE INDEX uq_phone_numbers_primary ON phone_numbers (organization_id) WHERE is_primary;

CREATE TABLE pending_transfers (
    transfer_id varchar(64) NOT NULL,
    organization_id integer NOT NULL,
    run_id bigint NOT NULL,
    telephony_configuration_id integer,
    provider varchar(32) NOT NULL,
    call_id varchar(128) NOT NULL,
    to_number varchar(32) NOT NULL,
    destination_id varchar(128),
    conference_id varchar(128),
    state varchar(16) DEFAULT 'ringing' NOT NULL,
    reason varchar(64),
    created_at timestamptz DEFAULT now() NOT NULL,
    updated_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_pending_transfers PRIMARY KEY (transfer_id),
    CONSTRAINT fk_pending_transfers_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE,
    CONSTRAINT fk_pending_transfers_run_id FOREIGN KEY (run_id) REFERENCES runs (id) ON DELETE CASCADE
);

CREATE INDEX ix_pending_transfers_created_at ON pending_transfers (created_at);

CREATE INDEX ix_pending_transfers_run_id ON pending_transfers (run_id);
