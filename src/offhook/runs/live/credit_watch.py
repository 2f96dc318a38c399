"""Ends live calls in order when their money ends: a warning first, then a last sentence."""

import asyncio
from collections.abc import Callable, Collection, Mapping
from decimal import Decimal
from typing import Any, Final, Protocol

import structlog

from offhook.kit.database.database import Database
from offhook.kit.database.outage import DATABASE_ERRORS
from offhook.models import prices
from offhook.runs.finishing.costs import CallTariff, estimate_cents
from offhook.usage import service as usage

log = structlog.get_logger(__name__)
# A call asks for more when it holds less than this above what it has used.
MIN_LEFT_CENTS: Final = Decimal(10)
CHECK_INTERVAL_S: Final = 3.0
# How long one organization's check may wait for its locks.
CHECK_TIMEOUT_S: Final = 5.0
UNCHECKED: Final = (*DATABASE_ERRORS, ArithmeticError, LookupError, ValueError)


class MeteredSession(Protocol):
    """The conversation of a live call."""

    def elapsed_s(self) -> float:
        """Returns the seconds since the call began."""
        ...

    def usage_so_far(self) -> Mapping[str, Any]:
        """Returns what has been used of models, as in the ``usage_counted`` event."""
        ...

    def limit_time(self, left_s: float | None) -> None:
        """Lets the call end in ``left_s`` seconds because its money ends; None: not for now."""
        ...


class MeteredCall(Protocol):
    @property
    def run_id(self) -> int: ...
    @property
    def organization_id(self) -> int: ...
    @property
    def tariff(self) -> CallTariff: ...
    @property
    def session(self) -> MeteredSession: ...


class CreditWatch:
    """Watches what the live calls of this process have used, and what their organizations can still pay."""

    def __init__(self, db: Database, live_calls: Callable[[], Collection[MeteredCall]] = tuple) -> None:
        self._db = db
        self._live_calls = live_calls
        self._task: asyncio.Task[None] | None = None
        # By run; an organization without limits has an endless hold.
        self._held: dict[int, Decimal] = {}

    def ensure_running(self) -> None:
        """Watches in the background until no call is live."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._watch(), name="call-credit")

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(CHECK_INTERVAL_S)
            calls = self._live_calls()
            if not calls:
                return
            await self.check_calls(calls)

    async def check_calls(self, calls: Collection[MeteredCall]) -> None:
        """Sets aside more money for calls that need it, and lets those end for which there is none."""
        self._held = {call.run_id: held for call in calls if (held := self._held.get(call.run_id)) is not None}
        for organization_id in sorted({call.organization_id for call in calls}):
            own_calls = [call for call in calls if call.organization_id == organization_id]
            try:
                async with asyncio.timeout(CHECK_TIMEOUT_S):
                    await self._check_organization(organization_id, own_calls)
            except UNCHECKED as error:  # one organization's trouble must not leave the others unwatched
                log.warning("call_credit_not_checked", organization_id=organization_id, error=type(error).__name__)

    async def _check_organization(self, organization_id: int, calls: Collection[MeteredCall]) -> None:
        if all(self._held.get(call.run_id) == Decimal("Infinity") for call in calls):
            return
        async with self._db.transaction() as session:
            price_list = await prices.price_list(session, organization_id)
            per_minute = await usage.platform_price(session, organization_id)
            used = {}
            for call in calls:
                seconds = Decimal(str(round(call.session.elapsed_s(), 3)))
                vendors = estimate_cents(price_list, call.tariff, call.session.usage_so_far(), seconds)
                used[call.run_id] = vendors + per_minute * seconds / 60
            needy = {
                run_id: cents
                for run_id, cents in used.items()
                if self._held.get(run_id, Decimal(0)) - cents < MIN_LEFT_CENTS
            }
            found = await usage.extend_calls(session, organization_id, needy) if needy else {}
        for call in calls:
            if call.run_id in needy:
                self._apply(call, used[call.run_id], found.get(call.run_id))

    def _apply(self, call: MeteredCall, used: Decimal, credit: usage.CallCredit | None) -> None:
        self._held[call.run_id] = Decimal("Infinity") if credit is None else Decimal(credit.held_cents)
        if credit is None or not credit.is_last:
            call.session.limit_time(None)
            return
        elapsed_s = call.session.elapsed_s()
        left = max(Decimal(0), credit.held_cents - used)
        if not used:
            return
        left_s = float(left / used) * elapsed_s
        log.info("call_credit_ends", run_id=call.run_id, left_s=round(left_s, 1))
        call.session.limit_time(left_s)
