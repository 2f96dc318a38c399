"""What one call costs, as it was measured: the inputs of the model where nothing is measured anew."""

from typing import Final

from bench.sizing.costs import CallCosts, Cost

# `python -m bench.capacity --measure`: 24 calls at once of 11 s and of 33 s, agent with one step, a turn of the conversation every
# 5.5 s, on two shared virtual cores beside other work; PostgreSQL 18, wal_level minimal, fresh database.
# The bench's people repeat themselves, which compresses: with prose the kept state of a call of 33 turns is 1.2 kB larger in the mean,
# which adds 0.4 kB of log a second (computed, not measured).
MEASURED_AT: Final = "measured 2026-11-25, 24 calls at once; CPU of the server 2026-11-22, 40 calls at once"
MEASURED_COSTS: Final = CallCosts(
    log=Cost(15_675, 688),
    # of few calls on few pages: larger than at the same load of a large installation, which fills each page more
    pages=Cost(0.0, 252),
    rows={
        "run_events": Cost(-2.581, 0.985),
        "webhook_events": Cost(2.0, 0.0),
        "pgqueuer_log": Cost(1.201, 0.0),
        "pgqueuer": Cost(1.056, 0.0),
        "audit_entries": Cost(1.0, 0.0),
        "call_states": Cost(1.0, 0.0),
        "credit_holds": Cost(1.0, 0.0),
        "media_tokens": Cost(1.0, 0.0),
        "run_count_changes": Cost(1.0, 0.0),
        "run_texts": Cost(1.0, 0.0),
        "run_usage": Cost(1.0, 0.0),
        "runs": Cost(1.0, 0.0),
    },
    updates=Cost(12.827, 0.7),
    # batches of all calls of a process are one transaction
    commits=Cost(23.418, 0.0),
    events={
        "caller_started": Cost(-1.19, 0.192),
        "caller_stopped": Cost(-1.732, 0.192),
        "agent_said": Cost(-0.689, 0.18),
        "turn_timed": Cost(-1.689, 0.18),
        "caller_said": Cost(-1.585, 0.178),
        "interruption_judged": Cost(-0.59, 0.054),
        "barged_in": Cost(-0.105, 0.01),
        "call_started": Cost(1.0, 0.0),
        "usage_counted": Cost(1.0, 0.0),
        "call_ended": Cost(1.0, 0.0),
        "recording_started": Cost(1.0, 0.0),
        "node_entered": Cost(1.0, 0.0),
    },
    # a second: `bench.voice --calls 40` with nothing else on the machine (docs/performance.md). The other CPU times were taken beside
    # other work, where the same server needed 12.4 ms a second: they are upper bounds.
    server_cpu_ms=Cost(131, 5.2),
    worker_cpu_ms=Cost(4.398, 0.0),
    database_cpu_ms=Cost(73.763, 0.787),
    # WAV, both sides, 16 bits at 8 kHz
    recording_bytes=Cost(44, 32_000),
    event_bytes=324,
    other_bytes=12_629,
    server_connections=12,
    worker_connections=16,
    # the largest ones
    log_by_relation={
        "call_states": Cost(-1_545, 270),
        "run_events": Cost(-676, 207),
        "runs": Cost(1_996, 92.629),
        "run_events.pk_run_events": Cost(-354, 86.183),
        "run_texts": Cost(76.193, 18.931),
        "run_texts.ix_run_texts_words": Cost(195, 14.892),
        "run_usage": Cost(647, 7.755),
        "webhook_events": Cost(1_687, 0.0),
        "model_usage_buckets": Cost(289, 6.607),
        "(Transaction)": Cost(197, 3.774),
        "runs.ix_runs_tags": Cost(606, 0.872),
        "runs.ix_runs_org_created": Cost(457, 1.468),
        "pgqueuer_log": Cost(625, 0.0),
        "runs.ix_runs_created": Cost(464, 0.0),
        "runs.ix_runs_workflow_created": Cost(464, 0.0),
        "pgqueuer": Cost(284, 0.993),
    },
)
