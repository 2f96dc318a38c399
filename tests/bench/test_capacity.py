"""The capacity model: its arithmetic by hand, and what it reads of the database's log."""

from dataclasses import replace

import pytest
from bench.capacity import describe, list_goals, list_log
from bench.sizing.costs import CallCosts, CallWindow, Cost, Measurement, fit_cost, fit_costs
from bench.sizing.figures import MEASURED_COSTS
from bench.sizing.model import Assumptions, Demand, Prices, size_installation
from bench.sizing.write_ahead_log import LogShare, add_up_log

from offhook.settings import Settings

# Round figures, so that everything below can be computed in the head.
COSTS = CallCosts(
    log=Cost(18_000, 400),
    pages=Cost(0, 100),
    rows={"runs": Cost(1, 0), "run_events": Cost(4, 0.2)},
    updates=Cost(2, 0.1),
    commits=Cost(20, 0.0),
    events={"call_ended": Cost(4, 0), "agent_said": Cost(0, 0.2)},
    server_cpu_ms=Cost(0, 5),
    worker_cpu_ms=Cost(50, 0),
    database_cpu_ms=Cost(100, 0),
    recording_bytes=Cost(0, 16_000),
    event_bytes=250,
    other_bytes=10_000,
    server_connections=12,
    worker_connections=16,
    log_by_relation={"runs": Cost(18_000, 0), "run_events": Cost(0, 400)},
)
MILLION = Demand(calls_per_day=1_000_000, minutes=3)
DUMP = """
rmgr: Heap        len (rec/tot):     80/    80, tx: 7, lsn: 0/01, prev 0/00, desc: INSERT off: 1, flags: 0x00, blkref #0: rel 1663/5/100 blk 0
rmgr: Heap        len (rec/tot):     54/  8246, tx: 7, lsn: 0/02, prev 0/01, desc: HOT_UPDATE old_xmax: 7, blkref #0: rel 1663/5/100 blk 0 FPW
rmgr: Heap        len (rec/tot):     70/    70, tx: 7, lsn: 0/03, prev 0/02, desc: UPDATE old_xmax: 7, blkref #0: rel 1663/5/100 blk 1, blkref #1: rel 1663/5/100 blk 0
rmgr: Heap        len (rec/tot):     54/    54, tx: 7, lsn: 0/03, prev 0/02, desc: LOCK xmax: 7, off: 1, blkref #0: rel 1663/5/100 blk 1
rmgr: Heap2       len (rec/tot):     90/    90, tx: 7, lsn: 0/04, prev 0/03, desc: MULTI_INSERT ntuples: 3, flags: 0x02, blkref #0: rel 1663/5/999 blk 0
rmgr: Btree       len (rec/tot):     64/    64, tx: 7, lsn: 0/05, prev 0/04, desc: INSERT_LEAF off: 2, blkref #0: rel 1663/5/101 blk 1
rmgr: Heap        len (rec/tot):     54/    54, tx: 7, lsn: 0/06, prev 0/05, desc: DELETE off: 2, blkref #0: rel 1663/5/100 blk 0
rmgr: Transaction len (rec/tot):     34/    34, tx: 7, lsn: 0/07, prev 0/06, desc: COMMIT 2026-11-25 12:00:00 UTC
pg_waldump: error: error in WAL record at 0/08: invalid record length
"""


def test_a_million_calls_a_day() -> None:
    capacity = size_installation(COSTS, MILLION)
    # 1,000,000 in 8 hours: 34.7 a second, 180 s each
    assert capacity.peak_live == 6_250
    # half a core is 500 ms, at 5 ms a call 100 calls; 63 processes and a tenth
    processes = capacity.processes
    assert (processes.calls_per_server, processes.limited_by, processes.servers) == (100, "CPU", 70)
    # 34.7 times 50 ms and times 100 ms in halves of a core: 4 and a tenth, 7
    assert (processes.workers, processes.database_cores) == (5, 7)
    connections = capacity.connections
    assert connections.usual == 70 * 12 + 5 * 16
    assert connections.most == 70 * 27 + 5 * 28
    assert connections.direct == 70 * 3 + 5 * 5
    # 694 transactions a second of 5 ms each, twice
    assert connections.pooled == 7
    writing = capacity.writing
    # 4 + 0.2 times 180 events
    assert writing.rows_a_day == pytest.approx({"run_events": 40e6, "runs": 1e6})
    assert writing.events_per_call_s == pytest.approx(40 / 180)
    # 18,000 + 400 times 180 = 90,000 bytes a call
    assert writing.log_per_call_s == pytest.approx(500)
    assert writing.log_a_day == pytest.approx(90e9)
    assert writing.log_with_pages_a_day == pytest.approx(108e9)
    assert writing.log_peak_s == pytest.approx(90_000 * 1_000_000 / 28_800)
    assert writing.days_until_freeze == pytest.approx(10)
    storage = capacity.storage
    # 40 events times 250 B + 10,000 B a call
    assert storage.database_a_day == pytest.approx(20e9)
    assert storage.database_kept == pytest.approx(1.8e12)
    assert storage.recordings_a_day == pytest.approx(2.88e12)
    assert storage.recordings_kept == pytest.approx(86.4e12)
    money = capacity.money
    assert money.cores == pytest.approx((70 + 5 + 7) * 730 * 0.04)
    assert money.disk == pytest.approx(180)
    assert money.bucket == pytest.approx((86_400 + 756) * 0.02)
    assert money.per_1000_calls == pytest.approx(money.total / 30_000)


def test_room_for_more_calls_at_once_than_the_day_brings() -> None:
    capacity = size_installation(COSTS, replace(MILLION, live=10_000))
    assert capacity.peak_live == 10_000
    assert capacity.processes.servers == 110
    assert capacity.writing.log_a_day == pytest.approx(90e9), "the day is the same"
    assert capacity.writing.log_peak_s == pytest.approx(500 * 10_000)
    assert size_installation(COSTS, replace(MILLION, live=10)).peak_live == 6_250


def test_admission_limits_calls_that_need_little_cpu() -> None:
    processes = size_installation(replace(COSTS, server_cpu_ms=Cost(0, 2)), MILLION).processes
    assert (processes.calls_per_server, processes.limited_by) == (120, "admission")


def test_the_limit_on_admission_is_the_one_of_the_settings() -> None:
    assert Assumptions().calls_per_process == Settings.model_fields["max_calls_per_process"].default


def test_calls_that_need_much_cpu_still_get_a_process_each() -> None:
    processes = size_installation(replace(COSTS, server_cpu_ms=Cost(0, 900)), Demand(1_000, 1, 10)).processes
    assert processes.calls_per_server == 1


def test_costs_come_from_calls_of_two_lengths() -> None:
    # 100 a call and 3 a second: 10 calls of 10 s, 10 of 30 s
    cost = fit_cost((10, 100.0, 1_300.0), (10, 300.0, 1_900.0))
    assert (cost.per_call, cost.per_second) == pytest.approx((100, 3))
    assert cost.of_call(180) == pytest.approx(640)
    assert cost.a_second(200) == pytest.approx(3.5)
    noise = fit_cost((10, 100.0, 1_300.0), (10, 300.0, 1_200.0))
    assert (noise.per_call, noise.per_second) == pytest.approx((125, 0))


def test_what_is_written_without_calls_is_taken_off() -> None:
    def window(calls: int, seconds: float, wall_s: float, log: int, rows: int, cpu_s: float) -> CallWindow:
        shares = {
            "pgqueuer": LogShare(updated=calls * 4),
            "runs": LogShare(changes=log, inserted=calls),
            "run_events": LogShare(inserted=rows),
            "pg_statistic": LogShare(changes=1_000_000),
        }
        return CallWindow(calls, seconds, wall_s, shares, {"agent_said": rows}, 0.5, calls, 0, cpu_s, 0.0, 0.0)

    costs = fit_costs(
        Measurement(
            idle=window(0, 0, 10, 100, 0, 1.0),
            short=window(10, 100, 20, 200 + 1_300, 100, 2.5),
            long=window(10, 300, 40, 400 + 1_900, 300, 5.5),
            grown={"run_events": 80_000, "runs": 20_000, "call_states": 900, "pg_statistic": 900},
            server_connections=12,
            worker_connections=16,
        )
    )
    assert (costs.log.per_call, costs.log.per_second) == pytest.approx((100, 3))
    assert (costs.events["agent_said"].per_call, costs.events["agent_said"].per_second) == pytest.approx((0, 1))
    assert (costs.server_cpu_ms.per_call, costs.server_cpu_ms.per_second) == pytest.approx((0, 5))
    assert (costs.event_bytes, costs.other_bytes) == pytest.approx((200, 1_000))
    assert (costs.updates.per_call, costs.updates.per_second) == pytest.approx((2, 0)), (
        "half of the jobs are the clock's"
    )
    assert set(costs.log_by_relation) == {"runs", "run_events", "pgqueuer"}


def test_the_log_is_added_up_by_table_and_index() -> None:
    shares = add_up_log(DUMP.splitlines(), {100: "runs", 101: "runs.pk_runs"})
    assert shares == {
        "runs": LogShare(changes=312, pages=8_192, records=5, inserted=1, updated=2, in_place=1, deleted=1),
        "runs.pk_runs": LogShare(changes=64, records=1),
        "(others)": LogShare(changes=90, records=1, inserted=3),
        "(Transaction)": LogShare(changes=34, records=1),
    }


def test_the_report_says_what_is_missed() -> None:
    capacity = size_installation(COSTS, MILLION)
    goals = list_goals(capacity, COSTS)
    assert [figure <= goal for figure, goal in goals.values()] == [True, True, False]
    report = describe(capacity, COSTS, Assumptions(), Prices(), "by hand")
    assert "room for 6,250 at once" in report
    assert report.count("MISSED") == 1
    assert [line.split()[0] for line in list_log(COSTS, 180)] == ["run_events", "runs"]


def test_the_figures_that_are_kept_size_an_installation() -> None:
    capacity = size_installation(MEASURED_COSTS, MILLION)
    assert capacity.processes.servers > 0
    assert capacity.money.total > 0
