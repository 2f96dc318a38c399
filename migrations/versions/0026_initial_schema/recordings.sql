-- Audio clips that agents play.

CREATE TABLE workflow_recordings (
    id serial NOT NULL,
    organization_id integer NOT NULL,
    recording_id varchar(64) NOT NULL,
    workflow_id integer,
    tts_provider varchar(64),
    tts_model varchar(128),
    tts_voice_id varchar(128),
    transcript varchar NOT NULL,
    storage_key varchar(200) NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    duration_s numeric(8, 3) NOT NULL,
    created_by integer,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_workflow_recordings PRIMARY KEY (id),
    CONSTRAINT uq_workflow_recordings_organization_id_recording_id UNIQUE (organization_id, recording_id),
    CONSTRAINT fk_workflow_recordings_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE,
    CONSTRAINT fk_workflow_recordings_workflow_id FOREIGN KEY (workflow_id)
        REFERENCES workflows (id) ON DELETE SET NULL
);

CREATE INDEX ix_workflow_recordings_storage_key ON workflow_recordings (storage_key);

CREATE INDEX ix_workflow_recordings_workflow ON workflow_recordings (workflow_id);
