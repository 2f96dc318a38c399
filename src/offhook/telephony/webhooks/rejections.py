"""Saying no to a caller: in the carrier's own format, also without the database, and never leaving the line open."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Final

import structlog

from offhook import jobs
from offhook.errors import DomainError
from offhook.kit.database.database import Database
from offhook.kit.tasks import Tasks
from offhook.telephony.accounts.credentials import Accounts
from offhook.telephony.errors import WebhookRefused
from offhook.telephony.ports import (
    Answerer,
    CarrierAccount,
    CarrierFailed,
    Carriers,
    CarrierSpec,
    Document,
    Webhook,
    WebhookUnreadable,
)
from offhook.telephony.webhooks.verification import Proofs

JOB: Final = "telephony.end_refused_call"
UNAVAILABLE: Final = "We are sorry, our system is not available right now. Please call again later."
# Longer than any refusal takes to say.
END_AFTER_S: Final = 30.0
MAX_REMEMBERED: Final = 200
log = structlog.get_logger(__name__)


class Refusals:
    """Most carriers are answered with a document that speaks and hangs up. Where it takes requests, and so an account
    (``CarrierSpec.follow_up``), the accounts that called last are remembered for the time without a database, and a call
    that was refused is hung up after a while in case the carrier's news that it was spoken is lost."""

    def __init__(self, db: Database, carriers: Carriers, accounts: Accounts, proofs: Proofs) -> None:
        self._db = db
        self._carriers = carriers
        self._accounts = accounts
        self._proofs = proofs
        self._remembered: OrderedDict[tuple[str, str], Sequence[CarrierAccount]] = OrderedDict()
        self._timers = Tasks()

    def remember(self, spec: CarrierSpec, reference: str, accounts: Sequence[CarrierAccount]) -> None:
        """``accounts`` have just proven a request that says it is of ``reference``."""
        if spec.follow_up is None:
            return
        self._remembered[spec.name, reference] = accounts
        self._remembered.move_to_end((spec.name, reference))
        while len(self._remembered) > MAX_REMEMBERED:
            self._remembered.popitem(last=False)

    async def speak(
        self, spec: CarrierSpec, answerer: Answerer, account: CarrierAccount, call_id: str, message: str
    ) -> Document:
        if spec.follow_up is not None and call_id:
            payload = {
                "organization_id": account.organization_id,
                "configuration_id": account.id,
                "provider": account.provider,
                "call_id": call_id,
            }
            async with self._db.transaction() as session:
                await jobs.enqueue(session, JOB, payload, delay_s=END_AFTER_S, dedupe_key=f"{JOB}:{call_id}"[:200])
        return await _refuse(answerer, account, call_id, message)

    async def end(self, payload: dict[str, Any]) -> None:
        """The job: hang up; a call that is over already is no error. What fails and may not the next time is raised."""
        spec = self._carriers.find(payload["provider"])
        if spec is None or spec.dialer is None:
            return
        try:
            async with self._db.transaction() as session:
                account = await self._accounts.account_for(
                    session,
                    payload["organization_id"],
                    configuration_id=payload["configuration_id"],
                    provider=payload["provider"],
                )
            await spec.dialer.hang_up(account, payload["call_id"])
        except CarrierFailed as failure:
            log.warning("refused_call_not_ended", provider=spec.name, code=failure.code)
            if failure.retryable:
                raise
        except DomainError as error:  # the account or its key is gone
            log.info("refused_call_not_ended", provider=spec.name, code=error.code)

    async def without_database(self, spec: CarrierSpec, answerer: Answerer, webhook: Webhook) -> Document:
        """Says nothing that a stranger may not know; requests are made for proven calls only."""
        for account in self._known(spec, webhook):
            try:
                self._proofs.verified(spec, account, webhook)
                call = spec.inbound.parse_inbound(webhook) if spec.inbound is not None else None
            except (WebhookRefused, WebhookUnreadable):
                continue
            if call is None:
                break
            self._timers.start(self._hang_up_later(spec, account, call.call_id), name="end-refused-call")
            return await _refuse(answerer, account, call.call_id, UNAVAILABLE)
        return answerer.unavailable(UNAVAILABLE)

    def _known(self, spec: CarrierSpec, webhook: Webhook) -> Sequence[CarrierAccount]:
        """Accounts that need no database: those that called last, and the platform's own."""
        if spec.follow_up is None or spec.inbound is None or spec.config is None:
            return ()
        try:
            reference = spec.config.canonical_account(spec.inbound.account_reference(webhook) or "")
        except Exception as error:  # noqa: BLE001 - the vendor edge: a stranger's bytes are no fault of ours
            log.info("webhook_not_readable", provider=spec.name, error=type(error).__name__)
            return ()
        platform = self._accounts.platform_account(0)
        known = [platform] if platform.provider == spec.name else []
        return [*self._remembered.get((spec.name, reference), ()), *known]

    async def _hang_up_later(self, spec: CarrierSpec, account: CarrierAccount, call_id: str) -> None:
        await asyncio.sleep(END_AFTER_S)
        try:
            if spec.dialer is not None:
                await spec.dialer.hang_up(account, call_id)
        except CarrierFailed as failure:
            log.warning("refused_call_not_ended", provider=spec.name, code=failure.code)

    async def close(self) -> None:
        await self._timers.close()


async def _refuse(answerer: Answerer, account: CarrierAccount, call_id: str, message: str) -> Document:
    try:
        return await answerer.refuse(account, call_id, message)
    except CarrierFailed as failure:
        log.warning("refusal_not_spoken", provider=account.provider, code=failure.code)
        return answerer.unavailable(message)
