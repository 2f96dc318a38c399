-- Model settings, an organization's own prices, and where voice packs come from.

CREATE TABLE model_configurations (
    organization_id integer NOT NULL,
    version smallint NOT NULL,
    configuration jsonb DEFAULT '{}'::jsonb NOT NULL,
    sealed_keys bytea,
    updated_by integer,
    updated_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_model_configurations PRIMARY KEY (organization_id),
    CONSTRAINT fk_model_configurations_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE,
    CONSTRAINT fk_model_configurations_updated_by FOREIGN KEY (updated_by) REFERENCES users (id) ON DELETE SET NULL
);

CREATE TABLE own_prices (
    organization_id integer NOT NULL,
    kind varchar(16) NOT NULL,
    provider varchar(32) NOT NULL,
    model varchar(64) NOT NULL,
    valid_from date NOT NULL,
    dollars jsonb NOT NULL,
    step integer DEFAULT 1 NOT NULL,
    CONSTRAINT pk_own_prices PRIMARY KEY (organization_id, kind, provider, model, valid_from),
    CONSTRAINT fk_own_prices_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE
);

CREATE TABLE voice_mirrors (
    id integer DEFAULT 1 NOT NULL,
    addresses jsonb NOT NULL,
    updated_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_voice_mirrors PRIMARY KEY (id),
    CONSTRAINT ck_voice_mirrors_one_row CHECK (id = 1)
);
