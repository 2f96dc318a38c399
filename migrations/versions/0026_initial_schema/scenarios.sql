-- Plays of scenarios and their results.

CREATE TABLE scenario_plays (
    id serial NOT NULL,
    organization_id integer NOT NULL,
    workflow_id integer NOT NULL,
    version_id integer NOT NULL,
    version_number integer NOT NULL,
    state varchar(16) DEFAULT 'queued' NOT NULL,
    scenario_names jsonb DEFAULT '[]'::jsonb NOT NULL,
    seeds jsonb DEFAULT '[0]'::jsonb NOT NULL,
    cpu_budget_s integer NOT NULL,
    total integer DEFAULT 0 NOT NULL,
    done integer DEFAULT 0 NOT NULL,
    passed integer DEFAULT 0 NOT NULL,
    content_hash varchar(64),
    result_hash varchar(64),
    verdict jsonb,
    error varchar,
    created_by integer,
    created_at timestamptz DEFAULT now() NOT NULL,
    started_at timestamptz,
    finished_at timestamptz,
    CONSTRAINT pk_scenario_plays PRIMARY KEY (id),
    CONSTRAINT ck_scenario_plays_state
        CHECK (state IN ('queued','running','passed','failed','canceled','out_of_budget','broken')),
    CONSTRAINT fk_scenario_plays_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE,
    CONSTRAINT fk_scenario_plays_workflow_id FOREIGN KEY (workflow_id) REFERENCES workflows (id) ON DELETE CASCADE,
    CONSTRAINT fk_scenario_plays_version_id FOREIGN KEY (version_id) REFERENCES workflow_versions (id) ON DELETE CASCADE,
    CONSTRAINT fk_scenario_plays_created_by FOREIGN KEY (created_by) REFERENCES users (id) ON DELETE SET NULL
);

CREATE INDEX ix_scenario_plays_open ON scenario_plays (organization_id) WHERE state IN ('queued','running');

CREATE INDEX ix_scenario_plays_workflow ON scenario_plays (organization_id, workflow_id, id);

CREATE TABLE scenario_results (
    id serial NOT NULL,
    organization_id integer NOT NULL,
    play_id integer NOT NULL,
    name varchar(60) NOT NULL,
    title varchar NOT NULL,
    seed integer NOT NULL,
    has_passed boolean NOT NULL,
    hash varchar(64) NOT NULL,
    faults jsonb NOT NULL,
    turns jsonb NOT NULL,
    outcome jsonb NOT NULL,
    CONSTRAINT pk_scenario_results PRIMARY KEY (id),
    CONSTRAINT uq_scenario_results_play_id_seed_name UNIQUE (play_id, seed, name),
    CONSTRAINT fk_scenario_results_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE,
    CONSTRAINT fk_scenario_results_play_id FOREIGN KEY (play_id) REFERENCES scenario_plays (id) ON DELETE CASCADE
);

CREATE INDEX ix_scenario_results_organization_id ON scenario_results (organization_id);
