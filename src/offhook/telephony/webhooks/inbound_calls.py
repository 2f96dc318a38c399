"""Inbound calls: verified, then connected to the number's agent or refused with a message that the caller hears."""

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

import structlog
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.errors import DomainError
from offhook.kit.database.database import Database
from offhook.kit.event_bus import EventBus
from offhook.runs import Run
from offhook.runs import service as runs
from offhook.runs.errors import ClusterFull, ServerDraining
from offhook.runs.live import media_tokens
from offhook.runs.records import carrier_call_queries
from offhook.runs.states import LIVE_STATES
from offhook.telephony import destinations
from offhook.telephony.accounts import repository
from offhook.telephony.accounts.credentials import CarrierAccounts
from offhook.telephony.accounts.public_urls import PublicAddress, PublicAddressMissing
from offhook.telephony.calls.status_reports import CallReports
from offhook.telephony.carrier_kit.number_formats import candidate_addresses, canonical_number
from offhook.telephony.errors import CarrierUnknown, WebhookNotReadable, WebhookRefused
from offhook.telephony.ports import (
    CallAnswerer,
    CarrierAccount,
    CarrierDocument,
    CarrierFailed,
    CarrierRegistry,
    CarrierSpec,
    CarrierWebhook,
    InboundCall,
    MachineVerdict,
    StatusUpdate,
    WebhookProof,
    WebhookUnreadable,
)
from offhook.telephony.tables import PhoneNumber, TelephonyConfiguration
from offhook.telephony.webhooks.rejections import UNAVAILABLE, CallRefusals
from offhook.telephony.webhooks.status_callbacks import CallbackRequest, CarrierCallbacks, record_machine_verdict
from offhook.telephony.webhooks.verification import ReplayGuard

log = structlog.get_logger(__name__)

CALL_OVER_MESSAGE: Final = "This call is over. Goodbye."
# The messages that callers hear, by reason; the codes are those of the underlying errors.
REFUSAL_MESSAGES: Final = {
    "phone_number_not_configured": "We are sorry, this number is not in service.",
    "configuration_inactive": "We are sorry, this number is not in service.",
    "no_workflow": "We are sorry, this number cannot take calls yet.",
    "workflow_not_found": "We are sorry, this number cannot take calls yet.",
    "workflow_archived": "We are sorry, this service is no longer available.",
    "workflow_not_published": "We are sorry, this service is not available yet.",
    "workflow_has_no_start": "We are sorry, this service is not available yet.",
    "concurrent_call_limit": "We are sorry, all our lines are busy. Please call again in a few minutes.",
    "cluster_full": "We are sorry, all our lines are busy. Please call again in a few minutes.",
    "caller_blocked": "We are sorry, this service is not available.",
    "caller_limit": "We are sorry, you have called too often. Please call again later.",
    "daily_spend_limit": "We are sorry, this service is not available right now.",
    "out_of_credit": "We are sorry, this service is not available right now.",
}
# Refusals that leave the call unanswered, where the carrier can do that.
_BUSY_REASONS: Final = frozenset({"cluster_full"})
_IGNORED_DOCUMENT: Final = CarrierDocument("application/json", b'{"status":"ignored"}')
_HANG_UP: Final = CarrierDocument("application/xml", b"<Response><Hangup/></Response>")


@dataclass(frozen=True, slots=True)
class _VerifiedWebhook:
    """A request that was signed by the carrier of some accounts."""

    webhook: CarrierWebhook
    proof: WebhookProof
    rows: list[TelephonyConfiguration]
    accounts: list[CarrierAccount]


@dataclass(frozen=True, slots=True)
class _InboundDecision:
    """The decision on a call: connected when there is a run, else refused: unanswered if busy, or with the message."""

    account: CarrierAccount
    message: str
    run: Run | None = None
    media_token: str = ""
    is_busy: bool = False


class InboundCalls:
    """Answers inbound calls in the carrier's own format. Raises WebhookRefused (401) for an unsigned request, and
    then writes nothing."""

    def __init__(
        self,
        db: Database,
        carriers: CarrierRegistry,
        accounts: CarrierAccounts,
        address: PublicAddress,
        proofs: ReplayGuard,
        callbacks: CarrierCallbacks,
        reports: CallReports,
        refusals: CallRefusals,
    ) -> None:
        self._db = db
        self._carriers = carriers
        self._accounts = accounts
        self._address = address
        self._proofs = proofs
        self._callbacks = callbacks
        self._reports = reports
        self._refusals = refusals

    async def answer_call(self, webhook: CarrierWebhook, workflow_id: int | None = None) -> CarrierDocument:
        """Answers a call. ``workflow_id`` replaces the number's agent (the deprecated address) and must be of the
        same organization."""
        spec, answerer = self._identify_carrier(webhook)
        try:
            return await self._answer_call(spec, answerer, webhook, workflow_id)
        except (DBAPIError, PoolTimeout, OSError) as error:
            log.exception("inbound_call_without_database", provider=spec.name, error=type(error).__name__)
            return await self._refusals.refuse_without_database(spec, answerer, webhook)

    async def unavailable_document(self, webhook: CarrierWebhook) -> CarrierDocument:
        """Returns the fallback, which needs no database and discloses nothing."""
        try:
            spec, answerer = self._identify_carrier(webhook)
        except WebhookRefused:
            return _HANG_UP
        return await self._refusals.refuse_without_database(spec, answerer, webhook)

    def _identify_carrier(self, webhook: CarrierWebhook) -> tuple[CarrierSpec, CallAnswerer]:
        for name in sorted(self._carriers.names):
            spec = self._carriers.find(name)
            if spec is None or spec.webhooks.inbound is None or spec.webhooks.answerer is None:
                continue
            try:
                is_its = spec.webhooks.inbound.is_from_carrier(webhook)
            except Exception as error:  # noqa: BLE001 - the vendor boundary: malformed input from outside is no fault of ours
                log.info("webhook_recognition_failed", provider=name, error=type(error).__name__)
                is_its = False
            if is_its:
                return spec, spec.webhooks.answerer
        raise WebhookRefused("No known carrier sends this request.")

    async def _answer_call(
        self, spec: CarrierSpec, answerer: CallAnswerer, webhook: CarrierWebhook, workflow_id: int | None
    ) -> CarrierDocument:
        proven = await self._verify_webhook(spec, webhook)
        try:
            call = spec.webhooks.inbound.parse_inbound(proven.webhook) if spec.webhooks.inbound is not None else None
        except WebhookUnreadable as error:
            raise WebhookNotReadable(str(error) or None) from None
        if call is None:
            await self._follow_up(spec, proven)
            return _IGNORED_DOCUMENT
        async with self._db.transaction(proven.accounts[0].organization_id) as session:
            await self._proofs.record_once(session, proven.accounts[0], webhook, proven.proof)
            taken = await self._route_call(session, spec, proven, call, workflow_id)
        return await self._build_document(spec, answerer, taken, call)

    async def _verify_webhook(self, spec: CarrierSpec, webhook: CarrierWebhook) -> _VerifiedWebhook:
        """Returns all accounts whose secrets match: accounts of several organizations may be one at the carrier."""
        reference = self._callbacks.read_account_reference(spec, webhook)
        async with self._db.transaction() as session:
            found = await repository.accounts_at_carrier(session, spec.name, reference, _called_numbers(spec, webhook))
            opened = [(row, await self._accounts.open_account(session, row)) for row in found]
        rows, accounts, proof = [], [], None
        for row, account in opened:
            try:
                proof = self._proofs.verify_signature(spec, account, webhook)
            except WebhookRefused:
                continue
            rows.append(row)
            accounts.append(account)
        if proof is None:
            raise WebhookRefused
        self._refusals.remember_accounts(spec, reference, accounts)
        return _VerifiedWebhook(webhook, proof, rows, accounts)

    async def _follow_up(self, spec: CarrierSpec, proven: _VerifiedWebhook) -> None:
        if spec.webhooks.follow_up is None:
            return
        async with self._db.transaction(proven.accounts[0].organization_id) as session:
            is_new = await self._proofs.record_once(session, proven.accounts[0], proven.webhook, proven.proof)
        if is_new:
            try:
                await spec.webhooks.follow_up.follow_up(proven.accounts[0], proven.webhook)
            except CarrierFailed as failure:
                log.warning("carrier_follow_up_failed", provider=spec.name, code=failure.code)

    async def _route_call(
        self,
        session: AsyncSession,
        spec: CarrierSpec,
        proven: _VerifiedWebhook,
        call: InboundCall,
        workflow_id: int | None,
    ) -> _InboundDecision:
        await carrier_call_queries.lock_call(session, spec.name, call.call_id)
        ids = [row.id for row in proven.rows]
        countries = await repository.number_countries(session, ids)
        # A signature proves little where the carrier's key is public: only a verified account receives calls.
        verified = [row.id for row in proven.rows if row.verified_at is not None]
        number = await repository.find_called_number(session, verified, candidate_addresses(call.to_number, countries))
        index = ids.index(number.telephony_configuration_id) if number is not None else 0
        row, account = proven.rows[index], proven.accounts[index]
        call = replace(call, from_number=canonical_number(call.from_number, countries))
        run = await carrier_call_queries.run_by_call_id(session, row.organization_id, spec.name, call.call_id)
        if run is not None:
            is_live = run.status in LIVE_STATES
            return (
                await self._connect_run(session, account, run)
                if is_live
                else _InboundDecision(account, CALL_OVER_MESSAGE)
            )
        refused = await repository.find_refusal(session, row.organization_id, spec.name, call.call_id[:128])
        if refused is not None:
            return _InboundDecision(account, refused.message, is_busy=refused.reason in _BUSY_REASONS)
        if number is None:
            return await self._refuse_call(session, row, account, call, "phone_number_not_configured")
        if row.inactive_since is not None:
            return await self._refuse_call(session, row, account, call, "configuration_inactive")
        return await self._begin_call(session, row, account, number, call, workflow_id)

    async def _begin_call(
        self,
        session: AsyncSession,
        row: TelephonyConfiguration,
        account: CarrierAccount,
        number: PhoneNumber,
        call: InboundCall,
        workflow_id: int | None,
    ) -> _InboundDecision:
        wanted = workflow_id if workflow_id is not None else number.inbound_workflow_id
        if wanted is None:
            return await self._refuse_call(session, row, account, call, "no_workflow")
        refusal = await destinations.find_caller_refusal(session, row.organization_id, call.from_number)
        if refusal is not None:
            return await self._refuse_call(session, row, account, call, refusal, wanted)
        try:
            if self._address.base is None:
                raise PublicAddressMissing
            run = await runs.create_run(
                session,
                organization_id=row.organization_id,
                workflow_id=wanted,
                mode=row.provider,
                direction="inbound",
                use_draft=False,
                name_prefix="WR-TEL-IN",
                phone_number=call.from_number,
                caller_number=call.from_number,
                called_number=number.address_normalized[:32],
                call_id=call.call_id,
                initial_context={
                    "provider": row.provider,
                    "telephony_configuration_id": row.id,
                    "direction": "inbound",
                    "phone_number": call.from_number,
                    "caller_number": call.from_number,
                    "called_number": number.address_normalized,
                },
            )
        except DomainError as error:
            if error.status >= 500 and not isinstance(error, ServerDraining | ClusterFull):
                raise
            return await self._refuse_call(session, row, account, call, error.code, wanted)
        return await self._connect_run(session, account, run)

    async def _connect_run(self, session: AsyncSession, account: CarrierAccount, run: Run) -> _InboundDecision:
        token = self._address.media_token(run.id)
        await media_tokens.reissue_token(session, run, token)
        return _InboundDecision(account, "", run, token)

    async def _refuse_call(
        self,
        session: AsyncSession,
        row: TelephonyConfiguration,
        account: CarrierAccount,
        call: InboundCall,
        reason: str,
        workflow_id: int | None = None,
    ) -> _InboundDecision:
        message = REFUSAL_MESSAGES.get(reason, UNAVAILABLE)
        await repository.write_refusal(
            session,
            row,
            {
                "call_id": call.call_id[:128],
                "caller_number": (call.from_number or "")[:255] or None,
                "called_number": call.to_number[:255],
                "workflow_id": workflow_id,
                "reason": reason,
                "message": message,
            },
        )
        log.info("inbound_call_refused", provider=row.provider, reason=reason, configuration_id=row.id)
        return _InboundDecision(account, message, is_busy=reason in _BUSY_REASONS)

    async def _build_document(
        self, spec: CarrierSpec, answerer: CallAnswerer, taken: _InboundDecision, call: InboundCall
    ) -> CarrierDocument:
        if taken.run is None:
            refuse = self._refusals.reject_as_busy if taken.is_busy else self._refusals.speak_refusal
            return await refuse(spec, answerer, taken.account, call.call_id, taken.message)
        run = taken.run
        links = self._address.call_links(run.mode, run.id, taken.media_token)
        try:
            return await answerer.answer_call(taken.account, call.call_id, links)
        except CarrierFailed as failure:
            log.warning("inbound_call_not_connected", run_id=run.id, code=failure.code)
            update = StatusUpdate("failed", end_reason=failure.code[:64])
            await self._reports.report_status(run.organization_id, run.id, update)
            return await self._refusals.speak_refusal(spec, answerer, taken.account, call.call_id, UNAVAILABLE)


def _called_numbers(spec: CarrierSpec, webhook: CarrierWebhook) -> set[str]:
    """Returns the number that an unverified request says was called, only used to find the account that verifies it."""
    try:
        call = spec.webhooks.inbound.parse_inbound(webhook) if spec.webhooks.inbound is not None else None
    except Exception as error:  # noqa: BLE001 - the vendor boundary: what cannot be read is refused once it is verified
        log.info("webhook_unreadable", provider=spec.name, error=type(error).__name__)
        return set()
    return candidate_addresses(call.to_number) if call is not None else set()


class AnswerDocuments:
    """Builds the documents that carriers fetch when a call that we placed is answered."""

    def __init__(
        self,
        db: Database,
        events: EventBus,
        carriers: CarrierRegistry,
        address: PublicAddress,
        proofs: ReplayGuard,
        callbacks: CarrierCallbacks,
        refusals: CallRefusals,
    ) -> None:
        self._db = db
        self._events = events
        self._carriers = carriers
        self._address = address
        self._proofs = proofs
        self._callbacks = callbacks
        self._refusals = refusals

    async def build_document(self, provider: str, run_id: int, callback: CallbackRequest) -> CarrierDocument:
        """Builds the document. Raises CarrierUnknown or RunNotFound (404), and WebhookRefused (401) without the
        run's secret or the right signature."""
        spec = self._carriers.find(provider)
        if spec is None or spec.webhooks.answerer is None:
            raise CarrierUnknown
        run, account, webhook, proof = await self._callbacks.verify_for_run(spec, run_id, callback)
        verdict = None
        if spec.webhooks.statuses is not None:
            # Some carriers detect machines before they fetch the document.
            with suppress(WebhookUnreadable):
                report = spec.webhooks.statuses.parse_status("answer", webhook)
                verdict = report if isinstance(report, MachineVerdict) else None
        token = self._address.media_token(run.id)
        async with self._db.transaction(run.organization_id) as session:
            await self._proofs.record_once(session, account, webhook, proof)
            is_live = run.status in LIVE_STATES
            if is_live:
                await media_tokens.reissue_token(session, run, token)
            corrected = await record_machine_verdict(session, run, verdict) if verdict is not None else None
        if corrected is not None:
            await self._events.publish(corrected)
        if not is_live:
            return await self._refusals.speak_refusal(
                spec, spec.webhooks.answerer, account, run.call_id or "", CALL_OVER_MESSAGE
            )
        try:
            return await spec.webhooks.answerer.answer_call(
                account, run.call_id or "", self._address.call_links(provider, run.id, token)
            )
        except CarrierFailed as failure:
            log.warning("call_not_connected", run_id=run.id, code=failure.code)
            return spec.webhooks.answerer.unavailable_document(UNAVAILABLE)
