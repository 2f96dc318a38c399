"""From what one call costs to an installation for a million calls a day: processes, connections, rows, disk, money.

    python -m bench.capacity [--calls N] [--minutes M] [--live N] [--measure] [--json]

Without ``--measure`` the figures of ``bench/sizing/figures.py`` are used, which say when and how they were measured. With it they are taken
on this machine: calls of two lengths over media sockets to the real server with its embedded database and a job process, with vendors of fixed
delay, a turn of a conversation every six seconds (about a minute in all). CPU is only worth something with nothing else on the machine.
"""

import argparse
import asyncio
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Final

from bench.sizing.costs import CallCosts, Cost, fit_costs
from bench.sizing.figures import MEASURED_AT, MEASURED_COSTS
from bench.sizing.measurement import measure_costs
from bench.sizing.model import Assumptions, Capacity, Demand, Prices, size_installation

# What a call may cost, by the requirements of large installations.
GOALS: Final = {
    "log, bytes per call-second": 1000.0,
    "events, rows per call-second": 0.5,
    "connections kept by a process": 12.0,
}


def describe(capacity: Capacity, costs: CallCosts, assumed: Assumptions, prices: Prices, source: str) -> str:
    """Returns the report that a person reads."""
    return "\n".join(
        [*_describe_costs(capacity, costs, source), "", *_describe_size(capacity, assumed, prices), ""]
    ).rstrip()


def list_goals(capacity: Capacity, costs: CallCosts) -> dict[str, tuple[float, float]]:
    """Returns (what it is, the goal) by name."""
    figures = (
        capacity.writing.log_per_call_s,
        capacity.writing.events_per_call_s,
        float(max(costs.server_connections, costs.worker_connections)),
    )
    return {name: (figure, goal) for (name, goal), figure in zip(GOALS.items(), figures, strict=True)}


def _describe_costs(capacity: Capacity, costs: CallCosts, source: str) -> Iterator[str]:
    seconds = capacity.demand.seconds
    yield f"One call of {capacity.demand.minutes:g} minutes ({source})"
    for name, cost, unit in (
        ("CPU of the server", costs.server_cpu_ms, "ms"),
        ("CPU of workers", costs.worker_cpu_ms, "ms"),
        ("CPU of the database", costs.database_cpu_ms, "ms"),
        ("write-ahead log", costs.log, "B"),
        ("… whole pages after a checkpoint", costs.pages, "B"),
        ("events", _add_up(costs.events), "rows"),
        ("rows inserted", _add_up(costs.rows), "rows"),
        ("rows updated", costs.updates, "rows"),
        ("transactions", costs.commits, ""),
        ("recording", costs.recording_bytes, "B"),
    ):
        yield (
            f"  {name:34}{cost.per_call:12,.1f} + {cost.per_second:10,.2f} a second ="
            f" {cost.a_second(seconds):10,.2f} {unit} per call-second"
        )
    for name, (figure, goal) in list_goals(capacity, costs).items():
        yield f"  {name:34}{figure:12,.2f}   goal {goal:g}: {'met' if figure <= goal else 'MISSED'}"


def _describe_size(capacity: Capacity, assumed: Assumptions, prices: Prices) -> Iterator[str]:
    demand, processes, connections = capacity.demand, capacity.processes, capacity.connections
    writing, storage, money = capacity.writing, capacity.storage, capacity.money
    yield f"{demand.calls_per_day:,.0f} calls a day in {demand.busy_hours:g} busy hours, room for {capacity.peak_live:,} at once"
    yield (
        f"  servers     {processes.servers} of a core each, {processes.calls_per_server} calls at most"
        f" (limited by {processes.limited_by}), {assumed.spare:.0%} of them spare"
    )
    yield f"  workers     {processes.workers};  database {processes.database_cores} cores"
    yield f"  connections {connections.usual:,} usual, {connections.most:,} at most"
    yield f"  … PgBouncer {connections.direct:,} direct, {connections.pooled:,} for transactions"
    rows = ", ".join(f"{name} {count / 1e6:,.1f} M" for name, count in list(writing.rows_a_day.items())[:8])
    yield f"  rows        {writing.rows_peak_s:,.0f} a second at the peak; a day: {rows}"
    yield (
        f"  log         {writing.log_peak_s / 1e6:,.1f} MB/s at the peak, {writing.log_a_day / 1e9:,.0f} GB a day"
        f" ({writing.log_with_pages_a_day / 1e9:,.0f} with whole pages)"
    )
    yield (
        f"  commits     {writing.transactions_peak_s:,.0f} a second at the peak;"
        f" old rows are frozen every {writing.days_until_freeze:,.1f} days"
    )
    yield (
        f"  database    {storage.database_a_day / 1e9:,.1f} GB a day, {storage.database_a_month / 1e12:,.2f} TB a month;"
        f" {storage.database_kept / 1e12:,.2f} TB when runs are kept {assumed.runs_days} days"
    )
    yield (
        f"  recordings  {storage.recordings_a_day / 1e12:,.2f} TB a day;"
        f" {storage.recordings_kept / 1e12:,.1f} TB when kept {assumed.recordings_days} days"
    )
    yield f"  log archive {storage.log_kept / 1e12:,.2f} TB in {assumed.log_days} days"
    yield (
        f"  money       ${money.total:,.0f} a month: cores {money.cores:,.0f}, disk {money.disk:,.0f}, bucket"
        f" {money.bucket:,.0f}; ${money.per_1000_calls:,.2f} per 1,000 calls"
    )
    yield (
        f"  assumed     {assumed.cpu_share:.0%} of a core planned for; ${prices.core_hour:g} a core-hour, ${prices.disk_gb_month:g} and"
        f" ${prices.bucket_gb_month:g} a GB-month of disk and bucket; carriers, models and traffic are not in it"
    )


def _add_up(costs: Mapping[str, Cost]) -> Cost:
    return Cost(sum(one.per_call for one in costs.values()), sum(one.per_second for one in costs.values()))


def list_log(costs: CallCosts, seconds: float) -> Iterator[str]:
    """Yields the tables and indexes that most of the log is for."""
    shares = sorted(costs.log_by_relation.items(), key=lambda row: -row[1].of_call(seconds))
    for name, cost in shares[:15]:
        yield f"  {name:44}{cost.a_second(seconds):8.1f} B per call-second"


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=float, default=1_000_000, help="calls a day")
    parser.add_argument("--minutes", type=float, default=3.0, help="mean length of a call")
    parser.add_argument("--busy-hours", type=float, default=8.0, help="the day's calls come in so many hours")
    parser.add_argument("--live", type=int, help="room for so many calls at once, if that is more")
    parser.add_argument("--cpu-share", type=float, default=0.5, help="of a core that is planned for")
    parser.add_argument("--runs-days", type=int, default=90, help="how long runs are kept (Offhook itself: forever)")
    parser.add_argument("--recordings-days", type=int, default=30, help="how long recordings are kept")
    parser.add_argument("--core-hour", type=float, default=0.04, help="dollars for an hour of a core")
    parser.add_argument(
        "--disk-gb-month", type=float, default=0.10, help="dollars for a GB-month of the database's disk"
    )
    parser.add_argument("--bucket-gb-month", type=float, default=0.02, help="dollars for a GB-month of the bucket")
    parser.add_argument("--measure", action="store_true", help="measure what a call costs on this machine first")
    parser.add_argument("--measured-calls", type=int, default=16, help="with --measure: calls at once, twice")
    parser.add_argument(
        "--measured-seconds", type=float, default=20.0, help="with --measure: length of the longer calls"
    )
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def main() -> None:
    asked = parse_arguments()
    costs, source = MEASURED_COSTS, MEASURED_AT
    if asked.measure:
        costs = fit_costs(asyncio.run(measure_costs(asked.measured_calls, asked.measured_seconds)))
        source = f"measured now, {asked.measured_calls} calls at once"
    demand = Demand(asked.calls, asked.minutes, asked.busy_hours, asked.live)
    assumed = Assumptions(cpu_share=asked.cpu_share, runs_days=asked.runs_days, recordings_days=asked.recordings_days)
    prices = Prices(asked.core_hour, asked.disk_gb_month, asked.bucket_gb_month)
    capacity = size_installation(costs, demand, assumed, prices)
    if asked.json:
        parts = {"source": source, "costs": costs, "goals": list_goals(capacity, costs), "assumptions": assumed}
        print(json.dumps({**parts, "prices": prices, "capacity": capacity}, default=asdict))
        return
    print(describe(capacity, costs, assumed, prices, source))
    if asked.measure:
        print("\nThe log of these calls, by table and index:")
        print("\n".join(list_log(costs, demand.seconds)))


if __name__ == "__main__":
    main()
