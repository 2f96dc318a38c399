"""The telephone network as an independent witness: it rings phones, and notes whenever one rings that should not."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from offhook.campaigns.engine.ports import CallLookup, CommittedDial, FateUnknown, NotPlaced
from offhook.campaigns.rules.hours import CallingSchedule
from tests.campaigns.sim.kernel import Kernel, Pause, Process

RING_S = 45.0


@dataclass
class Behaviors:
    """Chances at the far end and on the way to it. The way ends with the storm; people stay as they are."""

    request_lost: float = 0.0
    answer_lost: float = 0.0
    slow: float = 0.0
    callback_lost: float = 0.0
    callback_late: float = 0.0
    callback_double: float = 0.0
    hang_up_fails: float = 0.0
    away: float = 0.0
    refuses: float = 0.0
    can_say: bool = True


@dataclass
class Call:
    number: str
    contact_id: int
    campaign_id: int
    organization_id: int
    run_id: int
    call_id: str = ""
    arrived_at: float | None = None
    ended_at: float | None = None
    status: str = "initiated"
    outcome: str | None = None
    answered: bool = False

    @property
    def is_live(self) -> bool:
        return self.arrived_at is not None and self.ended_at is None


@dataclass
class Limits:
    """What the witness knows of a campaign."""

    organization_id: int
    cap: int
    hours: CallingSchedule | None
    zones: dict[str, tuple[str, ...]] = field(default_factory=dict)
    # The campaign's change of status whose pause was answered; with the next change it means nothing any more.
    paused_by: int | None = None
    per_second: float | None = None
    # The carrier account and how many calls its numbers carry, whichever campaigns share them.
    account: str = ""
    lines: int | None = None


class FarEnd:
    """``callback`` delivers reports to the platform, ``media`` connects an answered call to it."""

    def __init__(self, kernel: Kernel, wall: Callable[[], datetime], violations: list[str]) -> None:
        self.kernel = kernel
        self.wall = wall
        self.violations = violations
        self.ways = Behaviors()
        self.calls: dict[int, Call] = {}
        self.history: list[Call] = []
        # runs whose process ended before it could store their end
        self.cut_off: set[int] = set()
        self.sent: dict[int, list[float]] = {}
        self.campaigns: dict[int, Limits] = {}
        self.organizations: dict[int, int] = {}
        self.contacts: dict[int, int] = {}
        self.has_jumped = False
        self.move_of: Callable[[int], int] = lambda campaign_id: 0
        self.callback: Callable[[Call, str, str | None], None] = lambda call, status, outcome: None
        self.media: Callable[[Call, float], None] = lambda call, talk_s: None

    # what the platform asks

    async def dial(self, placing: CommittedDial) -> str:
        """The instant of this call is when the dial begins: hours and pauses are judged by it."""
        call = Call(
            placing.call, placing.contact_id, self.contacts[placing.contact_id], placing.organization_id, placing.run_id
        )
        self._witness_begin(call)
        rng, ways = self.kernel.rng, self.ways
        if rng.random() < ways.refuses:
            await Pause(0.05)
            raise NotPlaced("carrier_refused", is_retryable=rng.random() < 0.7)
        if rng.random() < ways.request_lost:
            await Pause(rng.random() * 10)
            raise FateUnknown
        delay = rng.random() * 0.1 + (rng.random() * 15 if rng.random() < ways.slow else 0)
        self.kernel.at(delay, lambda: self._arrive(call))
        await Pause(delay + rng.random() * 0.05)
        if rng.random() < ways.answer_lost:
            raise FateUnknown
        return f"C{placing.run_id}"

    async def find(self, run_id: int) -> CallLookup:
        await Pause(self.kernel.rng.random() * 0.2)
        if not self.ways.can_say or self.kernel.rng.random() < self.ways.away:
            return CallLookup(is_known=False)
        call = self.calls.get(run_id)
        if call is None:
            return CallLookup(is_known=True)
        return CallLookup(True, call.status, call.outcome)

    async def hang_up(self, run_id: int) -> bool:
        await Pause(self.kernel.rng.random() * 0.2)
        if self.kernel.rng.random() < self.ways.hang_up_fails:
            return False
        call = self.calls.get(run_id)
        if call is not None:
            self._end(call, "canceled", None)
        return True

    # what happens there

    def _arrive(self, call: Call) -> None:
        if call.run_id in self.calls:
            self.violations.append(f"run {call.run_id} was dialed twice")
        call.arrived_at = self.kernel.now
        self.calls[call.run_id] = call
        self.history.append(call)
        self._witness_arrival(call)
        self._tell(call, "ringing", None)
        rng = self.kernel.rng
        kind = rng.choices(["answer", "busy", "no_answer", "voicemail", "failed"], [8, 2, 2, 1, 1])[0]
        if kind == "no_answer":
            self.kernel.at(RING_S, lambda: self._end(call, "no_answer", None))
        elif kind in {"busy", "failed"}:
            self.kernel.at(rng.random() * 5, lambda: self._end(call, kind, None))
        else:
            self.kernel.at(1 + rng.random() * 25, lambda: self._answer(call, kind))

    def _answer(self, call: Call, kind: str) -> None:
        if not call.is_live:
            return
        call.status = "in_progress"
        call.outcome = "voicemail" if kind == "voicemail" else "answered"
        self._tell(call, "in_progress", None)
        self.media(call, 2 + self.kernel.rng.random() * 200)

    def was_talked_to(self, call: Call) -> bool:
        """Whether somebody talked with us and was not cut off by the end of one of our processes."""
        return call.answered and call.outcome == "answered" and call.run_id not in self.cut_off

    def media_over(self, call: Call, *, was_carried: bool) -> None:
        """The conversation is over, or its media never came to be."""
        call.answered = call.answered or was_carried
        if was_carried:
            self._end(call, "completed", call.outcome)
        else:
            call.outcome = None
            self._end(call, "failed", None)

    def _end(self, call: Call, status: str, outcome: str | None) -> None:
        if not call.is_live:
            return
        call.ended_at = self.kernel.now
        call.status, call.outcome = status, outcome
        self._tell(call, status, outcome)

    def _tell(self, call: Call, status: str, outcome: str | None) -> None:
        rng, ways = self.kernel.rng, self.ways
        copies = 2 if rng.random() < ways.callback_double else 1
        for _ in range(copies):
            if rng.random() < ways.callback_lost:
                continue
            delay = rng.random() * 0.2 + (rng.random() * 90 if rng.random() < ways.callback_late else 0)
            self.kernel.at(delay, lambda: self.callback(call, status, outcome))

    # what the witness swears

    def _witness_begin(self, call: Call) -> None:
        limits = self.campaigns[call.campaign_id]
        if limits.paused_by is not None and limits.paused_by == self.move_of(call.campaign_id):
            self.violations.append(f"campaign {call.campaign_id} dialed after its pause was answered")
        if limits.hours is not None:
            zones = [limits.hours.zone, *(limits.zones[call.number] if limits.hours.in_callee_zone else ())]
            if limits.hours.in_callee_zone and not limits.zones[call.number]:
                self.violations.append(f"{call.number} of no known zone was dialed")
            for zone in zones:
                if not on_the_wall(limits.hours, self.wall(), zone):
                    self.violations.append(f"{call.number} was dialed at {self.wall()} outside of hours in {zone}")
        sent = self.sent.setdefault(call.campaign_id, [])
        sent.append(self.kernel.now)
        if limits.per_second is not None and not self.has_jumped:
            # a dial may begin up to three seconds after its token was taken
            window, burst = 10.0, max(1, int(limits.per_second + 0.999))
            recent = sum(at > self.kernel.now - window for at in sent)
            if recent > burst + limits.per_second * (window + 3.2) + 1:
                self.violations.append(f"campaign {call.campaign_id} dialed {recent} in {window} s")

    def _witness_arrival(self, call: Call) -> None:
        live = [one for one in self.calls.values() if one.is_live]
        if sum(one.contact_id == call.contact_id for one in live) > 1:
            self.violations.append(f"contact {call.contact_id} has two live calls")
        if sum(one.campaign_id == call.campaign_id for one in live) > self.campaigns[call.campaign_id].cap:
            self.violations.append(f"campaign {call.campaign_id} is above its cap")
        its = self.campaigns[call.campaign_id]
        by_account = sum(self.campaigns[one.campaign_id].account == its.account for one in live)
        if its.lines is not None and by_account > its.lines:
            self.violations.append(f"{its.account} has {by_account} calls on {its.lines} numbers")
        mine = sum(one.organization_id == call.organization_id for one in live)
        if mine > self.organizations[call.organization_id]:
            self.violations.append(f"organization {call.organization_id} is above its cap")
        earlier = [one for one in self.history if one.contact_id == call.contact_id and one is not call]
        if any(self.was_talked_to(one) for one in earlier):
            self.violations.append(f"contact {call.contact_id} was called again after it had answered")


class SimCarrier:
    """Implements ``ports.Carrier`` for one process; ``report`` is the platform's way for news of calls."""

    def __init__(self, far_end: FarEnd, report: Callable[..., Any], run_ended: Callable[..., Any]) -> None:
        self._far_end = far_end
        self._report = report
        self._run_ended = run_ended

    async def place_call(self, placing: CommittedDial) -> str:
        return await self._far_end.dial(placing)

    async def find_call(self, organization_id: int, run_id: int) -> CallLookup:
        return await self._far_end.find(run_id)

    async def hang_up(self, organization_id: int, run_id: int) -> bool:
        return await self._far_end.hang_up(run_id)

    async def report_status(self, organization_id: int, run_id: int, found: CallLookup) -> None:
        await self._report(organization_id, run_id, found.status, found.outcome)

    async def publish_call_ended(self, organization_id: int, run_id: int, status: str) -> None:
        await self._run_ended(organization_id, run_id)


class SimTime:
    """Implements ``ports.Time`` for one process."""

    def __init__(
        self, kernel: Kernel, wall: Callable[[], datetime], process: Process, join: Callable[..., Any]
    ) -> None:
        self._kernel = kernel
        self._wall = wall
        self._process = process
        self._join = join

    def now(self) -> datetime:
        return self._wall()

    def monotonic(self) -> float:
        return self._kernel.now

    async def sleep(self, seconds: float) -> None:
        await Pause(seconds)

    async def gather(self, work: Any) -> None:
        await self._join(self._process, work)


def on_the_wall(plan: CallingSchedule, now: datetime, zone: str) -> bool:
    """Hours as somebody with a clock on the wall and the plan in his hand reads them."""
    local = now.astimezone(ZoneInfo(zone))
    if local.date() in plan.holidays:
        return False
    minute = local.hour * 60 + local.minute
    for slot in plan.slots:
        if slot.end > slot.start:
            if local.weekday() == slot.day and slot.start <= minute < slot.end:
                return True
        elif (local.weekday() == slot.day and minute >= slot.start) or (
            local.weekday() == (slot.day + 1) % 7 and minute < slot.end
        ):
            return True
    return False
