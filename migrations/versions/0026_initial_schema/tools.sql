-- Tools of agents and the credentials they use.

CREATE TABLE credentials (
    id serial NOT NULL,
    organization_id integer NOT NULL,
    credential_uuid uuid DEFAULT gen_random_uuid() NOT NULL,
    name varchar(255) NOT NULL,
    description text,
    credential_type varchar(32) NOT NULL,
    sealed bytea NOT NULL,
    allowed_hosts varchar(253)[],
    created_by integer,
    created_at timestamptz DEFAULT now() NOT NULL,
    updated_at timestamptz,
    CONSTRAINT pk_credentials PRIMARY KEY (id),
    CONSTRAINT uq_credentials_organization_id_name UNIQUE (organization_id, name),
    CONSTRAINT fk_credentials_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE,
    CONSTRAINT uq_credentials_credential_uuid UNIQUE (credential_uuid),
    CONSTRAINT fk_credentials_created_by FOREIGN KEY (created_by) REFERENCES users (id) ON DELETE SET NULL
);

CREATE TABLE tools (
    id serial NOT NULL,
    organization_id integer NOT NULL,
    tool_uuid uuid DEFAULT gen_random_uuid() NOT NULL,
    name varchar(255) NOT NULL,
    description text,
    category varchar(32) NOT NULL,
    icon varchar(50),
    icon_color varchar(7),
    status varchar(16) DEFAULT 'active' NOT NULL,
    definition jsonb NOT NULL,
    created_by integer,
    created_at timestamptz DEFAULT now() NOT NULL,
    updated_at timestamptz,
    CONSTRAINT pk_tools PRIMARY KEY (id),
    CONSTRAINT fk_tools_organization_id FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE,
    CONSTRAINT uq_tools_tool_uuid UNIQUE (tool_uuid),
    CONSTRAINT fk_tools_created_by FOREIGN KEY (created_by) REFERENCES users (id) ON DELETE SET NULL
);

CREATE INDEX ix_tools_org ON tools (organization_id, id);
