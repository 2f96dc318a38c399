-- What repeats by the clock; the queue's own tables are in pgqueuer.sql.

CREATE TABLE job_schedules (
    name varchar(100) NOT NULL,
    next_at timestamptz NOT NULL,
    CONSTRAINT pk_job_schedules PRIMARY KEY (name)
);
