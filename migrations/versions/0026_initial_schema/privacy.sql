-- Requests about the data of a person, and deletions of organizations.

CREATE TABLE organization_deletions (
    id bigserial NOT NULL,
    organization_id integer NOT NULL,
    requested_by integer NOT NULL,
    state varchar(16) DEFAULT 'waiting' NOT NULL,
    step varchar(32),
    counts jsonb,
    books jsonb,
    requested_at timestamptz NOT NULL,
    finished_at timestamptz,
    CONSTRAINT pk_organization_deletions PRIMARY KEY (id),
    CONSTRAINT uq_organization_deletions_organization_id UNIQUE (organization_id)
);

CREATE INDEX ix_organization_deletions_open ON organization_deletions (id) WHERE state <> 'done';

CREATE TABLE person_data_requests (
    id bigserial NOT NULL,
    organization_id integer NOT NULL,
    kind varchar(16) NOT NULL,
    state varchar(16) DEFAULT 'waiting' NOT NULL,
    step varchar(64),
    phone_number varchar(32),
    number_hash varchar(64) NOT NULL,
    counts jsonb DEFAULT '{}'::jsonb NOT NULL,
    archive_key varchar(200),
    archive_expires_at timestamptz,
    created_by integer,
    created_by_key integer,
    created_at timestamptz DEFAULT now() NOT NULL,
    finished_at timestamptz,
    CONSTRAINT pk_person_data_requests PRIMARY KEY (id),
    CONSTRAINT fk_person_data_requests_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE
);

CREATE INDEX ix_person_data_requests_open ON person_data_requests (id) WHERE state <> 'done';

CREATE INDEX ix_person_data_requests_org ON person_data_requests (organization_id, id);
