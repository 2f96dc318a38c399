-- Organizations, users and what they sign in with.

CREATE TABLE organizations (
    id serial NOT NULL,
    name varchar(200) NOT NULL,
    time_zone varchar(64) DEFAULT 'UTC' NOT NULL,
    concurrency_limit integer,
    test_phone_number varchar(32),
    support_may_write boolean DEFAULT false NOT NULL,
    second_factor_due_at timestamptz,
    closed_at timestamptz,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_organizations PRIMARY KEY (id)
);

CREATE TABLE users (
    id serial NOT NULL,
    email varchar(320) NOT NULL,
    name varchar(200),
    password_hash varchar,
    is_superuser boolean DEFAULT false NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_users PRIMARY KEY (id)
);

CREATE UNIQUE INDEX uq_users_email_lower ON users (lower(email));

CREATE TABLE api_keys (
    id serial NOT NULL,
    organization_id integer NOT NULL,
    name varchar(200) NOT NULL,
    prefix varchar(16) NOT NULL,
    key_sha256 bytea NOT NULL,
    role varchar(16) DEFAULT 'admin' NOT NULL,
    scopes varchar(16)[] DEFAULT '{read,call,manage}' NOT NULL,
    networks varchar(64)[] DEFAULT '{}' NOT NULL,
    expires_at timestamptz,
    created_by integer,
    created_at timestamptz DEFAULT now() NOT NULL,
    last_used_at timestamptz,
    archived_at timestamptz,
    CONSTRAINT pk_api_keys PRIMARY KEY (id),
    CONSTRAINT fk_api_keys_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE,
    CONSTRAINT uq_api_keys_key_sha256 UNIQUE (key_sha256),
    CONSTRAINT fk_api_keys_created_by FOREIGN KEY (created_by) REFERENCES users (id) ON DELETE SET NULL
);

CREATE INDEX ix_api_keys_org ON api_keys (organization_id, id);

CREATE TABLE audit_entries (
    id bigserial NOT NULL,
    organization_id integer,
    actor_user_id integer,
    actor_key_id integer,
    impersonator_id integer,
    action varchar(64) NOT NULL,
    target varchar(200),
    ip varchar(64),
    data jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    position bigint,
    previous_seal bytea,
    seal bytea,
    CONSTRAINT pk_audit_entries PRIMARY KEY (id),
    CONSTRAINT fk_audit_entries_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE,
    CONSTRAINT ck_audit_entries_sealed_as_a_whole CHECK (num_nulls(position, previous_seal, seal) IN (0, 3))
);

CREATE INDEX ix_audit_entries_org ON audit_entries (organization_id, id);

CREATE INDEX ix_audit_entries_unsealed ON audit_entries (organization_id, id) WHERE seal IS NULL;

CREATE UNIQUE INDEX uq_audit_entries_position
    ON audit_entries (organization_id, position) NULLS NOT DISTINCT
    WHERE position IS NOT NULL;

CREATE TABLE blocked_callers (
    id bigserial NOT NULL,
    organization_id integer NOT NULL,
    phone_number varchar(32) NOT NULL,
    reason varchar(500),
    created_by integer,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_blocked_callers PRIMARY KEY (id),
    CONSTRAINT uq_blocked_callers_organization_id_phone_number UNIQUE (organization_id, phone_number),
    CONSTRAINT fk_blocked_callers_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE
);

CREATE TABLE call_policies (
    organization_id integer NOT NULL,
    countries varchar(2)[],
    allows_premium boolean DEFAULT false NOT NULL,
    allows_satellite boolean DEFAULT false NOT NULL,
    allows_high_risk boolean DEFAULT false NOT NULL,
    max_cents_per_minute numeric(10, 4),
    max_live_calls_per_caller integer,
    max_hourly_calls_per_caller integer,
    updated_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_call_policies PRIMARY KEY (organization_id),
    CONSTRAINT fk_call_policies_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE
);

CREATE TABLE data_keys (
    organization_id integer NOT NULL,
    number integer NOT NULL,
    sealed_key bytea NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    sealed_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_data_keys PRIMARY KEY (organization_id, number),
    CONSTRAINT fk_data_keys_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE
);

CREATE TABLE do_not_call_entries (
    id bigserial NOT NULL,
    organization_id integer NOT NULL,
    phone_number varchar(32) NOT NULL,
    reason varchar(500),
    source varchar(32) NOT NULL,
    run_id bigint,
    created_by integer,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_do_not_call_entries PRIMARY KEY (id),
    CONSTRAINT uq_do_not_call_entries_organization_id_phone_number UNIQUE (organization_id, phone_number),
    CONSTRAINT fk_do_not_call_entries_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE,
    CONSTRAINT fk_do_not_call_entries_created_by FOREIGN KEY (created_by) REFERENCES users (id) ON DELETE SET NULL
);

CREATE INDEX ix_do_not_call_entries_org ON do_not_call_entries (organization_id, id);

CREATE TABLE idempotency_keys (
    id bigserial NOT NULL,
    organization_id integer NOT NULL,
    scope varchar(100) NOT NULL,
    key varchar(255) NOT NULL,
    body_sha256 bytea NOT NULL,
    response jsonb,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_idempotency_keys PRIMARY KEY (id),
    CONSTRAINT uq_idempotency_keys_organization_id_scope_key UNIQUE (organization_id, scope, key),
    CONSTRAINT fk_idempotency_keys_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE
);

CREATE INDEX ix_idempotency_keys_created_at ON idempotency_keys (created_at);

CREATE TABLE identity_providers (
    organization_id integer NOT NULL,
    sign_in_name varchar(63) NOT NULL,
    issuer varchar(500) NOT NULL,
    client_id varchar(255) NOT NULL,
    sealed_secret bytea,
    email_domains varchar(255)[] NOT NULL,
    joins_as varchar(16),
    is_required boolean DEFAULT false NOT NULL,
    updated_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_identity_providers PRIMARY KEY (organization_id),
    CONSTRAINT uq_identity_providers_sign_in_name UNIQUE (sign_in_name),
    CONSTRAINT fk_identity_providers_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE
);

CREATE TABLE invitations (
    id serial NOT NULL,
    organization_id integer NOT NULL,
    email varchar(320) NOT NULL,
    name varchar(200),
    role varchar(16) NOT NULL,
    token_sha256 bytea NOT NULL,
    invited_by integer,
    created_at timestamptz DEFAULT now() NOT NULL,
    expires_at timestamptz NOT NULL,
    accepted_at timestamptz,
    revoked_at timestamptz,
    CONSTRAINT pk_invitations PRIMARY KEY (id),
    CONSTRAINT fk_invitations_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE,
    CONSTRAINT uq_invitations_token_sha256 UNIQUE (token_sha256),
    CONSTRAINT fk_invitations_invited_by FOREIGN KEY (invited_by) REFERENCES users (id) ON DELETE SET NULL
);

CREATE INDEX ix_invitations_org ON invitations (organization_id, id);

CREATE TABLE members (
    organization_id integer NOT NULL,
    user_id integer NOT NULL,
    role varchar(16) NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_members PRIMARY KEY (organization_id, user_id),
    CONSTRAINT fk_members_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE,
    CONSTRAINT fk_members_user_id FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
);

CREATE INDEX ix_members_user_id ON members (user_id);

CREATE TABLE member_identities (
    id bigserial NOT NULL,
    organization_id integer NOT NULL,
    user_id integer NOT NULL,
    issuer varchar(500) NOT NULL,
    subject varchar(255) NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_member_identities PRIMARY KEY (id),
    CONSTRAINT uq_member_identities_organization_id_user_id UNIQUE (organization_id, user_id),
    CONSTRAINT uq_member_identities_organization_id_issuer_subject UNIQUE (organization_id, issuer, subject),
    CONSTRAINT fk_member_identities_organization_id_user_id FOREIGN KEY (organization_id, user_id)
        REFERENCES members (organization_id, user_id) ON DELETE CASCADE
);

CREATE TABLE privacy_settings (
    organization_id integer NOT NULL,
    recordings_days integer,
    transcripts_days integer,
    runs_days integer,
    recordings_swept_until timestamptz,
    transcripts_swept_until timestamptz,
    runs_swept_until timestamptz,
    redacted_kinds varchar(16)[] DEFAULT '{}' NOT NULL,
    updated_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_privacy_settings PRIMARY KEY (organization_id),
    CONSTRAINT fk_privacy_settings_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE
);

CREATE TABLE provider_sign_in_attempts (
    id bigserial NOT NULL,
    organization_id integer NOT NULL,
    state_sha256 bytea NOT NULL,
    secret_sha256 bytea NOT NULL,
    issuer varchar(500) NOT NULL,
    client_id varchar(255) NOT NULL,
    redirect_uri varchar(2000) NOT NULL,
    expires_at timestamptz NOT NULL,
    CONSTRAINT pk_provider_sign_in_attempts PRIMARY KEY (id),
    CONSTRAINT uq_provider_sign_in_attempts_state_sha256 UNIQUE (state_sha256),
    CONSTRAINT fk_provider_sign_in_attempts_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE
);

CREATE INDEX ix_provider_sign_in_attempts_expires_at ON provider_sign_in_attempts (expires_at);

CREATE TABLE recovery_codes (
    id bigserial NOT NULL,
    user_id integer NOT NULL,
    code_sha256 bytea NOT NULL,
    used_at timestamptz,
    CONSTRAINT pk_recovery_codes PRIMARY KEY (id),
    CONSTRAINT fk_recovery_codes_user_id FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
);

CREATE INDEX ix_recovery_codes_user_id ON recovery_codes (user_id);

CREATE TABLE second_factors (
    user_id integer NOT NULL,
    sealed_secret bytea NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    confirmed_at timestamptz,
    last_step bigint,
    CONSTRAINT pk_second_factors PRIMARY KEY (user_id),
    CONSTRAINT fk_second_factors_user_id FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
);

CREATE TABLE sign_in_challenges (
    id bigserial NOT NULL,
    token_sha256 bytea NOT NULL,
    user_id integer NOT NULL,
    organization_id integer NOT NULL,
    action varchar(64) NOT NULL,
    password_hash varchar,
    by_provider boolean DEFAULT false NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    expires_at timestamptz NOT NULL,
    CONSTRAINT pk_sign_in_challenges PRIMARY KEY (id),
    CONSTRAINT uq_sign_in_challenges_token_sha256 UNIQUE (token_sha256),
    CONSTRAINT fk_sign_in_challenges_user_id FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT fk_sign_in_challenges_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE
);

CREATE INDEX ix_sign_in_challenges_user_id ON sign_in_challenges (user_id);

CREATE TABLE sign_in_links (
    id serial NOT NULL,
    token_sha256 bytea NOT NULL,
    user_id integer NOT NULL,
    organization_id integer NOT NULL,
    sets_password boolean DEFAULT false NOT NULL,
    created_by integer,
    created_at timestamptz DEFAULT now() NOT NULL,
    expires_at timestamptz NOT NULL,
    used_at timestamptz,
    CONSTRAINT pk_sign_in_links PRIMARY KEY (id),
    CONSTRAINT uq_sign_in_links_token_sha256 UNIQUE (token_sha256),
    CONSTRAINT fk_sign_in_links_user_id FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT fk_sign_in_links_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE,
    CONSTRAINT fk_sign_in_links_created_by FOREIGN KEY (created_by) REFERENCES users (id) ON DELETE SET NULL
);

CREATE TABLE signup_requests (
    id serial NOT NULL,
    email varchar(320) NOT NULL,
    name varchar(200),
    organization_name varchar(200),
    ip varchar(64),
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_signup_requests PRIMARY KEY (id)
);

CREATE UNIQUE INDEX uq_signup_requests_email_lower ON signup_requests (lower(email));

CREATE TABLE user_sessions (
    id bigserial NOT NULL,
    token_sha256 bytea NOT NULL,
    user_id integer NOT NULL,
    organization_id integer NOT NULL,
    impersonator_id integer,
    by_provider boolean DEFAULT false NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    expires_at timestamptz NOT NULL,
    revoked_at timestamptz,
    CONSTRAINT pk_user_sessions PRIMARY KEY (id),
    CONSTRAINT uq_user_sessions_token_sha256 UNIQUE (token_sha256),
    CONSTRAINT fk_user_sessions_user_id FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT fk_user_sessions_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE,
    CONSTRAINT fk_user_sessions_impersonator_id FOREIGN KEY (impersonator_id) REFERENCES users (id) ON DELETE CASCADE
);

CREATE INDEX ix_user_sessions_user_id ON user_sessions (user_id);
