"""The engine's statements on the database in memory. They are not yet compared with the real ones."""

from collections.abc import Sequence
from datetime import datetime
from math import ceil
from typing import Any

from offhook.campaigns.engine.ports import (
    AcceptedCall,
    AttemptResult,
    AttemptRunState,
    CampaignPlan,
    ClaimedContact,
    CommittedDial,
    ContactRefusal,
    DialRoute,
    NoRoute,
    OpenAttempt,
    RemainingWork,
    StaleAttempt,
    Target,
)
from offhook.campaigns.engine.store import CRASH_RECOVERY_DELAY
from offhook.campaigns.rules.rate import TokenBucket, take_tokens
from offhook.runs.states import LIVE_STATES
from tests.campaigns.sim.kernel import Process
from tests.campaigns.sim.memory import Memory, Row, UniqueViolation
from tests.campaigns.sim.others import OthersTx


class TwinStore:
    """Implements ``ports.Store`` for one process."""

    def __init__(self, memory: Memory, process: Process, tx_class: "type[TwinTx] | None" = None) -> None:
        self.memory = memory
        self.process = process
        self.tx_class = tx_class or TwinTx

    def transaction(self) -> Any:
        tx = self.tx_class(self.memory)
        tx.process = self.process
        return tx

    async def mark_placed(self, taken: AcceptedCall, now: datetime) -> None:
        async with self.transaction() as tx:
            await tx.mark_placed([taken], now)


class TwinTx(OthersTx):
    """Implements ``ports.Tx``."""

    # ports.Tx

    async def lock_slots(self, organization_id: int) -> None:
        await self._do("lock_slots", (organization_id,), lambda: self.lock(("slots", organization_id)) and None)

    async def lock_running_campaigns(self, organization_id: int, only: int | None = None) -> list[CampaignPlan]:
        def work() -> list[CampaignPlan]:
            found = []
            for campaign_id in self._running_ids(organization_id):
                if only in {None, campaign_id}:
                    self.lock(("campaigns", campaign_id))
                    row = self.get("campaigns", campaign_id)  # under the lock
                    if row is not None and row["status"] == "running":
                        found.append(row["plan"])
            return found

        return await self._do("running", (organization_id, only), work)

    def _running_ids(self, organization_id: int) -> list[int]:
        wanted = (organization_id, "running")
        return [row["id"] for row in self.rows("campaigns") if (row["organization_id"], row["status"]) == wanted]

    async def list_running_ids(self, organization_id: int) -> list[int]:
        return await self._do("running_ids", (organization_id,), lambda: self._running_ids(organization_id))

    async def slot_capacity(self, organization_id: int) -> tuple[int, int]:
        def work() -> tuple[int, int]:
            live = sum(
                r["organization_id"] == organization_id and r["status"] in LIVE_STATES for r in self.rows("runs")
            )
            limit = self.memory.limits[organization_id]
            return limit, max(0, limit - live)

        return await self._do("room", (organization_id,), work)

    async def affordable_calls(self, organization_id: int, wanted: int) -> int:
        return wanted

    async def remaining_work(self, plan: CampaignPlan) -> RemainingWork:
        def work() -> RemainingWork:
            its = [r for r in self.rows("contacts") if r["campaign_id"] == plan.id]
            due = [r["due_at"] for r in its if r["state"] == "pending"]
            count = sum(r["campaign_id"] == plan.id and r["state"] != "final" for r in self.rows("attempts"))
            return RemainingWork(min(due, default=None), count)

        return await self._do("work", (plan.id,), work)

    async def find_route(self, plan: CampaignPlan) -> DialRoute | NoRoute:
        return self.memory.routes[plan.id]

    async def count_account_calls(self, organization_id: int, route: DialRoute) -> int:
        account_of = {one: getattr(its, "account", None) for one, its in self.memory.routes.items()}

        def work() -> int:
            return sum(
                account_of[r["campaign_id"]] == route.account and r["status"] in LIVE_STATES for r in self.rows("runs")
            )

        return await self._do("account_calls", (organization_id, route.account), work)

    async def recent_outcomes(self, campaign_id: int, since: datetime, limit: int) -> list[str]:
        def work() -> list[str]:
            ended = [
                r
                for r in self.rows("attempts")
                if r["campaign_id"] == campaign_id and r["ended_at"] and r["ended_at"] >= since
            ]
            return [r["outcome"] for r in sorted(ended, key=lambda r: r["ended_at"], reverse=True)[:limit]]

        return await self._do("ended_since", (campaign_id, since, limit), work)

    async def spent_cents(self, plan: CampaignPlan) -> int:
        return 0

    async def claim_contacts(
        self, campaign_id: int, now: datetime, limit: int, excluded_ids: Sequence[int]
    ) -> list[ClaimedContact]:
        def work() -> list[ClaimedContact]:
            due = [
                r
                for r in self.rows("contacts")
                if r["campaign_id"] == campaign_id
                and r["state"] == "pending"
                and r["due_at"] <= now
                and r["id"] not in excluded_ids
            ]
            found: list[ClaimedContact] = []
            for row in sorted(due, key=lambda r: (r["due_at"], r["id"])):
                if len(found) < limit and self.lock(("contacts", row["id"]), skip=True):
                    found.append(ClaimedContact(row["id"], row["phone_number"], {}, row["dials"], row["reason"]))
            return found

        return await self._do("claim", (campaign_id, now, limit, tuple(excluded_ids)), work)

    async def filter_do_not_call(self, organization_id: int, numbers: Sequence[str]) -> set[str]:
        return self.memory.do_not_call & set(numbers)

    async def filter_blocked(self, organization_id: int, route: DialRoute, numbers: Sequence[str]) -> set[str]:
        return set()

    async def take_tokens(
        self, organization_id: int, account: str, wanted: int, per_second: float, now: datetime
    ) -> tuple[int, datetime | None]:
        def work() -> tuple[int, datetime | None]:
            burst, key = max(1, ceil(per_second)), (organization_id, account)
            self.lock(("buckets", key))
            row = self.get("buckets", key) or {"tokens": float(burst), "at": now}
            grant = take_tokens(
                TokenBucket(row["tokens"], row["at"]), wanted, per_second=per_second, burst=burst, now=now
            )
            self.own["buckets", key] = {"tokens": grant.bucket.tokens, "at": grant.bucket.at}
            return grant.taken, grant.next_at

        return await self._do("take_tokens", (organization_id, account, wanted, per_second, now), work)

    async def create_attempts(
        self,
        plan: CampaignPlan,
        contacts: Sequence[ClaimedContact],
        *,
        now: datetime,
        may_dial_until: datetime,
        check_at: datetime,
    ) -> list[int]:
        def work() -> list[int]:
            for contact in contacts:
                self.lock(("contacts", contact.id))
            made = []
            for contact in contacts:
                dials = self.get("contacts", contact.id)["dials"]  # type: ignore[index]
                self.change("contacts", contact.id, lambda r: r["state"] == "pending", state="calling", dials=dials + 1)
                before = [r for r in self.rows("attempts") if r["contact_id"] == contact.id]
                if any(r["state"] != "final" for r in before):
                    raise UniqueViolation
                number = 1 + max((r["number"] for r in before), default=0)
                made.append(
                    self.insert(
                        "attempts", organization_id=plan.organization_id, campaign_id=plan.id, contact_id=contact.id,
                        number=number, state="reserved", because=contact.retry_reason, run_id=None, outcome=None, reason=None,
                        reserved_at=now, may_dial_until=may_dial_until, check_at=check_at, ended_at=None,
                    )
                )  # fmt: skip
            return made

        ids = tuple(contact.id for contact in contacts)
        return await self._do("reserve", (plan.id, ids, now, may_dial_until, check_at), work)

    async def start_placing(
        self,
        plan: CampaignPlan,
        route: DialRoute,
        contacts: Sequence[ClaimedContact],
        attempt_ids: Sequence[int],
        until: datetime,
    ) -> list[CommittedDial]:
        def work() -> list[CommittedDial]:
            made = []
            for attempt_id, contact in zip(attempt_ids, contacts, strict=True):
                run_id = self.insert(
                    "runs", organization_id=plan.organization_id, campaign_id=plan.id, status="initiated", outcome=None,
                    reason=None, process=None, lease_until=None, call_id=None, made_at=self.kernel.now,
                )  # fmt: skip
                self.change("attempts", attempt_id, lambda r: r["state"] == "reserved", state="placing", run_id=run_id)
                made.append(
                    CommittedDial(attempt_id, contact.id, plan.organization_id, run_id, until, contact.phone_number)
                )
            return made

        return await self._do("place", (plan.id, tuple(attempt_ids)), work)

    async def refuse_contacts(self, refused: Sequence[ContactRefusal], now: datetime) -> None:
        def work() -> None:
            for one in refused:
                values = (
                    {"state": "done", "outcome": one.outcome, "reason": one.reason, "hold": None}
                    if one.until is None
                    else {"due_at": one.until, "hold": one.reason}
                )
                self.change("contacts", one.contact_id, lambda r: r["state"] == "pending", **values)

        await self._do("refuse", (tuple(refused), now), work)

    async def set_status(self, campaign_id: int, target: Target, reason: str | None, now: datetime) -> bool:
        def work() -> bool:
            moved = self.change(
                "campaigns",
                campaign_id,
                lambda r: r["status"] == "running",
                status=target,
                reason=reason,
                moves=self.memory.next_id("moves"),
            )
            if moved and target == "failed":
                self._cancel_pending(campaign_id)
            return moved

        return await self._do("set_status", (campaign_id, target, reason, now), work)

    def _cancel_pending(self, campaign_id: int) -> None:
        for row in self.rows("contacts"):
            if row["campaign_id"] == campaign_id:
                self.change(
                    "contacts", row["id"], lambda r: r["state"] == "pending",
                    state="done", outcome="canceled", reason="campaign_failed",
                )  # fmt: skip

    async def lock_open_attempts(self, runs: Sequence[tuple[int, int]]) -> list[OpenAttempt]:
        def work() -> list[OpenAttempt]:
            found = []
            for row in sorted(self._attempts_of(runs), key=lambda r: r["id"]):
                if row["state"] != "final":
                    self.lock(("attempts", row["id"]))
                    now = self.get("attempts", row["id"])
                    if now is not None and now["state"] != "final":
                        found.append(self._dial(now))
            return found

        return await self._do("dials_of_runs", (tuple(runs),), work)

    def _attempts_of(self, runs: Sequence[tuple[int, int]]) -> list[Row]:
        wanted = {run_id: organization_id for organization_id, run_id in runs}
        return [
            row
            for row in self.rows("attempts")
            if row["run_id"] in wanted and wanted[row["run_id"]] == row["organization_id"]
        ]

    def _dial(self, row: Row) -> OpenAttempt:
        contact, campaign = self.get("contacts", row["contact_id"]), self.get("campaigns", row["campaign_id"])
        assert contact is not None
        assert campaign is not None
        return OpenAttempt(
            id=row["id"], organization_id=row["organization_id"], campaign_id=row["campaign_id"],
            contact_id=row["contact_id"], run_id=row["run_id"], number=row["number"], state=row["state"],
            dials=contact["dials"], check_at=row["check_at"], reserved_at=row["reserved_at"],
            may_dial_until=row["may_dial_until"], campaign_status=campaign["status"], retry=campaign["plan"].retry,
        )  # fmt: skip

    async def load_run_states(self, runs: Sequence[tuple[int, int]]) -> dict[int, AttemptRunState]:
        def work() -> dict[int, AttemptRunState]:
            found = {}
            for organization_id, run_id in runs:
                run = self.get("runs", run_id)
                if run is None or run["organization_id"] != organization_id:
                    continue
                is_over = run["status"] not in LIVE_STATES and run["lease_until"] is None
                is_carried = run["lease_until"] is not None and run["lease_until"] > self.kernel.now
                found[run_id] = AttemptRunState(
                    run["status"] if is_over else None, run["outcome"], run["reason"], is_carried
                )
            return found

        return await self._do("endings", (tuple(runs),), work)

    async def mark_placed(self, taken: Sequence[AcceptedCall], now: datetime) -> None:
        def work() -> None:
            for one in taken:
                self.change("attempts", one.attempt_id, lambda r: r["state"] == "placing", state="placed")
            for one in taken:
                self.change("runs", one.run_id, lambda r: r["call_id"] is None, call_id=one.call_id)

        await self._do("placed", (tuple(taken), now), work)

    async def end_run(self, organization_id: int, run_id: int, status: str, reason: str, now: datetime) -> None:
        await self.apply_status(organization_id, run_id, status, None, reason)

    async def finalize_attempts(self, settled: Sequence[AttemptResult], now: datetime) -> None:
        def work() -> None:
            for one in settled:
                if self._close(one, now):
                    self._move_contact(one)

        await self._do("settle", (tuple(settled), now), work)

    def _close(self, one: AttemptResult, now: datetime) -> bool:
        return self.change(
            "attempts", one.attempt_id, lambda r: r["state"] != "final",
            state="final", outcome=one.outcome, reason=one.reason, ended_at=now,
        )  # fmt: skip

    def _move_contact(self, one: AttemptResult) -> None:
        contact = self.get("contacts", one.contact_id)
        assert contact is not None
        dials = contact["dials"] - (not one.was_dialed)
        values: dict[str, Any] = (
            {"state": "done", "outcome": one.outcome, "reason": one.reason, "hold": None}
            if one.again_at is None
            else {
                "state": "pending", "due_at": one.again_at, "reason": one.retry_reason,
                "hold": "retry_delay",
            }
        )  # fmt: skip
        self.change("contacts", one.contact_id, lambda r: r["state"] == "calling", dials=dials, **values)

    async def postpone_check(self, attempt_id: int, check_at: datetime) -> None:
        def work() -> None:
            self.change("attempts", attempt_id, lambda r: True, check_at=check_at)

        await self._do("check_later", (attempt_id, check_at), work)

    async def count_placing_dials(self, organization_id: int, campaign_id: int) -> int:
        def work() -> int:
            return sum(r["campaign_id"] == campaign_id and r["state"] == "placing" for r in self.rows("attempts"))

        return await self._do("dials_on_their_way", (organization_id, campaign_id), work)

    async def has_running_campaign(self, organization_id: int) -> bool:
        return await self._do("has_running", (organization_id,), lambda: bool(self._running_ids(organization_id)))

    async def begin_pass(self, organization_id: int) -> int:
        def work() -> int:
            self.lock(("passes", organization_id))
            unfinished = (self.get("passes", organization_id) or {"unfinished": 0})["unfinished"] + 1
            self.own["passes", organization_id] = {"unfinished": unfinished}
            return int(unfinished)

        return await self._do("pass_begins", (organization_id,), work)

    async def end_pass(self, organization_id: int) -> None:
        def work() -> None:
            self.change("passes", organization_id, lambda r: r["unfinished"] != 0, unfinished=0)

        await self._do("pass_ended", (organization_id,), work)

    async def schedule_dialing(self, organization_id: int, at: datetime | None) -> None:
        """As the store does it: a process that dials looks itself, and the job is for the case that it dies before."""

        def work() -> None:
            wall, per_s = self.memory.wall(), 10
            is_now = at is None or at <= wall
            wanted = None if is_now else at
            if is_now and self.process is not None and self.process.dials:
                self.awake.add(organization_id)
                wanted, per_s = wall + CRASH_RECOVERY_DELAY, 1
            slot = None if wanted is None else ceil(wanted.timestamp() * per_s)
            key = None if slot is None else (organization_id, slot, per_s)
            if key is not None and key in self.memory.keys:
                return
            if key is not None:
                self.lock(("job keys", key))  # of two who insert the same key one waits for the other
            delay = 0.0 if slot is None else max(0.0, slot / per_s - wall.timestamp())
            self.insert(
                "jobs", organization_id=organization_id, delay=delay, key=key, is_done=False, is_new=True, tries=0
            )

        await self._do("wake", (organization_id, at), work)

    async def cancel_pending_of_failed(self, now: datetime) -> None:
        def work() -> None:
            for row in self.rows("campaigns"):
                if row["status"] == "failed":
                    self._cancel_pending(row["id"])

        await self._do("cancel_leftovers", (now,), work)

    async def list_running_organizations(self) -> list[int]:
        def work() -> list[int]:
            return sorted({r["organization_id"] for r in self.rows("campaigns") if r["status"] == "running"})

        return await self._do("running_organizations", (), work)

    async def find_stale_attempts(self, now: datetime, limit: int) -> list[StaleAttempt]:
        def work() -> list[StaleAttempt]:
            found = []
            for row in sorted(self.rows("attempts"), key=lambda r: r["check_at"]):
                if row["state"] == "final" or row["run_id"] is None:
                    continue
                run = self.get("runs", row["run_id"])
                assert run is not None
                is_over = run["status"] not in LIVE_STATES and run["lease_until"] is None
                if is_over or row["check_at"] < now:
                    found.append(StaleAttempt(row["id"], row["organization_id"], row["run_id"], row["campaign_id"]))
            return found[:limit]

        return await self._do("silent", (now, limit), work)
