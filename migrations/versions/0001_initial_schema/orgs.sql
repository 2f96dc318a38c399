-- Organizations, users and what they sign in with.

CREATE TABLE organizations (
    id serial NOT NULL,
    name varchar(200) NOT NULL,
    time_zone varchar(64) DEFAULT 'UTC' NOT NULL,
    concurrency_limit integer,
    test_phone_number varchar(32),
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
    CONSTRAINT pk_audit_entries PRIMARY KEY (id),
    CONSTRAINT fk_audit_entries_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE
);

CREATE INDEX ix_audit_entries_org ON audit_entries (organization_id, id);

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

CREATE TABLE sign_in_links (
    id serial NOT NULL,
    token_sha256 bytea NOT NULL,
    user_id integer NOT NULL,
    organization_id integer NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    expires_at timestamptz NOT NULL,
    used_at timestamptz,
    CONSTRAINT pk_sign_in_links PRIMARY KEY (id),
    CONSTRAINT uq_sign_in_links_token_sha256 UNIQUE (token_sha256),
    CONSTRAINT fk_sign_in_links_user_id FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT fk_sign_in_links_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE
);

CREATE TABLE user_sessions (
    id bigserial NOT NULL,
    token_sha256 bytea NOT NULL,
    user_id integer NOT NULL,
    organization_id integer NOT NULL,
    impersonator_id integer,
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
