"""What one call costs, as it was measured: the inputs of the model where nothing is measured anew."""

from typing import Final

from bench.sizing.costs import CallCosts, Cost

# `python -m bench.capacity --measure --measured-seconds 30`: 16 calls at once of 9 s and of 33 s, agent with one step, a turn of the
# conversation every 6 s, on two shared virtual cores beside other work; PostgreSQL 18, wal_level minimal, fresh database.
# The bench's people repeat themselves, which compresses: with prose the kept state of a call of 33 turns is 1.2 kB larger in the mean,
# which adds 0.4 kB of log a second (computed, not measured).
MEASURED_AT: Final = (
    "measured 2026-11-26, 16 calls at once; events 2026-11-29; CPU of the server 2026-11-22, 40 calls at once"
)
MEASURED_COSTS: Final = CallCosts(
    log=Cost(16_397, 574),
    # of few calls on few pages: a large installation fills each page more
    pages=Cost(2_120, 80.507),
    rows={
        "run_events": Cost(2.408, 0.458),
        "webhook_events": Cost(2.0, 0.0),
        "pgqueuer_log": Cost(0.962, 0.005),
        "audit_entries": Cost(1.0, 0.0),
        "call_states": Cost(1.0, 0.0),
        "credit_holds": Cost(1.0, 0.0),
        "media_tokens": Cost(1.0, 0.0),
        "run_count_changes": Cost(1.0, 0.0),
        "run_texts": Cost(1.0, 0.0),
        "run_usage": Cost(1.0, 0.0),
        "runs": Cost(1.0, 0.0),
        "pgqueuer": Cost(0.518, 0.0),
    },
    updates=Cost(12.586, 0.656),
    # batches of all calls of a process are one transaction
    commits=Cost(20.982, 0.0),
    events={
        "agent_said": Cost(-0.415, 0.177),
        "caller_said": Cost(-1.374, 0.18),
        "turn_timed": Cost(-0.021, 0.003),
        "interruption_judged": Cost(-0.528, 0.066),
        "barged_in": Cost(-0.254, 0.032),
        "call_ended": Cost(1.0, 0.0),
        "recording_started": Cost(1.0, 0.0),
        "node_entered": Cost(1.0, 0.0),
        "call_started": Cost(1.0, 0.0),
        "usage_counted": Cost(1.0, 0.0),
    },
    # a second: `bench.voice --calls 40` with nothing else on the machine (docs/performance.md). The other CPU times were taken beside
    # other work, where the same server needed 12.269 ms a second: they are upper bounds.
    server_cpu_ms=Cost(141, 5.2),
    worker_cpu_ms=Cost(8.169, 0.094),
    database_cpu_ms=Cost(83.416, 0.879),
    # WAV, both sides, 16 bits at 8 kHz
    recording_bytes=Cost(44, 32_000),
    event_bytes=402,
    other_bytes=11_776,
    server_connections=12,
    worker_connections=12,
    # the largest ones
    log_by_relation={
        "call_states": Cost(-597, 238),
        "run_events": Cost(14.857, 153),
        "runs": Cost(2_013, 88.715),
        "run_events.pk_run_events": Cost(48.667, 50.83),
        "run_texts": Cost(75.663, 19.139),
        "run_texts.ix_run_texts_words": Cost(157, 16.086),
        "run_usage": Cost(572, 10.087),
        "webhook_events": Cost(1_688, 0.0),
        "model_usage_buckets": Cost(248, 7.26),
        "(Transaction)": Cost(211, 6.738),
        "runs.ix_runs_tags": Cost(609, 1.802),
        "audit_entries": Cost(316, 3.048),
        "run_count_changes": Cost(42.52, 4.307),
        "runs.ix_runs_org_created": Cost(476, 0.0),
        "runs.ix_runs_created": Cost(470, 0.0),
        "runs.ix_runs_workflow_created": Cost(470, 0.0),
    },
)
