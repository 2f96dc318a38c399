"""Refuses callers in the carrier's own format, also without the database, and never leaves the line open."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final, TypedDict

import structlog

from offhook import jobs
from offhook.errors import DomainError
from offhook.kit.database.database import Database
from offhook.kit.tasks import TaskTracker
from offhook.telephony.accounts.credentials import CarrierAccounts
from offhook.telephony.errors import WebhookRefused
from offhook.telephony.ports import (
    CallAnswerer,
    CarrierAccount,
    CarrierDocument,
    CarrierFailed,
    CarrierRegistry,
    CarrierSpec,
    CarrierWebhook,
    WebhookUnreadable,
)
from offhook.telephony.webhooks.verification import ReplayGuard

JOB: Final = "telephony.end_refused_call"
UNAVAILABLE: Final = "We are sorry, our system is not available right now. Please call again later."
# Longer than any refusal takes to say.
HANG_UP_AFTER_S: Final = 30.0
MAX_REMEMBERED: Final = 200
log = structlog.get_logger(__name__)


class CallToEnd(TypedDict):
    """The payload of the job."""

    organization_id: int
    configuration_id: int | None
    provider: str
    call_id: str


class CallRefusals:
    """Refuses calls. Most carriers get a document that speaks and hangs up. Where a carrier needs requests, and so
    an account (``WebhookCapabilities.follow_up``), the accounts that called last are remembered for times without a
    database, and a refused call is hung up after a while in case the carrier's event that the refusal was spoken is
    lost."""

    def __init__(self, db: Database, carriers: CarrierRegistry, accounts: CarrierAccounts, proofs: ReplayGuard) -> None:
        self._db = db
        self._carriers = carriers
        self._accounts = accounts
        self._proofs = proofs
        self._remembered: OrderedDict[tuple[str, str], Sequence[CarrierAccount]] = OrderedDict()
        self._timers = TaskTracker()

    def remember_accounts(self, spec: CarrierSpec, reference: str, accounts: Sequence[CarrierAccount]) -> None:
        """Remembers ``accounts``, which have just verified a request that claims ``reference``."""
        if spec.webhooks.follow_up is None:
            return
        self._remembered[spec.name, reference] = accounts
        self._remembered.move_to_end((spec.name, reference))
        while len(self._remembered) > MAX_REMEMBERED:
            self._remembered.popitem(last=False)

    async def reject_as_busy(
        self, spec: CarrierSpec, answerer: CallAnswerer, account: CarrierAccount, call_id: str, message: str
    ) -> CarrierDocument:
        """Leaves the call unanswered where the carrier can say that we are busy, else speaks the message."""
        try:
            document = await answerer.reject_as_busy(account, call_id)
        except CarrierFailed as failure:
            log.warning("refusal_failed", provider=account.provider, code=failure.code)
            document = None
        return document or await self.speak_refusal(spec, answerer, account, call_id, message)

    async def speak_refusal(
        self, spec: CarrierSpec, answerer: CallAnswerer, account: CarrierAccount, call_id: str, message: str
    ) -> CarrierDocument:
        if spec.webhooks.follow_up is not None and call_id:
            payload = {
                "organization_id": account.organization_id,
                "configuration_id": account.id,
                "provider": account.provider,
                "call_id": call_id,
            }
            async with self._db.transaction() as session:
                await jobs.enqueue(session, JOB, payload, delay_s=HANG_UP_AFTER_S, dedupe_key=f"{JOB}:{call_id}"[:200])
        return await _refuse_call(answerer, account, call_id, message)

    async def end_refused_call(self, payload: CallToEnd) -> None:
        """Runs the job that hangs up; a call that is already over is no error. Raises failures that a retry can fix."""
        spec = self._carriers.find(payload["provider"])
        if spec is None or spec.calls.dialer is None:
            return
        try:
            async with self._db.transaction() as session:
                account = await self._accounts.account_for(
                    session,
                    payload["organization_id"],
                    configuration_id=payload["configuration_id"],
                    provider=payload["provider"],
                )
            await spec.calls.dialer.hang_up(account, payload["call_id"])
        except CarrierFailed as failure:
            log.warning("refused_call_hangup_failed", provider=spec.name, code=failure.code)
            if failure.retryable:
                raise
        except DomainError as error:  # the account or its key is gone
            log.info("refused_call_hangup_failed", provider=spec.name, code=error.code)

    async def refuse_without_database(
        self, spec: CarrierSpec, answerer: CallAnswerer, webhook: CarrierWebhook
    ) -> CarrierDocument:
        """Returns a refusal that discloses nothing; requests are sent for verified calls only."""
        for account in self._known_accounts(spec, webhook):
            try:
                self._proofs.verify_signature(spec, account, webhook)
                call = spec.webhooks.inbound.parse_inbound(webhook) if spec.webhooks.inbound is not None else None
            except (WebhookRefused, WebhookUnreadable):
                continue
            if call is None:
                break
            self._timers.start(self._hang_up_later(spec, account, call.call_id), name="end-refused-call")
            return await _refuse_call(answerer, account, call.call_id, UNAVAILABLE)
        return answerer.unavailable_document(UNAVAILABLE)

    def _known_accounts(self, spec: CarrierSpec, webhook: CarrierWebhook) -> Sequence[CarrierAccount]:
        """Returns the accounts known without a database: those that called last, and the platform's own."""
        if spec.webhooks.follow_up is None or spec.webhooks.inbound is None or spec.account.config is None:
            return ()
        try:
            reference = spec.account.config.canonical_account(spec.webhooks.inbound.account_reference(webhook) or "")
        except Exception as error:  # noqa: BLE001 - the vendor boundary: malformed input from outside is no fault of ours
            log.info("webhook_unreadable", provider=spec.name, error=type(error).__name__)
            return ()
        platform = self._accounts.platform_account(0)
        known = [platform] if platform.provider == spec.name else []
        return [*self._remembered.get((spec.name, reference), ()), *known]

    async def _hang_up_later(self, spec: CarrierSpec, account: CarrierAccount, call_id: str) -> None:
        await asyncio.sleep(HANG_UP_AFTER_S)
        try:
            if spec.calls.dialer is not None:
                await spec.calls.dialer.hang_up(account, call_id)
        except CarrierFailed as failure:
            log.warning("refused_call_hangup_failed", provider=spec.name, code=failure.code)

    async def close(self) -> None:
        await self._timers.close()


async def _refuse_call(answerer: CallAnswerer, account: CarrierAccount, call_id: str, message: str) -> CarrierDocument:
    try:
        return await answerer.refuse_call(account, call_id, message)
    except CarrierFailed as failure:
        log.warning("refusal_failed", provider=account.provider, code=failure.code)
        return answerer.unavailable_document(message)
