"""Events of a transfer's destination: answered, not answered, ended. They wake the process in which the caller
waits."""

from dataclasses import replace

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.runs import service as runs
from offhook.runs.errors import RunNotFound
from offhook.telephony import call_signals
from offhook.telephony.accounts.credentials import CarrierAccounts
from offhook.telephony.accounts.public_urls import PublicAddress
from offhook.telephony.carrier_kit.callback_kinds import TRANSFER_RESULT
from offhook.telephony.errors import (
    CarrierUnknown,
    ConfigurationNotFound,
    TransferNotFound,
    WebhookNotReadable,
    WebhookRefused,
)
from offhook.telephony.ports import (
    CarrierAccount,
    CarrierDocument,
    CarrierFailed,
    CarrierRegistry,
    CarrierSpec,
    CarrierWebhook,
    StatusParser,
    TransferLegs,
    TransferUpdate,
    WebhookProof,
    WebhookUnreadable,
)
from offhook.telephony.signal_statements import send_signal
from offhook.telephony.tables import PendingTransfer
from offhook.telephony.transfers import repository
from offhook.telephony.transfers.warm_transfers import (
    ANSWERED,
    DESTINATION_ANSWERED,
    ENDED,
    FAILED,
    JOINED,
    RINGING,
    SEATING,
    TRANSFER_FAILED,
    build_leg,
    hang_up,
)
from offhook.telephony.webhooks.status_callbacks import (
    DUPLICATE,
    IGNORED,
    OK,
    CallbackRequest,
    CallbackResult,
    note_leg_bill,
)
from offhook.telephony.webhooks.verification import ReplayGuard


class TransferResults:
    """Handles the results of transfers. Raises TransferNotFound (404), WebhookRefused (401) or WebhookNotReadable
    (422), and then changes nothing."""

    def __init__(
        self,
        db: Database,
        carriers: CarrierRegistry,
        accounts: CarrierAccounts,
        proofs: ReplayGuard,
        address: PublicAddress,
        clock: Clock,
    ) -> None:
        self._address = address
        self._clock = clock
        self._db = db
        self._carriers = carriers
        self._accounts = accounts
        self._proofs = proofs

    async def handle_result(
        self, transfer_id: str, callback: CallbackRequest, provider: str | None = None
    ) -> CallbackResult:
        """Handles a result. ``provider`` comes from the URL, where it names one."""
        row, spec, account, proof = await self._verify_request(transfer_id, callback, provider)
        legs, parser = spec.calls.transfer_legs, spec.webhooks.statuses
        if legs is None or parser is None:
            raise TransferNotFound
        try:
            report = parser.parse_transfer(callback.webhook)
        except WebhookUnreadable as error:
            raise WebhookNotReadable(str(error) or None) from None
        async with self._db.transaction() as session:
            if not await self._proofs.record_once(session, account, callback.webhook, proof):
                return DUPLICATE
            answer = await self._note_bill(session, parser, row, callback.webhook)
        if report is None:
            return answer
        if report.kind == "answered":
            return await self._on_answered(spec, legs, account, row, report)
        return await self._on_leg_ended(spec, account, row, report)

    async def _note_bill(
        self, session: AsyncSession, parser: StatusParser, row: PendingTransfer, webhook: CarrierWebhook
    ) -> CallbackResult:
        """Adds the cost of the destination's leg to its run."""
        try:
            report = parser.parse_status(TRANSFER_RESULT, webhook)
            run = await runs.get_run(session, row.organization_id, row.run_id)
        except (WebhookUnreadable, RunNotFound):
            return IGNORED
        is_other_leg = report is not None and report.call_id != row.call_id
        return await note_leg_bill(session, run, report) if is_other_leg else IGNORED

    def forward_document(self, provider: str, token: str) -> CarrierDocument:
        """Returns the document that redirects a caller. Raises LinkRefused (401) and CarrierUnknown (404)."""
        to_number, from_number, timeout_s = self._address.parse_forward_token(token, self._clock.now().timestamp())
        spec = self._carriers.find(provider)
        document = (
            spec.webhooks.answerer.forward_document(to_number, from_number, timeout_s)
            if spec and spec.webhooks.answerer
            else None
        )
        if document is None:
            raise CarrierUnknown
        return document

    async def conference_document(self, transfer_id: str, callback: CallbackRequest) -> CarrierDocument:
        """Returns the document that the destination's leg fetches when it is answered. At some carriers this fetch is
        the only sign of the answer; the caller fetches the same document to join."""
        row, spec, account, _ = await self._verify_request(transfer_id, callback, None)
        legs, parser, answerer = spec.calls.transfer_legs, spec.webhooks.statuses, spec.webhooks.answerer
        document = answerer.conference_document(transfer_id) if answerer is not None else None
        if document is None or legs is None or parser is None:
            raise TransferNotFound
        try:
            report = parser.parse_transfer(callback.webhook)
        except WebhookUnreadable:
            return document
        if report is not None and report.kind == "answered" and report.destination_id not in {None, row.call_id}:
            await self._on_answered(spec, legs, account, row, report)
        return document

    async def _verify_request(
        self, transfer_id: str, callback: CallbackRequest, provider: str | None
    ) -> tuple[PendingTransfer, CarrierSpec, CarrierAccount, WebhookProof]:
        async with self._db.transaction() as session:
            row = await repository.find_transfer(session, transfer_id)
            spec = self._carriers.find(row.provider) if row is not None else None
            if row is None or spec is None or provider not in {None, row.provider}:
                raise TransferNotFound
            try:
                account = await self._accounts.account_for(
                    session,
                    row.organization_id,
                    configuration_id=row.telephony_configuration_id,
                    provider=row.provider,
                )
            except ConfigurationNotFound:
                raise WebhookRefused from None
        proof = self._proofs.verify_signature(spec, account, replace(callback.webhook, has_secret=True))
        return row, spec, account, proof

    async def _on_answered(
        self,
        spec: CarrierSpec,
        legs: TransferLegs,
        account: CarrierAccount,
        row: PendingTransfer,
        report: TransferUpdate,
    ) -> CallbackResult:
        transfer_id = row.transfer_id
        async with self._db.transaction() as session:
            if report.destination_id is not None:
                await repository.set_destination(session, transfer_id, report.destination_id)
            is_ours = await repository.change_state(session, transfer_id, {RINGING}, SEATING)
            now = await repository.find_transfer(session, transfer_id)
        if now is None:
            raise TransferNotFound
        if not is_ours:
            if now.state in {SEATING, ANSWERED, JOINED}:
                return DUPLICATE
            # The caller has hung up or waits no longer: this leg would stay alone.
            await hang_up(spec, account, now.destination_id or "")
            return IGNORED
        try:
            conference_id = await legs.seat_destination(account, build_leg(now))
        except CarrierFailed:
            await self._fail_transfer(transfer_id, "conference_create_failed")
            await hang_up(spec, account, now.destination_id or "")
            return OK
        async with self._db.transaction() as session:
            is_seated = await repository.change_state(
                session, transfer_id, {SEATING}, ANSWERED, conference_id=conference_id
            )
            if is_seated:
                await send_signal(session, call_signals.TRANSFER, transfer_id, DESTINATION_ANSWERED)
        if not is_seated:
            await hang_up(spec, account, now.destination_id or "")
        return OK

    async def _fail_transfer(self, transfer_id: str, reason: str) -> bool:
        async with self._db.transaction() as session:
            has_failed = await repository.change_state(
                session, transfer_id, {RINGING, SEATING}, FAILED, reason=reason[:64]
            )
            if has_failed:
                await send_signal(session, call_signals.TRANSFER, transfer_id, TRANSFER_FAILED)
        return has_failed

    async def _on_leg_ended(
        self, spec: CarrierSpec, account: CarrierAccount, row: PendingTransfer, report: TransferUpdate
    ) -> CallbackResult:
        """Handles the end of the destination's leg. Before the answer the agent continues; after it the caller's leg
        ends too, so that no empty bridge remains."""
        if await self._fail_transfer(row.transfer_id, report.reason or "call_failed"):
            return OK
        async with self._db.transaction() as session:
            was_there = await repository.change_state(session, row.transfer_id, {ANSWERED, JOINED}, ENDED)
            if was_there:
                await send_signal(session, call_signals.TRANSFER, row.transfer_id, TRANSFER_FAILED)
        if not was_there:
            return DUPLICATE
        await hang_up(spec, account, row.call_id)
        return OK
