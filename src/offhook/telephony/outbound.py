"""Placing one call: reserve a run, ask the carrier with no transaction open, write down what it said."""

from dataclasses import dataclass, field
from typing import Any, Final

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.db import Database
from offhook.orgs import do_not_call
from offhook.runs import Run, media_tokens
from offhook.runs import service as runs
from offhook.runs.states import FINAL, INITIATED
from offhook.telephony.errors import (
    CarrierCannotDial,
    CarrierRefused,
    NumberMissing,
    NumberOnDoNotCallList,
    PhoneNumberNotFound,
    RunNotDialable,
)
from offhook.telephony.ports import CarrierAccount, CarrierFailed, Carriers, Dialer, DialRequest, StatusUpdate
from offhook.telephony.providers.sandbox.config import SandboxConfig
from offhook.telephony.service import SANDBOX, CallReports, account_for

log = structlog.get_logger(__name__)

# Set by the platform; what a caller of the public trigger sends under these names is dropped.
RESERVED_CONTEXT: Final = frozenset(
    {
        "provider", "runtime_configuration", "mps_correlation_id", "direction", "phone_number", "called_number",
        "caller_number", "trigger_mode", "telephony_configuration_id", "workflow_uuid", "agent_uuid", "api_key_id",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CallOrder:
    """A call to place. ``run_id`` names a run that exists and waits for it, else one is made. Numbers are E.164."""

    organization_id: int
    workflow_id: int
    to_number: str | None
    use_draft: bool
    run_id: int | None = None
    configuration_id: int | None = None
    from_phone_number_id: int | None = None
    context: dict[str, Any] = field(default_factory=dict)
    platform_context: dict[str, Any] = field(default_factory=dict)
    user_id: int | None = None


@dataclass(frozen=True, slots=True)
class PlacedCall:
    run_id: int
    run_name: str
    status: str
    call_id: str


@dataclass(frozen=True, slots=True)
class _Reserved:
    account: CarrierAccount
    dialer: Dialer
    request: DialRequest
    run_name: str


class Outbound:
    """``place`` is the only way in which this process dials."""

    def __init__(self, db: Database, carriers: Carriers, reports: CallReports) -> None:
        self.db = db
        self._carriers = carriers
        self._reports = reports

    async def place(self, order: CallOrder) -> PlacedCall:
        """Dial. Raises what makes a run impossible (404, 409, 422, 429), or CarrierRefused (502) when the carrier
        did not take the call; the run then ends ``failed``."""
        async with self.db.transaction() as session:
            reserved = await self._reserve(session, order)
        run_id = reserved.request.run_id
        try:
            call_id = await reserved.dialer.dial(reserved.account, reserved.request)
        except CarrierFailed as failure:
            log.warning("carrier_refused_call", run_id=run_id, code=failure.code)
            update = StatusUpdate("failed", end_reason=failure.code)
            await self._reports.report(order.organization_id, run_id, update)
            raise CarrierRefused(f"The carrier did not place the call: {failure.message}") from None
        except BaseException:
            await self._reports.report(order.organization_id, run_id, StatusUpdate("failed", end_reason="error"))
            raise
        async with self.db.transaction() as session:
            await runs.set_call_id(session, order.organization_id, run_id, call_id)
        return PlacedCall(run_id, reserved.run_name, INITIATED, call_id)

    async def hang_up(self, organization_id: int, run_id: int) -> None:
        """End a call that was placed here, in whatever state; one that is over stays as it is. RunNotFound (404)."""
        async with self.db.transaction() as session:
            run = await runs.get(session, organization_id, run_id)
            if run.status in FINAL or run.call_id is None:
                return
            spec = self._carriers.find(run.mode)
            configured = run.initial_context.get("telephony_configuration_id")
            account = await account_for(
                session, organization_id, configuration_id=configured or None, provider=run.mode
            )
        if spec is not None and spec.dialer is not None:
            try:
                await spec.dialer.hang_up(account, run.call_id)
            except CarrierFailed as failure:
                raise CarrierRefused(f"The carrier did not end the call: {failure.message}") from None

    async def _reserve(self, session: AsyncSession, order: CallOrder) -> _Reserved:
        if order.from_phone_number_id is not None:
            raise PhoneNumberNotFound
        waiting = await self._waiting_run(session, order) if order.run_id is not None else None
        to_number = order.to_number or (waiting.phone_number if waiting else None)
        if to_number is None:
            raise NumberMissing
        if await do_not_call.is_listed(session, order.organization_id, [to_number]):
            raise NumberOnDoNotCallList
        account = await account_for(
            session,
            order.organization_id,
            configuration_id=order.configuration_id,
            provider=waiting.mode if waiting else None,
        )
        spec = self._carriers.find(account.provider)
        if spec is None or spec.dialer is None:
            raise CarrierCannotDial(f"{account.provider} cannot place calls.")
        from_number = _from_number(account)
        context = _context(order, account, to_number, from_number)
        if waiting is None:
            run = await self._new_run(session, order, account, context)
        else:
            run = await self._take_waiting(session, waiting, context)
        token = await media_tokens.issue(session, run)
        request = DialRequest(run.id, to_number, from_number, token)
        return _Reserved(account, spec.dialer, request, run.name)

    async def _waiting_run(self, session: AsyncSession, order: CallOrder) -> Run:
        assert order.run_id is not None
        run = await runs.get(session, order.organization_id, order.run_id, workflow_id=order.workflow_id)
        if run.status != INITIATED or run.call_id is not None or self._carriers.find(run.mode) is None:
            raise RunNotDialable
        return run

    async def _take_waiting(self, session: AsyncSession, waiting: Run, context: dict[str, Any]) -> Run:
        """Of two requests for one run, one dials: phones must not ring twice."""
        run = await runs.take_for_dialing(
            session,
            waiting.organization_id,
            waiting.id,
            to_number=context["called_number"],
            from_number=context["caller_number"],
            context={**waiting.initial_context, **context},
        )
        if run is None:
            raise RunNotDialable
        return run

    async def _new_run(
        self, session: AsyncSession, order: CallOrder, account: CarrierAccount, context: dict[str, Any]
    ) -> Run:
        return await runs.create_run(
            session,
            organization_id=order.organization_id,
            workflow_id=order.workflow_id,
            mode=account.provider,
            direction="outbound",
            use_draft=order.use_draft,
            phone_number=context["phone_number"],
            caller_number=context["caller_number"],
            called_number=context["called_number"],
            initial_context=context,
            created_by=order.user_id,
        )


def _context(order: CallOrder, account: CarrierAccount, to_number: str, from_number: str) -> dict[str, Any]:
    wanted = {key: value for key, value in order.context.items() if key not in RESERVED_CONTEXT}
    return {
        **wanted,
        **order.platform_context,
        "provider": account.provider,
        "telephony_configuration_id": account.id,
        "direction": "outbound",
        "phone_number": to_number,
        "called_number": to_number,
        "caller_number": from_number,
    }


def _from_number(account: CarrierAccount) -> str:
    configured = account.config.get("from_number")
    if isinstance(configured, str) and configured:
        return configured
    if account.provider != SANDBOX:
        raise PhoneNumberNotFound("This carrier account has no number to call from.")
    return SandboxConfig().from_number
