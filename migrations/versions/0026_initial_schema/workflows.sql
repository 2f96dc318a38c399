-- Agents: their versions, folders and triggers.

CREATE TABLE workflow_folders (
    id serial NOT NULL,
    organization_id integer NOT NULL,
    name varchar(100) NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_workflow_folders PRIMARY KEY (id),
    CONSTRAINT uq_workflow_folders_organization_id_name UNIQUE (organization_id, name),
    CONSTRAINT fk_workflow_folders_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE
);

CREATE TABLE workflows (
    id serial NOT NULL,
    organization_id integer NOT NULL,
    workflow_uuid uuid DEFAULT gen_random_uuid() NOT NULL,
    name varchar(200) NOT NULL,
    status varchar(16) DEFAULT 'active' NOT NULL,
    folder_id integer,
    revision integer DEFAULT 1 NOT NULL,
    publish_gate jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_by integer,
    created_at timestamptz DEFAULT now() NOT NULL,
    updated_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_workflows PRIMARY KEY (id),
    CONSTRAINT fk_workflows_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE,
    CONSTRAINT uq_workflows_workflow_uuid UNIQUE (workflow_uuid),
    CONSTRAINT fk_workflows_folder_id FOREIGN KEY (folder_id) REFERENCES workflow_folders (id) ON DELETE SET NULL,
    CONSTRAINT fk_workflows_created_by FOREIGN KEY (created_by) REFERENCES users (id) ON DELETE SET NULL
);

CREATE INDEX ix_workflows_folder ON workflows (folder_id) WHERE folder_id IS NOT NULL;

CREATE INDEX ix_workflows_org ON workflows (organization_id, id);

CREATE TABLE workflow_triggers (
    id serial NOT NULL,
    organization_id integer NOT NULL,
    workflow_id integer NOT NULL,
    path varchar(36) NOT NULL,
    is_active boolean DEFAULT true NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_workflow_triggers PRIMARY KEY (id),
    CONSTRAINT fk_workflow_triggers_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE,
    CONSTRAINT fk_workflow_triggers_workflow_id FOREIGN KEY (workflow_id) REFERENCES workflows (id) ON DELETE CASCADE,
    CONSTRAINT uq_workflow_triggers_path UNIQUE (path)
);

CREATE INDEX ix_workflow_triggers_workflow_id ON workflow_triggers (workflow_id);

CREATE TABLE workflow_versions (
    id serial NOT NULL,
    workflow_id integer NOT NULL,
    organization_id integer NOT NULL,
    version_number integer NOT NULL,
    status varchar(16) NOT NULL,
    definition jsonb NOT NULL,
    configurations jsonb DEFAULT '{}'::jsonb NOT NULL,
    template_context_variables jsonb DEFAULT '{}'::jsonb NOT NULL,
    scenarios jsonb DEFAULT '[]'::jsonb NOT NULL,
    note varchar,
    created_by integer,
    created_at timestamptz DEFAULT now() NOT NULL,
    published_at timestamptz,
    CONSTRAINT pk_workflow_versions PRIMARY KEY (id),
    CONSTRAINT uq_workflow_versions_workflow_id_version_number UNIQUE (workflow_id, version_number),
    CONSTRAINT fk_workflow_versions_workflow_id FOREIGN KEY (workflow_id) REFERENCES workflows (id) ON DELETE CASCADE,
    CONSTRAINT fk_workflow_versions_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE,
    CONSTRAINT fk_workflow_versions_created_by FOREIGN KEY (created_by) REFERENCES users (id) ON DELETE SET NULL
);

CREATE UNIQUE INDEX uq_workflow_versions_draft ON workflow_versions (workflow_id) WHERE status = 'draft';

CREATE UNIQUE INDEX uq_workflow_versions_published ON workflow_versions (workflow_id) WHERE status = 'published';
