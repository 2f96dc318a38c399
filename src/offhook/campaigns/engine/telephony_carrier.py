"""The engine's carrier: the telephony domain's ``OutboundCalls`` and ``CallReports``, and the process's clocks."""

import asyncio
import time
from collections.abc import Coroutine, Sequence
from datetime import datetime
from typing import Any

import structlog

from offhook.campaigns.engine.ports import CallLookup, CommittedDial, FateUnknown, NotPlaced
from offhook.errors import DomainError
from offhook.kit.clock import Clock
from offhook.kit.event_bus import EventBus
from offhook.telephony import CallEnded, CallReports, OutboundCalls
from offhook.telephony.calls.dials import place_counted_call
from offhook.telephony.calls.lost_calls import LostCallFinder
from offhook.telephony.calls.outbound import PreparedCall
from offhook.telephony.ports import CarrierFailed, StatusUpdate

log = structlog.get_logger(__name__)


class TelephonyCarrier:
    """Implements ``ports.CampaignCarrier``."""

    def __init__(
        self, outbound: OutboundCalls, lost_calls: LostCallFinder, reports: CallReports, events: EventBus
    ) -> None:
        self._outbound = outbound
        self._lost_calls = lost_calls
        self._reports = reports
        self._events = events

    async def place_call(self, placing: CommittedDial) -> str:
        call: PreparedCall = placing.call
        try:
            return await place_counted_call(call.dialer, call.account, call.request)
        except CarrierFailed as failure:
            if failure.is_fate_unknown:
                raise FateUnknown from failure
            raise NotPlaced(failure.code, is_retryable=failure.retryable) from failure
        except Exception as error:  # vendor boundary: the phone may ring anyway, so the call is investigated later
            log.exception("carrier_failed", run_id=placing.run_id)
            raise FateUnknown from error

    async def find_call(self, organization_id: int, run_id: int) -> CallLookup:
        try:
            update = await self._lost_calls.find_call(organization_id, run_id)
        except (CarrierFailed, DomainError, OSError) as error:
            log.info("carrier_cannot_say", run_id=run_id, error=str(error))
            return CallLookup(is_known=False)
        except Exception:  # vendor boundary: an unreadable answer says nothing
            log.exception("carrier_failed", run_id=run_id)
            return CallLookup(is_known=False)
        if update is None:
            return CallLookup(is_known=True)
        return CallLookup(True, update.status, update.outcome, update.end_reason)

    async def hang_up(self, organization_id: int, run_id: int) -> bool:
        try:
            await self._outbound.hang_up(organization_id, run_id)
        except (CarrierFailed, DomainError, OSError) as error:
            log.warning("hangup_failed", run_id=run_id, error=str(error))
            return False
        except Exception:  # vendor boundary: an unconfirmed call may not have ended
            log.exception("carrier_failed", run_id=run_id)
            return False
        return True

    async def report_status(self, organization_id: int, run_id: int, found: CallLookup) -> None:
        assert found.status is not None
        update = StatusUpdate(found.status, outcome=found.outcome, end_reason=found.reason)
        await self._reports.report_status(organization_id, run_id, update)

    async def publish_call_ended(self, organization_id: int, run_id: int, status: str) -> None:
        await self._events.publish(CallEnded(organization_id, run_id, status))


class ProcessTime:
    """Implements ``ports.EngineTime``."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def now(self) -> datetime:
        return self._clock.now()

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def gather(self, work: Sequence[Coroutine[Any, Any, None]]) -> None:
        """Waits until all are done, then raises the first error."""
        done = await asyncio.gather(*work, return_exceptions=True)
        for one in done:
            if isinstance(one, BaseException):
                raise one
