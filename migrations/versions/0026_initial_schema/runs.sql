-- Runs (one conversation on any channel), their events, costs and values, and saved views of their list.

CREATE TABLE run_count_changes (
    id bigserial NOT NULL,
    organization_id integer NOT NULL,
    workflow_id integer NOT NULL,
    change integer NOT NULL,
    CONSTRAINT pk_run_count_changes PRIMARY KEY (id)
);

CREATE INDEX ix_run_count_changes_org ON run_count_changes (organization_id, workflow_id);

CREATE TABLE run_counts (
    workflow_id integer NOT NULL,
    organization_id integer NOT NULL,
    runs bigint NOT NULL,
    CONSTRAINT pk_run_counts PRIMARY KEY (workflow_id)
);

CREATE INDEX ix_run_counts_org ON run_counts (organization_id);

CREATE TABLE runs (
    id bigserial NOT NULL,
    organization_id integer NOT NULL,
    workflow_id integer NOT NULL,
    version_id integer NOT NULL,
    version_number integer NOT NULL,
    name varchar(200) NOT NULL,
    mode varchar(32) NOT NULL,
    direction varchar(16) NOT NULL,
    status varchar(16) DEFAULT 'initiated' NOT NULL,
    outcome varchar(32),
    result varchar(40),
    is_success boolean,
    phone_number varchar(32),
    caller_number varchar(32),
    called_number varchar(32),
    call_id varchar(128),
    call_id_lower varchar(128) COLLATE "C" GENERATED ALWAYS AS (lower(call_id COLLATE "C")) STORED,
    campaign_id integer,
    initial_context jsonb DEFAULT '{}'::jsonb NOT NULL,
    gathered_context jsonb DEFAULT '{}'::jsonb NOT NULL,
    usage jsonb DEFAULT '{}'::jsonb NOT NULL,
    latency jsonb DEFAULT '{}'::jsonb NOT NULL,
    answer_ms integer GENERATED ALWAYS AS (((latency ->> 'p50_ms')::numeric)::integer) STORED,
    tags varchar(64)[] DEFAULT '{}' NOT NULL,
    note text,
    chat_state jsonb,
    carrier_bill jsonb,
    placement jsonb,
    recording_key varchar(200),
    end_reason varchar(64),
    cost_cents integer DEFAULT 0 NOT NULL,
    duration numeric(10, 3),
    worker_id varchar(64),
    lease_until timestamptz,
    is_leased boolean GENERATED ALWAYS AS (lease_until IS NOT NULL) STORED NOT NULL,
    created_by integer,
    created_at timestamptz DEFAULT now() NOT NULL,
    started_at timestamptz,
    answered_at timestamptz,
    ended_at timestamptz,
    CONSTRAINT pk_runs PRIMARY KEY (id),
    CONSTRAINT fk_runs_organization_id FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE,
    CONSTRAINT fk_runs_workflow_id FOREIGN KEY (workflow_id) REFERENCES workflows (id) ON DELETE CASCADE,
    CONSTRAINT fk_runs_version_id FOREIGN KEY (version_id) REFERENCES workflow_versions (id) ON DELETE CASCADE
) WITH (fillfactor = 85, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.02);

CREATE INDEX ix_runs_campaign_results
    ON runs (organization_id, campaign_id, id)
    INCLUDE (result, is_success)
    WHERE result IS NOT NULL AND campaign_id IS NOT NULL;

CREATE INDEX ix_runs_created
    ON runs (created_at, id)
    INCLUDE (organization_id, workflow_id, status, outcome, direction, mode, duration, campaign_id, phone_number, call_id_lower, call_id);

CREATE INDEX ix_runs_duration_asc ON runs (duration, id);

CREATE INDEX ix_runs_duration_desc ON runs (duration DESC NULLS LAST, id DESC);

CREATE INDEX ix_runs_leased ON runs (id) WHERE is_leased;

CREATE INDEX ix_runs_live ON runs (organization_id, id) WHERE status IN ('initiated','ringing','in_progress');

CREATE INDEX ix_runs_org ON runs (organization_id, id) INCLUDE (phone_number, call_id_lower);

CREATE INDEX ix_runs_org_campaign_id ON runs (organization_id, campaign_id);

CREATE INDEX ix_runs_org_created
    ON runs (organization_id, created_at, id)
    INCLUDE (workflow_id, status, outcome, direction, mode, duration, campaign_id, phone_number, call_id_lower, answer_ms);

CREATE INDEX ix_runs_org_direction ON runs (organization_id, direction);

CREATE INDEX ix_runs_org_duration_asc ON runs (organization_id, duration, id);

CREATE INDEX ix_runs_org_duration_desc ON runs (organization_id, duration DESC NULLS LAST, id DESC);

CREATE INDEX ix_runs_org_is_success ON runs (organization_id, is_success);

CREATE INDEX ix_runs_org_mode ON runs (organization_id, mode);

CREATE INDEX ix_runs_org_outcome ON runs (organization_id, outcome);

CREATE INDEX ix_runs_org_result ON runs (organization_id, result);

CREATE INDEX ix_runs_org_status ON runs (organization_id, status);

CREATE INDEX ix_runs_results
    ON runs (organization_id, created_at)
    INCLUDE (workflow_id, result, is_success)
    WHERE result IS NOT NULL OR is_success IS NOT NULL;

CREATE INDEX ix_runs_tags ON runs USING gin (tags);

CREATE INDEX ix_runs_workflow ON runs (organization_id, workflow_id, id);

CREATE INDEX ix_runs_workflow_created
    ON runs (organization_id, workflow_id, created_at, id)
    INCLUDE (status, outcome, direction, mode, duration, campaign_id, phone_number, call_id_lower, answer_ms);

CREATE UNIQUE INDEX uq_runs_call_id ON runs (call_id, mode, organization_id) WHERE call_id IS NOT NULL;

-- Free space beside each row: it is written again with every turn of its call.
CREATE TABLE call_states (
    run_id bigint NOT NULL,
    organization_id integer NOT NULL,
    sealed bytea,
    is_over boolean DEFAULT false NOT NULL,
    updated_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_call_states PRIMARY KEY (run_id),
    CONSTRAINT fk_call_states_run_id FOREIGN KEY (run_id) REFERENCES runs (id) ON DELETE CASCADE
) WITH (fillfactor = 50);

CREATE TABLE media_tokens (
    token_sha256 bytea NOT NULL,
    run_id bigint NOT NULL,
    mode varchar(32) NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    expires_at timestamptz NOT NULL,
    used_at timestamptz,
    CONSTRAINT pk_media_tokens PRIMARY KEY (token_sha256),
    CONSTRAINT fk_media_tokens_run_id FOREIGN KEY (run_id) REFERENCES runs (id) ON DELETE CASCADE
);

CREATE INDEX ix_media_tokens_run_id ON media_tokens (run_id);

CREATE TABLE node_webhook_deliveries (
    id bigserial NOT NULL,
    organization_id integer NOT NULL,
    run_id bigint NOT NULL,
    node_id varchar(200) NOT NULL,
    status varchar(16) DEFAULT 'pending' NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    payload jsonb,
    response_status integer,
    error varchar,
    created_at timestamptz DEFAULT now() NOT NULL,
    updated_at timestamptz,
    CONSTRAINT pk_node_webhook_deliveries PRIMARY KEY (id),
    CONSTRAINT uq_node_webhook_deliveries_run_id_node_id UNIQUE (run_id, node_id),
    CONSTRAINT fk_node_webhook_deliveries_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE,
    CONSTRAINT fk_node_webhook_deliveries_run_id FOREIGN KEY (run_id) REFERENCES runs (id) ON DELETE CASCADE
);

CREATE TABLE run_analyses (
    run_id bigint NOT NULL,
    organization_id integer NOT NULL,
    status varchar(16) DEFAULT 'pending' NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    judged_by varchar(16),
    model varchar(120),
    summary text,
    criteria jsonb DEFAULT '[]'::jsonb NOT NULL,
    error text,
    created_at timestamptz DEFAULT now() NOT NULL,
    updated_at timestamptz,
    CONSTRAINT pk_run_analyses PRIMARY KEY (run_id),
    CONSTRAINT fk_run_analyses_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE,
    CONSTRAINT fk_run_analyses_run_id FOREIGN KEY (run_id) REFERENCES runs (id) ON DELETE CASCADE
);

CREATE TABLE run_cost_lines (
    id bigserial NOT NULL,
    run_id bigint NOT NULL,
    organization_id integer NOT NULL,
    kind varchar(16) NOT NULL,
    provider varchar(32) NOT NULL,
    model varchar(64) NOT NULL,
    unit varchar(16) NOT NULL,
    quantity numeric(14, 4) NOT NULL,
    unit_price_cents numeric(14, 8) NOT NULL,
    price_date date NOT NULL,
    CONSTRAINT pk_run_cost_lines PRIMARY KEY (id),
    CONSTRAINT fk_run_cost_lines_run_id FOREIGN KEY (run_id) REFERENCES runs (id) ON DELETE CASCADE
);

CREATE INDEX ix_run_cost_lines_run_id ON run_cost_lines (run_id);

CREATE TABLE run_events (
    run_id bigint NOT NULL,
    seq integer NOT NULL,
    organization_id integer NOT NULL,
    type varchar(48) NOT NULL,
    at_ms integer NOT NULL,
    data jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_run_events PRIMARY KEY (run_id, seq),
    CONSTRAINT fk_run_events_run_id FOREIGN KEY (run_id) REFERENCES runs (id) ON DELETE CASCADE
);

CREATE TABLE run_reviews (
    id bigserial NOT NULL,
    organization_id integer NOT NULL,
    run_id bigint NOT NULL,
    node_id varchar(200) NOT NULL,
    status varchar(16) DEFAULT 'pending' NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    result jsonb,
    created_at timestamptz DEFAULT now() NOT NULL,
    updated_at timestamptz,
    CONSTRAINT pk_run_reviews PRIMARY KEY (id),
    CONSTRAINT uq_run_reviews_run_id_node_id UNIQUE (run_id, node_id),
    CONSTRAINT fk_run_reviews_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE,
    CONSTRAINT fk_run_reviews_run_id FOREIGN KEY (run_id) REFERENCES runs (id) ON DELETE CASCADE
);

CREATE TABLE run_strips (
    run_id bigint NOT NULL,
    organization_id integer NOT NULL,
    seconds numeric(10, 3) NOT NULL,
    caller bytea NOT NULL,
    agent bytea NOT NULL,
    timeline jsonb NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_run_strips PRIMARY KEY (run_id),
    CONSTRAINT fk_run_strips_run_id FOREIGN KEY (run_id) REFERENCES runs (id) ON DELETE CASCADE
);

CREATE TABLE run_texts (
    run_id bigint NOT NULL,
    organization_id integer NOT NULL,
    words tsvector NOT NULL,
    CONSTRAINT pk_run_texts PRIMARY KEY (run_id),
    CONSTRAINT fk_run_texts_run_id FOREIGN KEY (run_id) REFERENCES runs (id) ON DELETE CASCADE
);

CREATE INDEX ix_run_texts_words ON run_texts USING gin (words);

CREATE TABLE run_values (
    run_id bigint NOT NULL,
    name text COLLATE "C" NOT NULL,
    organization_id integer NOT NULL,
    workflow_id integer NOT NULL,
    created_at timestamptz NOT NULL,
    value text COLLATE "C" NOT NULL,
    number numeric,
    CONSTRAINT pk_run_values PRIMARY KEY (run_id, name),
    CONSTRAINT fk_run_values_run_id FOREIGN KEY (run_id) REFERENCES runs (id) ON DELETE CASCADE
) WITH (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.02);

CREATE INDEX ix_run_values_number
    ON run_values (organization_id, name, number, created_at, run_id)
    INCLUDE (workflow_id)
    WHERE number IS NOT NULL;

CREATE INDEX ix_run_values_value
    ON run_values (organization_id, name, value, created_at, run_id)
    INCLUDE (workflow_id);

CREATE TABLE run_views (
    id serial NOT NULL,
    organization_id integer NOT NULL,
    user_id integer,
    name varchar(80) NOT NULL,
    search jsonb NOT NULL,
    is_shared boolean DEFAULT false NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    updated_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_run_views PRIMARY KEY (id),
    CONSTRAINT fk_run_views_organization_id FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE,
    CONSTRAINT fk_run_views_user_id FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
);

CREATE INDEX ix_run_views_org ON run_views (organization_id, user_id);

-- The values of both contexts that filters can find: the first 100 names of each, the first 300 characters of a value.
CREATE FUNCTION extract_run_values(initial_context jsonb, gathered_context jsonb)
RETURNS TABLE (name text, value text, number numeric) LANGUAGE sql IMMUTABLE AS $$
  SELECT pair.name, left(pair.value, 300),
    CASE WHEN length(pair.value) <= 62 AND pair.value ~ '^-?\d{1,30}(\.\d{1,30})?$' THEN pair.value::numeric END
  FROM (
    (SELECT 'context.' || key AS name, value #>> '{}' AS value FROM jsonb_each(initial_context)
     WHERE jsonb_typeof(value) IN ('string', 'number', 'boolean') AND length(key) <= 100 LIMIT 100)
    UNION ALL
    (SELECT 'gathered.' || key, value #>> '{}' FROM jsonb_each(gathered_context)
     WHERE jsonb_typeof(value) IN ('string', 'number', 'boolean') AND length(key) <= 100 LIMIT 100)
  ) AS pair
$$;

CREATE FUNCTION sync_run_values() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    DELETE FROM run_values AS stored WHERE stored.run_id = NEW.id AND NOT EXISTS (
      SELECT FROM extract_run_values(NEW.initial_context, NEW.gathered_context) AS current
      WHERE current.name = stored.name AND current.value = stored.value);
  END IF;
  INSERT INTO run_values (run_id, name, organization_id, workflow_id, created_at, value, number)
  SELECT NEW.id, current.name, NEW.organization_id, NEW.workflow_id, NEW.created_at, current.value, current.number
  FROM extract_run_values(NEW.initial_context, NEW.gathered_context) AS current
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;

CREATE TRIGGER sync_run_values_on_insert AFTER INSERT ON runs FOR EACH ROW
  WHEN (NEW.initial_context <> '{}' OR NEW.gathered_context <> '{}') EXECUTE FUNCTION sync_run_values();

CREATE TRIGGER sync_run_values_on_update AFTER UPDATE OF initial_context, gathered_context ON runs FOR EACH ROW
  WHEN (OLD.initial_context IS DISTINCT FROM NEW.initial_context
    OR OLD.gathered_context IS DISTINCT FROM NEW.gathered_context) EXECUTE FUNCTION sync_run_values();

-- Rows of changes instead of a counter that is updated: runs that begin at the same time would wait for its lock.
CREATE FUNCTION record_run_count_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO run_count_changes (organization_id, workflow_id, change)
  SELECT organization_id, workflow_id, CASE TG_OP WHEN 'INSERT' THEN count(*) ELSE -count(*) END
  FROM changed_runs GROUP BY 1, 2;
  RETURN NULL;
END $$;

CREATE TRIGGER record_run_inserts AFTER INSERT ON runs REFERENCING NEW TABLE AS changed_runs
  FOR EACH STATEMENT EXECUTE FUNCTION record_run_count_changes();

CREATE TRIGGER record_run_deletes AFTER DELETE ON runs REFERENCING OLD TABLE AS changed_runs
  FOR EACH STATEMENT EXECUTE FUNCTION record_run_count_changes();
