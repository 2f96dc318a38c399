"""What one call costs, fitted from calls of two lengths: a part for each call and a part for each of its seconds."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from bench.sizing.write_ahead_log import LogShare

# Written for the installation and not for calls: a large one writes no more of it.
_OWN_TABLES: Final = ("pg_", "(others)", "job_schedules", "nodes", "installation", "pgqueuer_statistics")
# Jobs of calls and jobs of the clock lie in the same tables.
_QUEUE: Final = "pgqueuer"
# Rows that are gone when the call is over, or two weeks later.
_PASSING_TABLES: Final = frozenset({"call_states", "pgqueuer", "pgqueuer_log", "credit_holds", "run_count_changes"})


@dataclass(frozen=True, slots=True)
class CallWindow:
    """What was done in ``wall_s`` seconds: ``calls`` of ``call_seconds`` in all, with what followed them; ``log`` by table or
    index, ``events`` by type; ``job_share``: the part of the jobs that calls left, not the clock."""

    calls: int
    call_seconds: float
    wall_s: float
    log: Mapping[str, LogShare]
    events: Mapping[str, int]
    job_share: float
    commits: int
    recording_bytes: int
    server_cpu_s: float
    worker_cpu_s: float
    database_cpu_s: float


@dataclass(frozen=True, slots=True)
class Measurement:
    """``idle`` without calls, then ``short`` and ``long`` calls. ``grown``: bytes by table with its indexes. Connections are
    those that a process keeps."""

    idle: CallWindow
    short: CallWindow
    long: CallWindow
    grown: Mapping[str, int]
    server_connections: int
    worker_connections: int


@dataclass(frozen=True, slots=True)
class Cost:
    """``per_call`` and, besides, ``per_second`` of a call."""

    per_call: float
    per_second: float

    def of_call(self, seconds: float) -> float:
        return self.per_call + self.per_second * seconds

    def a_second(self, seconds: float) -> float:
        """Returns the mean per call-second of calls of this length."""
        return self.of_call(seconds) / seconds


@dataclass(frozen=True, slots=True)
class CallCosts:
    """``log``: bytes of write-ahead log; ``pages``: of whole pages in it, which depend on how often the database makes
    checkpoints. ``rows``: inserted, by table; ``updates``: of all tables. ``row_bytes``: on disk with indexes, of one event;
    ``other_bytes``: of the other tables, a call. CPU is in milliseconds. Connections are those that a process keeps."""

    log: Cost
    pages: Cost
    rows: Mapping[str, Cost]
    updates: Cost
    commits: Cost
    events: Mapping[str, Cost]
    server_cpu_ms: Cost
    worker_cpu_ms: Cost
    database_cpu_ms: Cost
    recording_bytes: Cost
    event_bytes: float
    other_bytes: float
    server_connections: int
    worker_connections: int
    log_by_relation: Mapping[str, Cost] = field(default_factory=dict)


def fit_cost(short: tuple[int, float, float], long: tuple[int, float, float]) -> Cost:
    """Solves for the two parts from (calls, call-seconds, amount) of short and of long calls.

    The part for each call is negative where the first seconds cost less than the others. Where long calls cost less than short
    ones, which is noise, the mean of a call is all there is.
    """
    (few_calls, few_s, few), (calls, seconds, amount) = short, long
    determinant = few_calls * seconds - calls * few_s
    per_second = (few_calls * amount - calls * few) / determinant
    if per_second < 0:
        return Cost((few + amount) / (few_calls + calls), 0.0)
    return Cost((few * seconds - amount * few_s) / determinant, per_second)


def fit_costs(measured: Measurement) -> CallCosts:
    """Returns the costs of calls, less what is written and done without calls in the same time."""

    def fit(read: Callable[[CallWindow], float], *, has_idle: bool = True) -> Cost:
        idle_s = read(measured.idle) / measured.idle.wall_s if has_idle else 0.0
        short, long = [
            (window.calls, window.call_seconds, max(0.0, read(window) - idle_s * window.wall_s))
            for window in (measured.short, measured.long)
        ]
        return fit_cost(short, long)

    def fit_share(name: str, field_name: str) -> Cost:
        return fit(lambda window: _amount(window, name, field_name))

    def fit_sum(field_name: str) -> Cost:
        return fit(lambda window: sum(_amount(window, name, field_name) for name in relations))

    def fit_events(name: str) -> Cost:
        return fit(lambda window: float(window.events.get(name, 0)), has_idle=False)

    relations = sorted(
        {name for window in (measured.short, measured.long) for name in window.log if _is_of_calls(name)}
    )
    types = Counter(measured.short.events) + Counter(measured.long.events)
    kept = {name: size for name, size in measured.grown.items() if _is_of_calls(name) and name not in _PASSING_TABLES}
    return CallCosts(
        log=fit_sum("changes"),
        pages=fit_sum("pages"),
        rows={name: fit_share(name, "inserted") for name in relations if _amount(measured.long, name, "inserted")},
        updates=fit_sum("updated"),
        commits=fit(lambda window: window.commits),
        events={name: fit_events(name) for name in types},
        server_cpu_ms=fit(lambda window: window.server_cpu_s * 1000),
        worker_cpu_ms=fit(lambda window: window.worker_cpu_s * 1000),
        database_cpu_ms=fit(lambda window: window.database_cpu_s * 1000),
        recording_bytes=fit(lambda window: window.recording_bytes, has_idle=False),
        event_bytes=kept.pop("run_events", 0) / sum(types.values()),
        other_bytes=sum(kept.values()) / (measured.short.calls + measured.long.calls),
        server_connections=measured.server_connections,
        worker_connections=measured.worker_connections,
        log_by_relation={name: fit_share(name, "changes") for name in relations},
    )


def _amount(window: CallWindow, name: str, field_name: str) -> float:
    amount = float(getattr(window.log.get(name, LogShare()), field_name))
    return amount * window.job_share if name.startswith(_QUEUE) else amount


def _is_of_calls(name: str) -> bool:
    return not name.startswith(_OWN_TABLES)
