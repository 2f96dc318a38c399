"""The faults of the cluster bench. A case places calls, does something to the cluster, and says what callers heard."""

import asyncio
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from bench import cluster_upgrade
from bench.cluster_callers import ClusterCaller, caller_speech, render_seconds
from bench.cluster_rig import Cluster, Node
from bench.cluster_tenant import CALLED

# Of one call in the rolling restart: a drain lasts about as long.
CALL_S: Final = 20.0
# In the upgrade, in which ten processes drain one after another.
SHORT_CALL_S: Final = 8.0
DRAIN_TIMEOUT_S: Final = 100.0
SETTLE_TIMEOUT_S: Final = 40.0
# The goal for calls of a process that was killed, and how long a caller waits for it at most.
SPEAKS_AGAIN_S: Final = 3.0
WAIT_AGAIN_S: Final = 12.0
ROOM_OF_FULL: Final = 2
# Of a recording, what a killed process may lose: less than a second, which touches two.
LOST_SECONDS: Final = 2
RECORDINGS_TIMEOUT_S: Final = 60.0
OUR_FAULTS: Final = ("worker_lost", "server_stopped", "media_lost")


@dataclass(frozen=True)
class Sizes:
    """``calls`` at once; how long the database is away, and how long one process is cut off from it."""

    calls: int = 30
    away_s: float = 15.0
    cut_off_s: float = 30.0
    rows: int = 1_000_000


class Load:
    """The callers of one case."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.callers: list[ClusterCaller] = []
        self._speech = caller_speech()
        self._loop = asyncio.get_running_loop()

    async def begin(self, calls: int, *, every_s: float = 0.25, call_s: float | None = None) -> None:
        """Lets this many callers call, and waits until each of them has heard something or its call is over."""
        callers = []
        for _ in range(calls):
            callers.append(self.call(call_s))
            await asyncio.sleep(every_s)
        with suppress(TimeoutError):
            async with asyncio.timeout(15):
                while not all(caller.sounds or caller.call.is_over for caller in callers):  # noqa: ASYNC110 - others talk
                    await asyncio.sleep(0.1)

    def call(self, call_s: float | None = None) -> ClusterCaller:
        until = None if call_s is None else self._loop.time() + call_s
        caller = ClusterCaller(self._speech, until)
        self.callers.append(caller)
        caller.call_in(self.cluster.carrier, f"+1212555{len(self.callers):04d}", CALLED)
        return caller

    async def churn(self, calls: int, call_s: float) -> None:
        """Keeps this many calls going, each of this length, until canceled."""
        began = self._loop.time()
        while True:
            live = [caller for caller in self.callers if not caller.call.is_over]
            if len(live) < calls:
                # the first calls are shorter, so that ends are spread
                share = len(self.callers) / calls if self._loop.time() - began < call_s else 1.0
                self.call(call_s * max(0.3, min(1.0, share)))
            await asyncio.sleep(call_s / calls / 2)

    async def end(self) -> None:
        """Lets all callers hang up, and waits until no run is live."""
        for caller in self.callers:
            if not caller.call.is_over:
                caller.hang_up()
        await asyncio.sleep(1)
        with suppress(TimeoutError):
            async with asyncio.timeout(SETTLE_TIMEOUT_S):
                while await self.cluster.tenant.live_runs():  # noqa: ASYNC110 - other processes
                    await asyncio.sleep(0.5)


async def summarize(cluster: Cluster, load: Load, **figures: Any) -> dict[str, Any]:
    """Ends the case; returns its figures and those that every case has."""
    cut = sum(caller.was_cut for caller in load.callers)
    await load.end()
    talked = [caller for caller in load.callers if caller.has_heard_agent]
    ids = [caller.run_id for caller in talked if caller.run_id is not None]
    runs = await cluster.tenant.runs(ids)
    complete = await _complete_recordings(cluster, talked)
    return {
        "calls": len(load.callers),
        "talked": len(talked),
        "cut": cut,
        "silent": sum(caller.heard_silence for caller in load.callers),
        "refused_busy": sum(caller.call.rejected == "busy" for caller in load.callers),
        "told_unavailable": sum(caller.was_told_unavailable for caller in load.callers),
        "carrier_errors": sum("application error" in text for caller in load.callers for text in caller.call.spoken),
        "unanswered_turns": sum(caller.unanswered for caller in load.callers),
        "longest_gap_s": render_seconds([caller.gap_s for caller in talked]),
        "recordings_complete": complete,
        "left_live": await cluster.tenant.live_runs(),
        "interrupted_by_us": sum(run.end_reason in OUR_FAULTS for run in runs),
        "ends": _count([f"{run.status}/{run.end_reason}" for run in runs]),
        **figures,
    }


async def _complete_recordings(cluster: Cluster, callers: list[ClusterCaller]) -> int:
    """Returns how many calls have a recording, on each server, with all that they heard. A server that lost a call adds
    its part within half a minute of the call's end."""
    left, loop = list(callers), asyncio.get_running_loop()
    deadline = loop.time() + RECORDINGS_TIMEOUT_S
    while left and loop.time() < deadline:
        left = [caller for caller in left if not await _is_recorded(cluster, caller)]
        if left:
            await asyncio.sleep(2)
    return len(callers) - len(left)


async def _is_recorded(cluster: Cluster, caller: ClusterCaller) -> bool:
    if caller.run_id is None or caller.ended_at is None or caller.answered_at is None:
        return False
    heard = {int(sound.at - caller.answered_at) for sound in caller.sounds if sound.stream}
    for server in cluster.servers:
        length, speaks = await cluster.recording(caller.run_id, server)
        near = {second + offset for second in speaks for offset in (-1, 0, 1)}
        if length < (caller.ended_at - caller.answered_at) - 2.5 or len(heard - near) > LOST_SECONDS:
            return False
    return True


def _count(values: list[str]) -> dict[str, int]:
    return {value: values.count(value) for value in sorted(set(values))}


async def rolling_restart(cluster: Cluster, sizes: Sizes) -> dict[str, Any]:
    """Every server in turn gets SIGTERM, drains and starts again, under calls that come and go."""
    load = Load(cluster)
    churn = asyncio.create_task(load.churn(sizes.calls, CALL_S))
    await asyncio.sleep(CALL_S)
    drained, loop = [], asyncio.get_running_loop()
    for server in cluster.servers:
        began = loop.time()
        server.send_signal(signal.SIGTERM)
        if await server.wait_ended(DRAIN_TIMEOUT_S):
            drained.append(loop.time() - began)
        await cluster.restart(server)
    churn.cancel()
    found = await summarize(cluster, load, drain_s=render_seconds(drained))
    goal = found["cut"] == 0 and not found["silent"] and len(drained) == len(cluster.servers)
    return {"goal": "0 cut", "is_met": goal and not found["carrier_errors"], **found}


async def kill_server(cluster: Cluster, sizes: Sizes) -> dict[str, Any]:
    """``kill -9`` of one server; its carrier asks what follows, and another server goes on with its calls."""
    load, loop = Load(cluster), asyncio.get_running_loop()
    await load.begin(sizes.calls)
    await asyncio.sleep(4)
    victim = cluster.servers[0]
    before = {caller: len(caller.call.streams) for caller in load.callers if not caller.call.is_over}
    streams = {caller: caller.call.stream for caller in before}
    victim.send_signal(signal.SIGKILL)
    killed_at = loop.time()
    await victim.wait_ended(5)
    await asyncio.sleep(1)
    lost = [caller for caller, stream in streams.items() if stream is not None and stream.over.is_set()]
    await asyncio.sleep(WAIT_AGAIN_S)
    heard = [caller.sound_after(killed_at, stream=before[caller]) for caller in lost]
    again = [at - killed_at for at in heard if at is not None]
    in_time = sum(seconds <= SPEAKS_AGAIN_S for seconds in again)
    await cluster.restart(victim)
    silent_ids = [
        caller.run_id for caller, at in zip(lost, heard, strict=True) if at is None and caller.run_id is not None
    ]
    found = await summarize(cluster, load)
    marked = [run for run in await cluster.tenant.runs(silent_ids) if run.end_reason in OUR_FAULTS]
    return {
        "goal": "95 % of its calls speak again in 3 s, the rest are marked, and all recordings are whole",
        "is_met": bool(lost)
        and in_time >= 0.95 * len(lost)
        and len(marked) == len(silent_ids)
        and found["recordings_complete"] == found["talked"],
        "calls_of_killed": len(lost),
        "spoke_again": len(again),
        "spoke_again_in_3_s": in_time,
        "spoke_again_s": render_seconds(again),
        "marked": len(marked),
        "not_marked": len(silent_ids) - len(marked),
        **found,
    }


async def database_away(cluster: Cluster, sizes: Sizes) -> dict[str, Any]:
    """The database ends for a while: calls go on, and people who call then hear a sentence."""
    load, loop = Load(cluster), asyncio.get_running_loop()
    await load.begin(sizes.calls)
    await asyncio.sleep(2)
    cluster.stop_database()
    until, late = loop.time() + sizes.away_s, []
    while loop.time() < until:
        late.append(load.call())
        await asyncio.sleep(1)
    live = sum(not caller.call.is_over for caller in load.callers if caller not in late)
    cluster.start_database()
    await asyncio.sleep(8)
    told = sum(caller.was_told_unavailable for caller in late)
    after = [load.call(8) for _ in range(3)]
    await asyncio.sleep(10)
    found = await summarize(cluster, load)
    return {
        "goal": "0 cut, and callers hear the sentence",
        "is_met": found["cut"] == 0 and told == len(late) and all(caller.has_heard_agent for caller in after),
        "away_s": sizes.away_s,
        "live_when_it_came_back": live,
        "called_in_meanwhile": len(late),
        "heard_the_sentence": told,
        "called_after": len(after),
        "called_after_and_talked": sum(caller.has_heard_agent for caller in after),
        **found,
    }


async def full_process(cluster: Cluster, sizes: Sizes) -> dict[str, Any]:
    """One server with room for two calls, then all of them: no call is answered to silence."""
    first = cluster.servers[0]
    await _restart_with_room(cluster, [first])
    load = Load(cluster)
    await load.begin(sizes.calls)
    await asyncio.sleep(10)
    one = await summarize(cluster, load)
    await _restart_with_room(cluster, cluster.servers)
    crowd = Load(cluster)
    await crowd.begin(4 * ROOM_OF_FULL * len(cluster.servers))
    await asyncio.sleep(10)
    everywhere = await summarize(cluster, crowd)
    for server in cluster.servers:
        server.send_signal(signal.SIGTERM)
        await server.wait_ended(DRAIN_TIMEOUT_S)
        await cluster.restart(server)
    is_met = not one["silent"] and not everywhere["silent"] and one["talked"] == one["calls"]
    return {
        "goal": "0 answered to silence",
        "is_met": is_met and everywhere["talked"] + everywhere["refused_busy"] == everywhere["calls"],
        "one_is_full": one,
        "all_are_full": everywhere,
    }


async def _restart_with_room(cluster: Cluster, servers: list[Node]) -> None:
    for server in servers:
        server.send_signal(signal.SIGTERM)
        await server.wait_ended(DRAIN_TIMEOUT_S)
        await cluster.restart(server, OFFHOOK_MAX_CALLS_PER_PROCESS=str(ROOM_OF_FULL))


async def silent_database(cluster: Cluster, sizes: Sizes) -> dict[str, Any]:
    """One server's connections to the database fall silent, new ones too for a while: its calls live on, and after it
    calls that it takes end as they should."""
    load, victim = Load(cluster), cluster.servers[0]
    await load.begin(sizes.calls)
    await asyncio.sleep(2)
    victim.line.set_state("silent")
    await asyncio.sleep(sizes.cut_off_s)
    victim.line.set_state("open")
    await asyncio.sleep(15)
    is_ready = (await cluster.client.get(f"{victim.url}/ready", timeout=10)).status_code == 200
    cut = sum(caller.was_cut for caller in load.callers)
    gone = not victim.is_running
    found = await summarize(cluster, load)
    # all later calls go to the process that was cut off
    for other in cluster.servers[1:]:
        other.send_signal(signal.SIGTERM)
        await other.wait_ended(DRAIN_TIMEOUT_S)
    await asyncio.sleep(5)
    later = Load(cluster)
    await later.begin(6)
    await asyncio.sleep(25)
    later_cut = sum(caller.was_cut for caller in later.callers)
    await later.end()
    for other in cluster.servers[1:]:
        await cluster.restart(other)
    after = await summarize(cluster, later, cut=later_cut)
    is_zombie = not gone and (after["cut"] or after["talked"] < 6 or after["interrupted_by_us"])
    return {
        "goal": "0 cut, no zombie",
        "is_met": cut == 0 and not is_zombie and is_ready,
        "cut_off_s": sizes.cut_off_s,
        "ready_again": is_ready,
        "is_zombie": bool(is_zombie),
        **found,
        "calls_afterwards": after,
    }


async def upgrade(cluster: Cluster, sizes: Sizes) -> dict[str, Any]:
    """A newer version with a migration comes and goes, under calls and requests, with all those runs."""
    load, tenant = Load(cluster), cluster.tenant
    requests = cluster_upgrade.Requests(cluster.client, cluster.balancer, tenant.key, tenant.workflow_id)
    waits = cluster_upgrade.LockWaits(cluster.postgres.url)
    began, phases, seconds = time.monotonic(), dict[str, int](), dict[str, int]()

    async def say(phase: str) -> None:
        print(phase, file=sys.stderr, flush=True)
        phases[phase], seconds[phase] = len(requests.took_s), round(time.monotonic() - began)

    tasks = [asyncio.create_task(run) for run in (load.churn(sizes.calls, SHORT_CALL_S), requests.run(), waits.run())]
    try:
        await asyncio.sleep(10)
        went = await cluster_upgrade.upgrade_and_back(cluster, cluster.folder / "newer", say)
        broken = [repr(task.exception()) for task in tasks if task.done()]
    finally:
        for task in tasks:
            task.cancel()
    await say("the calls are over")
    found = await summarize(cluster, load)
    is_met = not broken and not requests.failed and found["cut"] == 0 and found["talked"] == found["calls"] > 0
    return {
        "goal": f"0 requests fail, 0 calls are cut, no wait for a lock takes more than {cluster_upgrade.LOCK_GOAL_S:.0f} s",
        "is_met": is_met and waits.longest_s <= cluster_upgrade.LOCK_GOAL_S and went["index_is_gone"],
        "runs_before": sizes.rows,
        **went,
        "requests": len(requests.took_s),
        "requests_failed": requests.failed,
        "request_s": {name: round(s, 2) for name, s in _spread(requests.took_s).items()},
        "requests_when_it_began": phases,
        "began_after_s": seconds,
        "longest_lock_wait_s": round(waits.longest_s, 2),
        "longest_lock_wait_of": waits.query,
        "looks_at_locks": waits.samples,
        "broken": broken,
        **found,
    }


def _spread(values: list[float]) -> dict[str, float]:
    ordered = sorted(values)
    return {
        "p50": ordered[len(ordered) // 2],
        "p95": ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))],
        "max": ordered[-1],
    }


Case = Callable[[Cluster, Sizes], Awaitable[dict[str, Any]]]
CASES: Final[Mapping[str, Case]] = {
    "rolling_restart": rolling_restart,
    "kill_server": kill_server,
    "database_away": database_away,
    "full_process": full_process,
    "silent_database": silent_database,
    "upgrade": upgrade,
}
