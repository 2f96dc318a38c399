"""Carriers' status callbacks: verified, counted once, and applied to the run and the process that carries it."""

from dataclasses import dataclass, replace
from typing import Final, Literal

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.database.database import Database
from offhook.kit.event_bus import EventBus
from offhook.runs import Run
from offhook.runs import service as runs
from offhook.runs.errors import RunNotFound
from offhook.runs.finishing import carrier_charges
from offhook.runs.live import lease_queries
from offhook.runs.records import carrier_call_queries, carrier_calls
from offhook.runs.states import COMPLETED, FINAL_STATES
from offhook.telephony import call_signals
from offhook.telephony.accounts import repository
from offhook.telephony.accounts.credentials import CarrierAccounts
from offhook.telephony.accounts.public_urls import PublicAddress
from offhook.telephony.calls.status_reports import MEDIA_NEVER_CAME, not_connected_reason
from offhook.telephony.errors import CarrierUnknown, ConfigurationNotFound, WebhookNotReadable, WebhookRefused
from offhook.telephony.events import CallEnded, CallStreamEnded, OutcomeCorrected
from offhook.telephony.ports import (
    CallBilled,
    CarrierAccount,
    CarrierRegistry,
    CarrierReport,
    CarrierSpec,
    CarrierWebhook,
    MachineVerdict,
    StatusUpdate,
    StreamEnded,
    WebhookProof,
    WebhookUnreadable,
)
from offhook.telephony.signal_statements import send_signal
from offhook.telephony.webhooks.verification import ReplayGuard
from offhook.workflows import service as workflows

CallbackResult = Literal["ok", "duplicate", "ignored"]
OK: Final = "ok"
DUPLICATE: Final = "duplicate"
IGNORED: Final = "ignored"
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class CallbackRequest:
    """A carrier's request; ``token`` comes from the query and is unchecked."""

    webhook: CarrierWebhook
    token: str | None = None


class CarrierCallbacks:
    """Handles callbacks. Every method returns the outcome, or raises WebhookRefused (401) or WebhookNotReadable
    (422) and then changes nothing."""

    def __init__(
        self,
        db: Database,
        events: EventBus,
        carriers: CarrierRegistry,
        accounts: CarrierAccounts,
        address: PublicAddress,
        proofs: ReplayGuard,
    ) -> None:
        self._db = db
        self._events = events
        self._carriers = carriers
        self._accounts = accounts
        self._address = address
        self._proofs = proofs

    async def handle_for_run(self, provider: str, kind: str, run_id: int, callback: CallbackRequest) -> CallbackResult:
        """Handles a callback for the run that the URL names, with the run's secret: the carrier's signature alone says
        which account it is, not which call. Raises RunNotFound (404)."""
        spec = self._get_spec(provider)
        run, account, webhook, proof = await self.verify_for_run(spec, run_id, callback)
        return await self._record_report(spec, account, run, self._parse_report(spec, kind, webhook), webhook, proof)

    async def verify_for_run(
        self, spec: CarrierSpec, run_id: int, callback: CallbackRequest
    ) -> tuple[Run, CarrierAccount, CarrierWebhook, WebhookProof]:
        """Returns the run that a URL names if the URL has its secret and its own account's carrier signed the request.
        Raises RunNotFound (404)."""
        async with self._db.transaction() as session:
            run = await carrier_call_queries.run_for_callback(session, run_id, spec.name)
            if run is None:
                raise RunNotFound
            try:
                account = await self._accounts.account_of_run(session, run)
            except ConfigurationNotFound:
                raise WebhookRefused from None
        if not self._address.is_run_secret(run_id, callback.token or ""):
            raise WebhookRefused
        webhook = replace(callback.webhook, has_secret=True)
        return run, account, webhook, self._proofs.verify_signature(spec, account, webhook)

    async def handle_for_account(
        self, provider: str, kind: str, callback: CallbackRequest, workflow_id: int | None = None
    ) -> CallbackResult:
        """Handles a callback for a run of this carrier's account (or of the workflow), found by its call id. Raises
        RunNotFound (404)."""
        spec = self._get_spec(provider)
        candidates = await self._accounts_of(spec, kind, callback.webhook, workflow_id)
        for account in candidates:
            try:
                proof = self._proofs.verify_signature(spec, account, callback.webhook)
            except WebhookRefused:
                continue
            report = self._parse_report(spec, kind, callback.webhook)
            if report is None:
                return IGNORED
            if report.call_id is None:
                raise WebhookNotReadable("The request does not say which call it is about.")
            async with self._db.transaction(account.organization_id) as session:
                run = await carrier_call_queries.run_by_call_id(
                    session, account.organization_id, account.provider, report.call_id, workflow_id=workflow_id
                )
            if run is not None:
                return await self._record_report(spec, account, run, report, callback.webhook, proof)
            if account is candidates[-1]:
                raise RunNotFound
        raise WebhookRefused

    async def _accounts_of(
        self, spec: CarrierSpec, kind: str, webhook: CarrierWebhook, workflow_id: int | None
    ) -> list[CarrierAccount]:
        """Returns the accounts that the request claims, or all of the carrier's in the workflow's organization."""
        async with self._db.transaction() as session:
            if workflow_id is not None:
                organization_id = await workflows.organization_of(session, workflow_id)
                rows = [
                    row
                    for row in await repository.list_configurations(session, organization_id)
                    if row.provider == spec.name
                ]
            else:
                reference = self.read_account_reference(spec, webhook)
                call_id = _claimed_call(spec, kind, webhook)
                rows = list(await repository.accounts_with_call(session, spec.name, reference, call_id))
            return [await self._accounts.open_account(session, row) for row in rows]

    def read_account_reference(self, spec: CarrierSpec, webhook: CarrierWebhook) -> str:
        """Returns the request's account in its stored form. Raises WebhookRefused (401) without one."""
        if spec.webhooks.inbound is None or spec.account.config is None:
            raise WebhookRefused
        try:
            found = spec.webhooks.inbound.account_reference(webhook)
        except WebhookUnreadable as error:
            raise WebhookNotReadable(str(error) or None) from None
        except Exception as error:  # noqa: BLE001 - the vendor boundary: malformed input from outside is no fault of ours
            log.info("webhook_unreadable", provider=spec.name, error=type(error).__name__)
            raise WebhookNotReadable from None
        if not found:
            raise WebhookRefused
        return spec.account.config.canonical_account(found)

    def _get_spec(self, provider: str) -> CarrierSpec:
        spec = self._carriers.find(provider)
        if spec is None:
            raise CarrierUnknown
        return spec

    def _parse_report(self, spec: CarrierSpec, kind: str, webhook: CarrierWebhook) -> CarrierReport | None:
        if spec.webhooks.statuses is None:
            return None
        try:
            return spec.webhooks.statuses.parse_status(kind, webhook)
        except WebhookUnreadable as error:
            raise WebhookNotReadable(str(error) or None) from None
        except Exception as error:  # noqa: BLE001 - the vendor boundary: carriers deviate from their documentation
            log.warning("webhook_unreadable", provider=spec.name, error=type(error).__name__)
            raise WebhookNotReadable from None

    async def _record_report(
        self,
        spec: CarrierSpec,
        account: CarrierAccount,
        run: Run,
        report: CarrierReport | None,
        webhook: CarrierWebhook,
        proof: WebhookProof,
    ) -> CallbackResult:
        async with self._db.transaction(run.organization_id) as session:
            if not await self._proofs.record_once(session, account, webhook, proof):
                return DUPLICATE
            if report is None:
                return IGNORED
            if report.call_id is not None and report.call_id != run.call_id:
                if await carrier_call_queries.is_call_of_other_run(session, run, report.call_id):
                    log.warning("report_of_other_call", run_id=run.id, provider=account.provider)
                    return IGNORED
                if run.call_id is not None:
                    # A carrier's other legs report to the same address; their events do not change the call.
                    return await note_leg_bill(session, run, report)
            answer, event = await self._apply_report(session, run, report)
        if event is not None:
            await self._events.publish(event)
        return answer

    async def _apply_report(
        self, session: AsyncSession, run: Run, report: CarrierReport
    ) -> tuple[CallbackResult, object | None]:
        """Applies an event. Returns the outcome and the events to publish after the commit."""
        if isinstance(report, MachineVerdict):
            return OK, await record_machine_verdict(session, run, report)
        if isinstance(report, StreamEnded):
            return OK, CallStreamEnded(run.organization_id, run.id, report.media_url)
        bill = report.bill
        is_billed = bill is not None and await carrier_charges.record_carrier_bill(
            session, run.organization_id, run.id, bill
        )
        if isinstance(report, CallBilled):
            return OK if is_billed else DUPLICATE, None
        answer = await self._apply_status(session, run, report)
        if answer == OK and report.status in FINAL_STATES:
            return OK, CallEnded(run.organization_id, run.id, report.status, report.outcome)
        return answer, None

    async def _apply_status(self, session: AsyncSession, run: Run, update: StatusUpdate) -> CallbackResult:
        reason = update.end_reason or not_connected_reason(update.status)
        if (update.status, update.outcome, reason) == (COMPLETED, None, None):
            # The worker reports the end reason of a conversation; without a worker there was no conversation.
            is_carried = await lease_queries.is_carried(session, run.organization_id, run.id)
            reason = None if is_carried else MEDIA_NEVER_CAME
        has_moved = await runs.apply_status(
            session,
            run.organization_id,
            run.id,
            update.status,
            outcome=update.outcome,
            end_reason=reason,
            call_id=update.call_id,
        )
        if not has_moved:
            now = await runs.get_run(session, run.organization_id, run.id)
            return DUPLICATE if now.status == update.status else IGNORED
        if update.status in FINAL_STATES:
            await send_signal(session, call_signals.CALL_OVER, run.id, update.status)
        return OK


def _claimed_call(spec: CarrierSpec, kind: str, webhook: CarrierWebhook) -> str | None:
    """Returns the call that an unverified request is about, only used to find the account that verifies it."""
    try:
        report = spec.webhooks.statuses.parse_status(kind, webhook) if spec.webhooks.statuses is not None else None
    except Exception as error:  # noqa: BLE001 - the vendor boundary: what cannot be read is refused once it is verified
        log.info("webhook_unreadable", provider=spec.name, error=type(error).__name__)
        return None
    return None if report is None else report.call_id


async def note_leg_bill(session: AsyncSession, run: Run, report: CarrierReport | None) -> CallbackResult:
    """Adds the bill of another leg to the run, and nothing else of it."""
    if report is None or isinstance(report, MachineVerdict | StreamEnded):
        return IGNORED
    if report.bill is None or report.call_id is None:
        return IGNORED
    is_new = await carrier_charges.record_carrier_bill(
        session, run.organization_id, run.id, report.bill, leg=report.call_id
    )
    return OK if is_new else DUPLICATE


async def record_machine_verdict(session: AsyncSession, run: Run, verdict: MachineVerdict) -> OutcomeCorrected | None:
    """Records the verdict on the run and sends it to the process that carries it. Returns the events to publish when
    it arrived after the run's end."""
    if not verdict.is_machine:
        await carrier_calls.record_human_answer(session, run.organization_id, run.id)
        return None
    is_corrected = await carrier_calls.record_machine_answer(session, run.organization_id, run.id)
    await send_signal(session, call_signals.MACHINE, run.id, "speak" if verdict.may_speak else "wait")
    return OutcomeCorrected(run.organization_id, run.id) if is_corrected else None
