"""Calls that come to our numbers: proven, brought to the number's agent, or refused in a sentence that the caller hears."""

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
from offhook.runs.live import media_tokens
from offhook.runs.records import carrier_calls
from offhook.runs.states import LIVE
from offhook.telephony.accounts import repository
from offhook.telephony.accounts.credentials import Accounts
from offhook.telephony.accounts.public_urls import PublicAddress, PublicAddressMissing
from offhook.telephony.calls.status_reports import CallReports
from offhook.telephony.carrier_kit.number_formats import candidates, canonical_number
from offhook.telephony.errors import CarrierUnknown, WebhookNotReadable, WebhookRefused
from offhook.telephony.ports import (
    Answerer,
    CarrierAccount,
    CarrierFailed,
    Carriers,
    CarrierSpec,
    Document,
    InboundCall,
    MachineVerdict,
    Proof,
    StatusUpdate,
    Webhook,
    WebhookUnreadable,
)
from offhook.telephony.tables import PhoneNumber, TelephonyConfiguration
from offhook.telephony.webhooks.rejections import UNAVAILABLE, Refusals
from offhook.telephony.webhooks.status_callbacks import Callbacks, Told, tell_machine
from offhook.telephony.webhooks.verification import Proofs

log = structlog.get_logger(__name__)

OVER: Final = "This call is over. Goodbye."
# What the caller hears, by reason; the codes are those of the errors that the reason was.
MESSAGES: Final = {
    "phone_number_not_configured": "We are sorry, this number is not in service.",
    "configuration_inactive": "We are sorry, this number is not in service.",
    "no_workflow": "We are sorry, nobody can take calls to this number yet.",
    "workflow_not_found": "We are sorry, nobody can take calls to this number yet.",
    "workflow_archived": "We are sorry, this service is no longer available.",
    "workflow_not_published": "We are sorry, this service is not available yet.",
    "workflow_has_no_start": "We are sorry, this service is not available yet.",
    "concurrent_call_limit": "We are sorry, all our lines are busy. Please call again in a few minutes.",
    "out_of_credit": "We are sorry, this service is not available right now.",
}
_NOTHING: Final = Document("application/json", b'{"status":"ignored"}')
_HANG_UP: Final = Document("application/xml", b"<Response><Hangup/></Response>")


@dataclass(frozen=True, slots=True)
class _Proven:
    """A request that some accounts' carrier has signed."""

    webhook: Webhook
    proof: Proof
    rows: list[TelephonyConfiguration]
    accounts: list[CarrierAccount]


@dataclass(frozen=True, slots=True)
class _Taken:
    """What is to be answered: connected when there is a token, else refused with the message."""

    account: CarrierAccount
    message: str
    run: Run | None = None
    media_token: str = ""


class InboundCalls:
    """Answers in the carrier's own format. WebhookRefused (401) when it is not signed: then nothing was written."""

    def __init__(
        self,
        db: Database,
        carriers: Carriers,
        accounts: Accounts,
        address: PublicAddress,
        proofs: Proofs,
        callbacks: Callbacks,
        reports: CallReports,
        refusals: Refusals,
    ) -> None:
        self._db = db
        self._carriers = carriers
        self._accounts = accounts
        self._address = address
        self._proofs = proofs
        self._callbacks = callbacks
        self._reports = reports
        self._refusals = refusals

    async def take(self, webhook: Webhook, workflow_id: int | None = None) -> Document:
        """``workflow_id`` replaces the number's agent (the deprecated address); it must be of the same organization."""
        spec, answerer = self._recognised(webhook)
        try:
            return await self._take(spec, answerer, webhook, workflow_id)
        except (DBAPIError, PoolTimeout, OSError) as error:
            log.exception("inbound_call_without_database", provider=spec.name, error=type(error).__name__)
            return await self._refusals.without_database(spec, answerer, webhook)

    async def unavailable(self, webhook: Webhook) -> Document:
        """The fallback: needs no database, and says nothing that a stranger may not know."""
        try:
            spec, answerer = self._recognised(webhook)
        except WebhookRefused:
            return _HANG_UP
        return await self._refusals.without_database(spec, answerer, webhook)

    def _recognised(self, webhook: Webhook) -> tuple[CarrierSpec, Answerer]:
        for name in sorted(self._carriers.names):
            spec = self._carriers.find(name)
            if spec is None or spec.inbound is None or spec.answerer is None:
                continue
            try:
                is_its = spec.inbound.recognises(webhook)
            except Exception as error:  # noqa: BLE001 - the vendor edge: a stranger's bytes are no fault of ours
                log.info("webhook_not_recognisable", provider=name, error=type(error).__name__)
                is_its = False
            if is_its:
                return spec, spec.answerer
        raise WebhookRefused("No carrier that is known here sends this.")

    async def _take(self, spec: CarrierSpec, answerer: Answerer, webhook: Webhook, workflow_id: int | None) -> Document:
        proven = await self._proven(spec, webhook)
        try:
            call = spec.inbound.parse_inbound(proven.webhook) if spec.inbound is not None else None
        except WebhookUnreadable as error:
            raise WebhookNotReadable(str(error) or None) from None
        if call is None:
            return await self._follow_up(spec, proven)
        async with self._db.transaction() as session:
            await self._proofs.is_new(session, proven.accounts[0], webhook, proven.proof)
            taken = await self._route(session, spec, proven, call, workflow_id)
        return await self._answer(spec, answerer, taken, call)

    async def _proven(self, spec: CarrierSpec, webhook: Webhook) -> _Proven:
        """Accounts of several organizations may be one at the carrier: all whose secrets fit are looked at."""
        reference = self._callbacks.reference(spec, webhook)
        async with self._db.transaction() as session:
            found = await repository.accounts_at_carrier(session, spec.name, reference)
            opened = [(row, await self._accounts.opened(session, row)) for row in found]
        rows, accounts, proof = [], [], None
        for row, account in opened:
            try:
                proof = self._proofs.verified(spec, account, webhook)
            except WebhookRefused:
                continue
            rows.append(row)
            accounts.append(account)
        if proof is None:
            raise WebhookRefused
        self._refusals.remember(spec, reference, accounts)
        return _Proven(webhook, proof, rows, accounts)

    async def _follow_up(self, spec: CarrierSpec, proven: _Proven) -> Document:
        if spec.follow_up is not None:
            async with self._db.transaction() as session:
                is_new = await self._proofs.is_new(session, proven.accounts[0], proven.webhook, proven.proof)
            if is_new:
                try:
                    await spec.follow_up.follow_up(proven.accounts[0], proven.webhook)
                except CarrierFailed as failure:
                    log.warning("carrier_follow_up_failed", provider=spec.name, code=failure.code)
        return _NOTHING

    async def _route(
        self, session: AsyncSession, spec: CarrierSpec, proven: _Proven, call: InboundCall, workflow_id: int | None
    ) -> _Taken:
        await carrier_calls.lock_call(session, spec.name, call.call_id)
        ids = [row.id for row in proven.rows]
        countries = await repository.countries(session, ids)
        number = await repository.called(session, ids, candidates(call.to_number, countries))
        index = ids.index(number.telephony_configuration_id) if number is not None else 0
        row, account = proven.rows[index], proven.accounts[index]
        call = replace(call, from_number=canonical_number(call.from_number, countries))
        run = await carrier_calls.by_call_id(session, row.organization_id, spec.name, call.call_id)
        if run is not None:
            return await self._again(session, account, run)
        known = await self._refused_before(session, row, call)
        if known is not None:
            return _Taken(account, known)
        if number is None:
            return await self._refused(session, row, account, call, "phone_number_not_configured")
        if row.inactive_since is not None:
            return await self._refused(session, row, account, call, "configuration_inactive")
        return await self._begin(session, row, account, number, call, workflow_id)

    async def _begin(
        self,
        session: AsyncSession,
        row: TelephonyConfiguration,
        account: CarrierAccount,
        number: PhoneNumber,
        call: InboundCall,
        workflow_id: int | None,
    ) -> _Taken:
        wanted = workflow_id if workflow_id is not None else number.inbound_workflow_id
        if wanted is None:
            return await self._refused(session, row, account, call, "no_workflow")
        try:
            if self._address.base is None:
                raise PublicAddressMissing
            run = await self._new_run(session, row, number, call, wanted)
        except DomainError as error:
            if error.status >= 500:
                raise
            return await self._refused(session, row, account, call, error.code, wanted)
        return await self._connected(session, account, run)

    async def _new_run(
        self,
        session: AsyncSession,
        row: TelephonyConfiguration,
        number: PhoneNumber,
        call: InboundCall,
        workflow_id: int,
    ) -> Run:
        context = {
            "provider": row.provider,
            "telephony_configuration_id": row.id,
            "direction": "inbound",
            "phone_number": call.from_number,
            "caller_number": call.from_number,
            "called_number": number.address_normalized,
        }
        return await runs.create_run(
            session,
            organization_id=row.organization_id,
            workflow_id=workflow_id,
            mode=row.provider,
            direction="inbound",
            use_draft=False,
            name_prefix="WR-TEL-IN",
            phone_number=call.from_number,
            caller_number=call.from_number,
            called_number=number.address_normalized[:32],
            call_id=call.call_id,
            initial_context=context,
        )

    async def _again(self, session: AsyncSession, account: CarrierAccount, run: Run) -> _Taken:
        return await self._connected(session, account, run) if run.status in LIVE else _Taken(account, OVER)

    async def _connected(self, session: AsyncSession, account: CarrierAccount, run: Run) -> _Taken:
        token = self._address.media_token(run.id)
        await media_tokens.issue_again(session, run, token)
        return _Taken(account, "", run, token)

    async def _refused_before(
        self, session: AsyncSession, row: TelephonyConfiguration, call: InboundCall
    ) -> str | None:
        return await repository.refusal(session, row.organization_id, row.provider, call.call_id[:128])

    async def _refused(
        self,
        session: AsyncSession,
        row: TelephonyConfiguration,
        account: CarrierAccount,
        call: InboundCall,
        reason: str,
        workflow_id: int | None = None,
    ) -> _Taken:
        message = MESSAGES.get(reason, UNAVAILABLE)
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
        return _Taken(account, message)

    async def _answer(self, spec: CarrierSpec, answerer: Answerer, taken: _Taken, call: InboundCall) -> Document:
        if taken.run is None:
            return await self._refusals.speak(spec, answerer, taken.account, call.call_id, taken.message)
        run = taken.run
        links = self._address.links(run.mode, run.id, taken.media_token)
        try:
            return await answerer.connect(taken.account, call.call_id, links)
        except CarrierFailed as failure:
            log.warning("inbound_call_not_connected", run_id=run.id, code=failure.code)
            update = StatusUpdate("failed", end_reason=failure.code[:64])
            await self._reports.report(run.organization_id, run.id, update)
            return await self._refusals.speak(spec, answerer, taken.account, call.call_id, UNAVAILABLE)


class Answers:
    """The documents that carriers fetch when a call that we placed is answered."""

    def __init__(
        self,
        db: Database,
        events: EventBus,
        carriers: Carriers,
        address: PublicAddress,
        proofs: Proofs,
        callbacks: Callbacks,
        refusals: Refusals,
    ) -> None:
        self._db = db
        self._events = events
        self._carriers = carriers
        self._address = address
        self._proofs = proofs
        self._callbacks = callbacks
        self._refusals = refusals

    async def document(self, provider: str, run_id: int, told: Told) -> Document:
        """CarrierUnknown or RunNotFound (404), WebhookRefused (401) without the run's secret or the right signature."""
        spec = self._carriers.find(provider)
        if spec is None or spec.answerer is None:
            raise CarrierUnknown
        run, account, webhook, proof = await self._callbacks.proven(spec, run_id, told, needs_secret=True)
        verdict = _verdict(spec, webhook)
        token = self._address.media_token(run.id)
        async with self._db.transaction() as session:
            await self._proofs.is_new(session, account, webhook, proof)
            is_live = run.status in LIVE
            if is_live:
                await media_tokens.issue_again(session, run, token)
            corrected = await tell_machine(session, run, verdict) if verdict is not None else None
        if corrected is not None:
            await self._events.publish(corrected)
        if not is_live:
            return await self._refusals.speak(spec, spec.answerer, account, run.call_id or "", OVER)
        try:
            return await spec.answerer.connect(account, run.call_id or "", self._address.links(provider, run.id, token))
        except CarrierFailed as failure:
            log.warning("call_not_connected", run_id=run.id, code=failure.code)
            return spec.answerer.unavailable(UNAVAILABLE)


def _verdict(spec: CarrierSpec, webhook: Webhook) -> MachineVerdict | None:
    """Carriers that look for machines before they ask for the document say so there."""
    if spec.statuses is None:
        return None
    try:
        news = spec.statuses.parse_status("answer", webhook)
    except WebhookUnreadable:
        return None
    return news if isinstance(news, MachineVerdict) else None
