"""From what one call costs to an installation: processes, connections, rows, write-ahead log, disk, money. Pure arithmetic."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Final

from bench.sizing.costs import CallCosts

DAY_S: Final = 86_400
MONTH_DAYS: Final = 30
MONTH_HOURS: Final = 730
# PostgreSQL freezes old rows after this many transactions (autovacuum_freeze_max_age).
FREEZE_AGE: Final = 200_000_000


@dataclass(frozen=True, slots=True)
class Demand:
    """``busy_hours``: the day's calls come evenly in so many hours, which makes the peak 24 / ``busy_hours`` times the mean
    of the day. ``live``: calls at once that there must be room for; None: those of the busy hours."""

    calls_per_day: float = 1_000_000
    minutes: float = 3.0
    busy_hours: float = 8.0
    live: int | None = None

    @property
    def seconds(self) -> float:
        return self.minutes * 60

    @property
    def peak_calls_s(self) -> float:
        """Returns calls that begin in a second of the busy hours, or as many as keep ``live`` of them going."""
        busy = self.calls_per_day / (self.busy_hours * 3600)
        return busy if self.live is None else max(busy, self.live / self.seconds)

    @property
    def peak_live(self) -> int:
        return ceil(self.peak_calls_s * self.seconds)


@dataclass(frozen=True, slots=True)
class Assumptions:
    """What is not measured. ``cpu_share``: how much of a core is planned for, so that a peak and a neighbor's garbage
    collection leave the audio alone. ``spare``: processes beyond those, for replacement and loss. ``transaction_s``: how long a transaction
    holds a connection. Connections ``most_…`` are the limits of the pools, ``direct_…`` those past the pooler. Days: how long
    runs, recordings and archived log are kept."""

    cpu_share: float = 0.5
    calls_per_process: int = 120
    spare: float = 0.1
    transaction_s: float = 0.005
    most_server_connections: int = 27
    most_worker_connections: int = 28
    direct_server_connections: int = 3
    direct_worker_connections: int = 5
    runs_days: int = 90
    recordings_days: int = 30
    log_days: int = 7


@dataclass(frozen=True, slots=True)
class Prices:
    """Dollars. Round figures near public list prices, assumed on 2026-11-25 and not looked up: replace them by yours."""

    core_hour: float = 0.04
    disk_gb_month: float = 0.10
    bucket_gb_month: float = 0.02


@dataclass(frozen=True, slots=True)
class Processes:
    """``calls_per_server`` is the smaller one of what the CPU and the limit on admission allow."""

    calls_per_server: int
    limited_by: str
    servers: int
    workers: int
    database_cores: int


@dataclass(frozen=True, slots=True)
class Connections:
    """``usual``: what the processes keep; ``most``: the limits of their pools. With PgBouncer, ``direct`` stay and ``pooled``
    are what its transactions need at the peak."""

    usual: int
    most: int
    direct: int
    pooled: int


@dataclass(frozen=True, slots=True)
class Writing:
    """Rows are inserted ones. ``log``: bytes of write-ahead log without whole pages, ``log_with_pages`` with as many of them as
    were measured; ``peak`` is a second of the peak. ``days_until_freeze``: how soon old rows are frozen."""

    rows_a_day: Mapping[str, float]
    rows_peak_s: float
    events_per_call_s: float
    log_per_call_s: float
    log_peak_s: float
    log_a_day: float
    log_with_pages_a_day: float
    transactions_peak_s: float
    days_until_freeze: float


@dataclass(frozen=True, slots=True)
class Storage:
    """Bytes. ``kept`` is what there is once as much is deleted as is added."""

    database_a_day: float
    database_a_month: float
    database_kept: float
    recordings_a_day: float
    recordings_kept: float
    log_kept: float


@dataclass(frozen=True, slots=True)
class Money:
    """Dollars a month. Carriers and vendors of models are not in it, and cost much more."""

    cores: float
    disk: float
    bucket: float
    per_1000_calls: float

    @property
    def total(self) -> float:
        return self.cores + self.disk + self.bucket


@dataclass(frozen=True, slots=True)
class Capacity:
    demand: Demand
    peak_live: int
    processes: Processes
    connections: Connections
    writing: Writing
    storage: Storage
    money: Money


def size_installation(
    costs: CallCosts, demand: Demand, assumed: Assumptions | None = None, prices: Prices | None = None
) -> Capacity:
    """Returns what ``demand`` needs."""
    assumed = assumed or Assumptions()
    processes = count_processes(costs, demand, assumed)
    writing = add_up_writing(costs, demand)
    storage = add_up_storage(costs, demand, assumed)
    return Capacity(
        demand=demand,
        peak_live=demand.peak_live,
        processes=processes,
        connections=count_connections(costs, processes, writing.transactions_peak_s, assumed),
        writing=writing,
        storage=storage,
        money=add_up_money(processes, storage, demand, prices or Prices()),
    )


def count_processes(costs: CallCosts, demand: Demand, assumed: Assumptions) -> Processes:
    """Returns the processes for the peak; a server uses one core, and so does a worker."""
    planned_ms = assumed.cpu_share * 1000
    by_cpu = int(planned_ms / costs.server_cpu_ms.a_second(demand.seconds))
    calls_per_server = max(1, min(by_cpu, assumed.calls_per_process))
    worker_ms = costs.worker_cpu_ms.of_call(demand.seconds) * demand.peak_calls_s
    database_ms = costs.database_cpu_ms.of_call(demand.seconds) * demand.peak_calls_s
    return Processes(
        calls_per_server=calls_per_server,
        limited_by="CPU" if by_cpu < assumed.calls_per_process else "admission",
        servers=_add_spare(demand.peak_live / calls_per_server, assumed.spare),
        workers=max(2, _add_spare(worker_ms / planned_ms, assumed.spare)),
        database_cores=max(2, ceil(database_ms / planned_ms)),
    )


def _add_spare(processes: float, spare: float) -> int:
    # rounded first: 100 and a tenth are 110, not 110.00000000000001
    return ceil(round(ceil(processes) * (1 + spare), 6))


def count_connections(
    costs: CallCosts, processes: Processes, transactions_s: float, assumed: Assumptions
) -> Connections:
    """Returns connections; those of the pooler by Little's law, twice for bursts."""
    servers, workers = processes.servers, processes.workers
    return Connections(
        usual=servers * costs.server_connections + workers * costs.worker_connections,
        most=servers * assumed.most_server_connections + workers * assumed.most_worker_connections,
        direct=servers * assumed.direct_server_connections + workers * assumed.direct_worker_connections,
        pooled=max(2, ceil(2 * transactions_s * assumed.transaction_s)),
    )


def add_up_writing(costs: CallCosts, demand: Demand) -> Writing:
    seconds, day, peak = demand.seconds, demand.calls_per_day, demand.peak_calls_s
    rows = {name: cost.of_call(seconds) for name, cost in costs.rows.items()}
    log, pages = costs.log.of_call(seconds), costs.pages.of_call(seconds)
    transactions = costs.commits.of_call(seconds)
    return Writing(
        rows_a_day={name: count * day for name, count in sorted(rows.items(), key=lambda row: -row[1])},
        rows_peak_s=sum(rows.values()) * peak,
        events_per_call_s=sum(cost.a_second(seconds) for cost in costs.events.values()),
        log_per_call_s=log / seconds,
        log_peak_s=log * peak,
        log_a_day=log * day,
        log_with_pages_a_day=(log + pages) * day,
        transactions_peak_s=transactions * peak,
        days_until_freeze=FREEZE_AGE / (transactions * day),
    )


def add_up_storage(costs: CallCosts, demand: Demand, assumed: Assumptions) -> Storage:
    events = sum(cost.of_call(demand.seconds) for cost in costs.events.values())
    database = (events * costs.event_bytes + costs.other_bytes) * demand.calls_per_day
    recordings = costs.recording_bytes.of_call(demand.seconds) * demand.calls_per_day
    log = (costs.log.of_call(demand.seconds) + costs.pages.of_call(demand.seconds)) * demand.calls_per_day
    return Storage(
        database_a_day=database,
        database_a_month=database * MONTH_DAYS,
        database_kept=database * assumed.runs_days,
        recordings_a_day=recordings,
        recordings_kept=recordings * assumed.recordings_days,
        log_kept=log * assumed.log_days,
    )


def add_up_money(processes: Processes, storage: Storage, demand: Demand, prices: Prices) -> Money:
    """All processes run all day; the log's archive lies in the bucket."""
    cores = processes.servers + processes.workers + processes.database_cores
    money = Money(
        cores=cores * MONTH_HOURS * prices.core_hour,
        disk=storage.database_kept / 1e9 * prices.disk_gb_month,
        bucket=(storage.recordings_kept + storage.log_kept) / 1e9 * prices.bucket_gb_month,
        per_1000_calls=0.0,
    )
    calls = demand.calls_per_day * MONTH_DAYS
    return Money(money.cores, money.disk, money.bucket, money.total / calls * 1000)
