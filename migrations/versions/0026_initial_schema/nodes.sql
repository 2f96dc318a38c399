-- The processes of the installation, and the fingerprint of their common key.

CREATE TABLE installation (
    id integer DEFAULT 1 NOT NULL,
    key_fingerprint varchar(64) NOT NULL,
    CONSTRAINT pk_installation PRIMARY KEY (id),
    CONSTRAINT ck_installation_one_row CHECK (id = 1)
);

CREATE TABLE nodes (
    id varchar(64) NOT NULL,
    kind varchar(16) NOT NULL,
    address varchar(255),
    public_url varchar(255),
    version varchar(32) NOT NULL,
    call_limit integer DEFAULT 0 NOT NULL,
    live_calls integer DEFAULT 0 NOT NULL,
    lateness_ms integer DEFAULT 0 NOT NULL,
    is_draining boolean DEFAULT false NOT NULL,
    is_accepting boolean DEFAULT true NOT NULL,
    started_at timestamptz DEFAULT now() NOT NULL,
    beat_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_nodes PRIMARY KEY (id),
    CONSTRAINT ck_nodes_kind CHECK (kind IN ('serve','worker'))
);
