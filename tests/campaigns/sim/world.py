"""One seed: organizations, campaigns, processes and a storm of faults, run to the end and then judged."""

import random
from collections.abc import Coroutine
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from offhook.campaigns.engine.engine import CampaignEngine
from offhook.campaigns.engine.ports import FateUnknown
from tests.campaigns.sim.far_end import Behaviors, Call, FarEnd, SimCarrier, SimTime
from tests.campaigns.sim.judge import judge
from tests.campaigns.sim.kernel import Join, Kernel, Pause, Process, Task
from tests.campaigns.sim.memory import Deadlock, Faults, Memory, Row
from tests.campaigns.sim.scenario import Scenario, scenario_of, share_lines
from tests.campaigns.sim.twin import TwinStore
from tests.campaigns.sim.verdict import Variant, Verdict

PATIENCE_S = 120.0
HEARTBEAT_S = 15.0
LEASE_S = 10.0
HORIZON_S = 40 * 86400.0
_EXPECTED = (ConnectionResetError, Deadlock, FateUnknown)


class World:
    def __init__(self, seed: int, variant: Variant | None = None, *, trace: bool = False) -> None:
        self.seed = seed
        self.rng = random.Random(seed)
        self.kernel = Kernel(self.rng)
        self.scenario: Scenario = scenario_of(self.rng)
        self.jump = timedelta()
        self.variant = variant or Variant()
        if self.variant.lines is not None:
            share_lines(self.scenario, self.variant.lines)
        self.memory = Memory(self.kernel, self.wall)
        self.memory.trace = [] if trace else None
        self.violations = self.memory.violations
        self.far_end = FarEnd(self.kernel, self.wall, self.violations)
        self.far_end.callback = self._callback
        self.far_end.media = self._media
        self.far_end.move_of = lambda c: int(self.memory.tables["campaigns"][c]["moves"])
        self.memory.on_job = self._job_exists
        self.memory.on_reserved = self._reserved
        self.memory.on_wake = self._wake_here
        self.ending: dict[str, list[tuple[int, int]]] = {}
        self.engines: dict[str, CampaignEngine] = {}
        self.workers: list[Process] = []
        self.api: Process | None = None
        self.talks: dict[int, tuple[Process, Call, bool]] = {}
        self.storm_ends = self.scenario.storm_s

    def wall(self) -> datetime:
        return self.scenario.begins_at + timedelta(seconds=self.kernel.now) + self.jump

    # running

    def run(self) -> Verdict:
        self._populate()
        for index in range(self.scenario.workers):
            self._start_process(f"w{index}")
        self._start_process("api")
        self._begin_storm()
        self.kernel.at(self.storm_ends, self._end_storm)
        self.kernel.at(1.0, self._tick)
        for campaign_id in self.scenario.plans:
            self.kernel.at(self.rng.random() * 5, partial(self._people_start, campaign_id))
        is_over = self.kernel.run(HORIZON_S, self._is_over)
        if not is_over and not self._is_waiting_for_hours():
            self.violations.append("the campaigns never ended")
        else:
            self.kernel.run(self.kernel.now + 600, lambda: False)
        judge(self)
        return Verdict(self.seed, self.violations, self.kernel.steps, len(self.far_end.history))

    def _is_over(self) -> bool:
        return self.kernel.now > self.storm_ends and not self.memory.unfinished

    def _is_waiting_for_hours(self) -> bool:
        """Hours of two zones that meet in another season: whoever is left is to be called then, and says so."""
        left = [row for row in self.memory.tables["contacts"].values() if row["state"] != "done"]
        return bool(left) and all(
            row["state"] == "pending" and row["hold"] == "outside_callee_hours" and row["due_at"] > self.wall()
            for row in left
        )

    def _populate(self) -> None:
        memory, scenario = self.memory, self.scenario
        memory.limits = self.far_end.organizations = dict(scenario.organizations)
        memory.do_not_call = set(scenario.do_not_call)
        for plan in scenario.plans.values():
            memory.tables["campaigns"][plan.id] = {
                "id": plan.id, "organization_id": plan.organization_id, "status": "draft", "reason": None, "plan": plan,
                "starts": 0,
                "moves": 0,
            }  # fmt: skip
            memory.routes[plan.id] = scenario.routes[plan.id]
            self.far_end.campaigns[plan.id] = scenario.limits[plan.id]
            memory.count_unfinished()
            for number in scenario.numbers[plan.id]:
                contact_id = memory.next_id("contacts")
                self.far_end.contacts[contact_id] = plan.id
                memory.tables["contacts"][contact_id] = {
                    "id": contact_id, "campaign_id": plan.id, "organization_id": plan.organization_id,
                    "phone_number": number, "state": "pending", "outcome": None, "reason": None, "dials": 0,
                    "due_at": self.wall(), "hold": None,
                }  # fmt: skip

    # processes

    def _start_process(self, name: str) -> None:
        process = Process(name, dials=name != "api")
        self.ending[name] = []
        store = TwinStore(self.memory, process, self.variant.tx)
        carrier = (self.variant.carrier or SimCarrier)(self.far_end, self._report(store, name), self._run_ended(name))
        time = SimTime(self.kernel, self.wall, process, self._join)
        self.engines[name] = (self.variant.engine or CampaignEngine)(store, carrier, time, dial_timeout_s=PATIENCE_S)
        if name == "api":
            self.api = process
            process.on_kill.append(lambda: self._media_lost(process))
        else:
            self.workers = [one for one in self.workers if one.is_alive] + [process]

    def _kill_somebody(self) -> None:
        if self.kernel.now >= self.storm_ends:
            return
        alive = [*self.workers, *([self.api] if self.api is not None and self.rng.random() < 0.3 else [])]
        candidates: list[Process | None] = [one for one in alive if one.is_alive]
        victim = self.rng.choice(candidates or [None])
        if victim is not None:
            self.kernel.kill(victim)
            self.kernel.at(0.5 + self.rng.random() * 8, partial(self._start_process, victim.name))
        self.kernel.at(self.rng.expovariate(1 / self.scenario.kill_every_s), self._kill_somebody)

    async def _join(self, process: Process, work: list[Coroutine[Any, Any, None]]) -> None:
        tasks = [self.kernel.spawn(self._preempted(one), process) for one in work]
        await Join(tasks)
        for task in tasks:
            if task.error is not None:
                raise task.error

    async def _preempted(self, work: Coroutine[Any, Any, None]) -> None:
        """A process may stand still between any two of its steps, also between its commit and what it does then."""
        rng = self.rng
        try:
            await Pause(rng.random() * 0.01 + (rng.random() * 6 if rng.random() < self.memory.faults.stall else 0))
        except GeneratorExit:
            work.close()
            raise
        await work

    def _spawn(self, process: Process, work: Coroutine[Any, Any, Any], on_error: Any = None) -> None:
        def ended(task: Task) -> None:
            if task.error is not None and not isinstance(task.error, _EXPECTED):
                self.violations.append(f"{type(task.error).__name__}: {task.error}")
            if task.error is not None and on_error is not None:
                on_error()

        self.kernel.spawn(work, process, ended)

    # the storm

    def _begin_storm(self) -> None:
        storm = {**self.scenario.storm, **self.variant.storm}
        self.memory.faults = Faults(storm["drop"], storm["commit_lost"], storm["commit_unheard"], storm["stall"])
        self.far_end.ways = Behaviors(
            storm["request_lost"], storm["answer_lost"], storm["slow"], storm["callback_lost"], storm["callback_late"],
            storm["callback_double"], storm["hang_up_fails"], storm["away"], storm["refuses"], self.scenario.can_say,
        )  # fmt: skip
        if self.scenario.kill_every_s:
            self.kernel.at(self.rng.random() * 10, self._kill_somebody)
        for at, by in self.scenario.jumps:
            self.kernel.at(at, partial(self._jump, by))

    def _end_storm(self) -> None:
        self.memory.faults = Faults()
        self.far_end.ways = Behaviors(can_say=self.scenario.can_say)
        self._look_after()

    def _look_after(self) -> None:
        """What failed in the storm may still trip a circuit breaker after it; people find the campaign paused."""
        for campaign_id in self.scenario.plans:
            self._people_resume(campaign_id)
        if not self._is_over():
            self.kernel.at(600.0, self._look_after)

    def _jump(self, by: timedelta) -> None:
        self.far_end.has_jumped = True
        self.jump += by

    # jobs

    def _job_exists(self, job: Row) -> None:
        self.kernel.at(job["delay"] + 0.002, lambda: self._take_job(job))

    def _take_job(self, job: Row) -> None:
        alive = [one for one in self.workers if one.is_alive]
        if job["is_done"]:
            return
        if not alive:
            self.kernel.at(1.0, lambda: self._take_job(job))
            return
        worker = self.rng.choice(alive)
        self.kernel.at(HEARTBEAT_S + 5 if worker.is_alive else 0, lambda: self._taken_over(job, worker))
        self._spawn(worker, self._dial(job, worker.name), lambda: self._job_failed(job))

    def _taken_over(self, job: Row, worker: Process) -> None:
        if not job["is_done"] and not worker.is_alive:
            self._take_job(job)

    async def _dial(self, job: Row, name: str) -> None:
        await self.engines[name].run_dial_pass(job["organization_id"])
        self.memory.job_is_done(job)

    def _job_failed(self, job: Row) -> None:
        job["tries"] += 1
        if job["tries"] > 5:
            self.memory.job_is_done(job)
        else:
            self.kernel.at(2.0 ** job["tries"], lambda: self._take_job(job))

    def _tick(self) -> None:
        alive = [one for one in self.workers if one.is_alive]
        if alive:
            worker = self.rng.choice(alive)
            self._spawn(worker, self.engines[worker.name].tick())
        after = self.kernel.now - self.storm_ends
        self.kernel.at(self.scenario.tick_s if after < 600 else 60.0 if after < 3600 else 1200.0, self._tick)
        self._sweep()

    # the runs domain: callbacks, media, the sweeper

    def _report(self, store: TwinStore, name: str) -> Any:
        async def report(organization_id: int, run_id: int, status: str, outcome: str | None) -> None:
            async with store.transaction() as tx:
                moved = await tx.apply_status(organization_id, run_id, status, outcome, None)
            if moved and status not in {"ringing", "in_progress"}:
                await self._ended(name, organization_id, run_id)

        return report

    def _run_ended(self, name: str) -> Any:
        async def run_ended(organization_id: int, run_id: int) -> None:
            await self._ended(name, organization_id, run_id)

        return run_ended

    async def _ended(self, name: str, organization_id: int, run_id: int) -> None:
        """Group commit, as ``kit.batching`` does it: the first writes for all that come while it waits."""
        together = self.ending[name]
        together.append((organization_id, run_id))
        if len(together) > 1:
            return
        await Pause(self.rng.random() * self.rng.choice([0.0, 0.02, 0.5]))
        self.ending[name] = []
        try:
            await self.engines[name].settle_ended_runs(together)
        except ConnectionResetError:
            if len(together) == 1:
                raise
            for one in together:
                await self.engines[name].settle_ended_runs([one])

    def _wake_here(self, process: Process, organization_id: int) -> None:
        """A slot was freed in a process that dials; what goes wrong is repeated by the job that was enqueued with it."""
        self._spawn(process, self.engines[process.name].run_dial_pass(organization_id))

    def _callback(self, call: Call, status: str, outcome: str | None) -> None:
        if self.api is None or not self.api.is_alive:
            self.kernel.at(3.0, lambda: self._callback(call, status, outcome))
            return
        report = self._report(TwinStore(self.memory, self.api), "api")
        self._spawn(self.api, report(call.organization_id, call.run_id, status, outcome))

    def _media(self, call: Call, talk_s: float) -> None:
        if self.api is None or not self.api.is_alive:
            self.far_end.media_over(call, was_carried=False)
            return
        self._spawn(self.api, self._carry(self.api, call, talk_s), lambda: self._never_carried(call))

    def _never_carried(self, call: Call) -> None:
        """The run may have been taken although nobody heard of it: no heart beats for it."""
        self.far_end.media_over(call, was_carried=False)
        run = self.memory.tables["runs"][call.run_id]
        if run["lease_until"] == float("inf"):
            run["lease_until"] = self.kernel.now + LEASE_S

    async def _carry(self, process: Process, call: Call, talk_s: float) -> None:
        store = TwinStore(self.memory, process)
        self.talks[call.run_id] = (process, call, False)
        async with store.transaction() as tx:
            is_mine = await tx.take_media(call.run_id, process.name, float("inf"))
        if not is_mine:
            self.talks.pop(call.run_id, None)
            self.far_end.media_over(call, was_carried=False)
            return
        self.talks[call.run_id] = (process, call, True)
        await Pause(talk_s)
        self.talks.pop(call.run_id, None)
        outcome = call.outcome or "answered"
        self.far_end.media_over(call, was_carried=True)
        while True:
            try:
                async with store.transaction() as tx:
                    await tx.store_end(call.run_id, "completed", outcome, "agent_ended")
                break
            except ConnectionResetError:
                await Pause(1.0)
        await self._ended("api", call.organization_id, call.run_id)

    def _media_lost(self, process: Process) -> None:
        """The process died: its calls are cut off, and their leases run out."""
        for run_id, (carrier, call, is_carried) in list(self.talks.items()):
            if carrier is process:
                del self.talks[run_id]
                self.far_end.media_over(call, was_carried=is_carried)
        for run in self.memory.tables["runs"].values():
            if run["process"] == process.name and run["lease_until"] == float("inf"):
                run["lease_until"] = self.kernel.now + LEASE_S
                self.far_end.cut_off.add(run["id"])

    def _sweep(self) -> None:
        if self.api is None or not self.api.is_alive:
            return
        for run_id, run in self.memory.tables["runs"].items():
            if run["lease_until"] is not None and run["lease_until"] < self.kernel.now - LEASE_S:
                self._spawn(self.api, self._end_silent(run["organization_id"], run_id))

    async def _end_silent(self, organization_id: int, run_id: int) -> None:
        async with TwinStore(self.memory, self.api).transaction() as tx:  # type: ignore[arg-type]
            ended = await tx.store_end(run_id, "failed", "answered", "worker_lost")
        if ended:
            await self._ended("api", organization_id, run_id)

    # people

    def _people_start(self, campaign_id: int) -> None:
        for _ in range(self.rng.choice([1, 2])):
            self._spawn(self._somebody(), self._move(campaign_id, "draft"))
        self.kernel.at(8.0, lambda: self._start_again(campaign_id))
        for at in self.scenario.pauses[campaign_id]:
            self.kernel.at(at, lambda: self._spawn(self._somebody(), self._pause(campaign_id)))

    def _start_again(self, campaign_id: int) -> None:
        """A start whose answer was lost is tried again by whoever sent it."""
        if self.memory.tables["campaigns"][campaign_id]["status"] == "draft":
            self._spawn(self._somebody(), self._move(campaign_id, "draft"))
            self.kernel.at(8.0, lambda: self._start_again(campaign_id))

    def _somebody(self) -> Process:
        """The process that serves people: any that lives."""
        alive = [one for one in (self.api, *self.workers) if one is not None and one.is_alive]
        return self.rng.choice(alive) if alive else Process("nobody")

    async def _move(self, campaign_id: int, source: str) -> None:
        async with TwinStore(self.memory, self._somebody()).transaction() as tx:
            row = self.memory.tables["campaigns"][campaign_id]
            if await tx.set_running(campaign_id, source):
                await tx.schedule_dialing(row["organization_id"], None)

    async def _pause(self, campaign_id: int) -> None:
        somebody = self._somebody()
        if not somebody.is_alive or somebody.name not in self.engines:
            return
        row = self.memory.tables["campaigns"][campaign_id]
        try:
            async with TwinStore(self.memory, somebody).transaction() as tx:
                moved = await tx.set_status(campaign_id, "paused", None, self.wall())
            if not moved:
                return
            its_move = self.memory.tables["campaigns"][campaign_id]["moves"]
            await self.engines[somebody.name].wait_for_committed_dials(row["organization_id"], campaign_id)
            # Nobody has resumed it meanwhile: from this answer on no dial may begin.
            if self.memory.tables["campaigns"][campaign_id]["moves"] == its_move:
                self.far_end.campaigns[campaign_id].paused_by = its_move
        finally:
            self.kernel.at(1 + self.rng.random() * 40, lambda: self._people_resume(campaign_id))

    def _reserved(self, campaign_id: int) -> None:
        """Somebody presses pause just when phones are about to ring."""
        chance = self.variant.storm.get("pause", self.scenario.pause_chance)
        if self.kernel.now < self.storm_ends and self.rng.random() < chance:
            self.kernel.at(self.rng.random() * 0.5, lambda: self._spawn(self._somebody(), self._pause(campaign_id)))

    def _people_resume(self, campaign_id: int) -> None:
        if self.memory.tables["campaigns"][campaign_id]["status"] != "paused":
            return
        self._spawn(self._somebody(), self._move(campaign_id, "paused"))
        self.kernel.at(30.0, lambda: self._people_resume(campaign_id))
