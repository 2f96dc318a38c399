"""Places calls: reserves a run, asks the carrier with no transaction open, and records the response."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.kit.json_values import JsonObject
from offhook.orgs import service as orgs
from offhook.orgs.do_not_call import do_not_call_list
from offhook.root import settings_of
from offhook.runs import Run
from offhook.runs import service as runs
from offhook.runs.live import lease_queries, media_tokens
from offhook.runs.records import bulk
from offhook.runs.records.placement import CallPlacement
from offhook.runs.states import FINAL_STATES, INITIATED
from offhook.telephony import destinations
from offhook.telephony.accounts.credentials import CarrierAccounts
from offhook.telephony.accounts.public_urls import PublicAddress, PublicAddressMissing
from offhook.telephony.calls import caller_id
from offhook.telephony.calls.dials import place_counted_call
from offhook.telephony.calls.lost_calls import LostCallFinder
from offhook.telephony.calls.status_reports import CallReports
from offhook.telephony.errors import (
    CarrierCannotDial,
    CarrierRefused,
    NoTelephoneCall,
    NumberMissing,
    NumberOnDoNotCallList,
    RunNotDialable,
)
from offhook.telephony.ports import (
    CallCapabilities,
    CallDialer,
    CallLinks,
    CarrierAccount,
    CarrierFailed,
    CarrierRegistry,
    CarrierSpec,
    DialRequest,
    StatusUpdate,
)
from offhook.workflows import service as workflows
from offhook.workflows.service import VersionToRun

log = structlog.get_logger(__name__)

# Set by the platform: values under these names in a public trigger's request are dropped.
RESERVED_CONTEXT: Final = frozenset(
    {
        "provider", "runtime_configuration", "mps_correlation_id", "direction", "phone_number", "called_number",
        "caller_number", "trigger_mode", "telephony_configuration_id", "workflow_uuid", "agent_uuid", "api_key_id",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CallOrder:
    """A call to place. ``run_id`` names an existing run that waits for it; otherwise a run is created. Numbers are
    E.164. Without ``to_number``, the waiting run's own number is dialed; a test (``use_draft``) falls back to the
    organization's test number."""

    organization_id: int
    workflow_id: int
    to_number: str | None
    use_draft: bool
    run_id: int | None = None
    configuration_id: int | None = None
    from_phone_number_id: int | None = None
    context: JsonObject = field(default_factory=dict)
    platform_context: JsonObject = field(default_factory=dict)
    user_id: int | None = None
    api_key_id: int | None = None
    impersonator_id: int | None = None
    trigger: str | None = None


@dataclass(frozen=True, slots=True)
class PlacedCall:
    run_id: int
    run_name: str
    status: str
    call_id: str | None


@dataclass(frozen=True, slots=True)
class _ReservedCall:
    account: CarrierAccount
    dialer: CallDialer
    request: DialRequest
    run_name: str


@dataclass(frozen=True, slots=True)
class CarrierRoute:
    """The agent's published version and the carrier account for a campaign's calls, looked up once for many calls.

    ``numbers``: how many calls the account's numbers carry at once, None when they do not limit.
    """

    version: VersionToRun
    account: CarrierAccount
    numbers: int | None
    calls_per_second: float | None
    carrier: CarrierSpec = field(repr=False)
    dialer: CallDialer = field(repr=False)


@dataclass(frozen=True, slots=True)
class BatchCall:
    """One call of a batch on one route; ``platform_context`` wins over ``context``."""

    name: str
    to_number: str
    context: JsonObject
    platform_context: JsonObject
    placement: CallPlacement


@dataclass(frozen=True, slots=True)
class PreparedCall:
    """A call whose run exists. After the commit, its dialer places it once."""

    organization_id: int
    run_id: int
    account: CarrierAccount
    request: DialRequest
    dialer: CallDialer = field(repr=False)


class OutboundCalls:
    """Places single calls with ``place_call``, and prepares batches with ``prepare_calls``."""

    def __init__(
        self,
        db: Database,
        carriers: CarrierRegistry,
        reports: CallReports,
        accounts: CarrierAccounts,
        address: PublicAddress,
        lost: LostCallFinder,
        clock: Clock,
    ) -> None:
        self.db = db
        self._clock = clock
        self._carriers = carriers
        self._reports = reports
        self._accounts = accounts
        self._address = address
        self._lost = lost

    async def place_call(self, order: CallOrder) -> PlacedCall:
        """Places a call. Raises what makes a run impossible (404, 409, 422, 429), or CarrierRefused (502) when the
        carrier did not take the call; the run then ends as ``failed``.

        A call whose fate is unknown (the carrier's response was lost) has no call id yet. Its phone may ring, so the
        carrier's callback or its media continue the run, or a job finds it (:class:`LostCallFinder`).
        """
        async with self.db.transaction() as session:
            reserved = await self._reserve_run(session, order)
        run_id = reserved.request.run_id
        try:
            call_id = await place_counted_call(reserved.dialer, reserved.account, reserved.request)
        except CarrierFailed as failure:
            if failure.is_fate_unknown:
                log.warning("carrier_answer_lost", run_id=run_id, code=failure.code)
                return PlacedCall(run_id, reserved.run_name, INITIATED, None)
            log.warning("carrier_refused_call", run_id=run_id, code=failure.code)
            update = StatusUpdate("failed", end_reason=failure.code)
            await self._reports.report_status(order.organization_id, run_id, update)
            raise CarrierRefused(f"The carrier did not place the call: {failure.message}") from None
        except BaseException:
            await self._reports.report_status(order.organization_id, run_id, StatusUpdate("failed", end_reason="error"))
            raise
        async with self.db.transaction() as session:
            await runs.set_call_ids(session, [(order.organization_id, run_id, call_id)])
        return PlacedCall(run_id, reserved.run_name, INITIATED, call_id)

    async def find_route(
        self, session: AsyncSession, organization_id: int, workflow_id: int, configuration_id: int | None
    ) -> CarrierRoute:
        """Returns the route. Raises what makes all of its calls impossible (404, 409, 422)."""
        version = await workflows.get_version_to_run(session, organization_id, workflow_id)
        account = await self._accounts.account_for(session, organization_id, configuration_id=configuration_id)
        spec, dialer = self._get_dialer(account)
        caller_id.require_number(spec.calls, account)
        return CarrierRoute(
            version,
            account,
            caller_id.call_capacity(spec.calls, account),
            _calls_per_second(spec.calls, account),
            spec,
            dialer,
        )

    def _get_dialer(self, account: CarrierAccount) -> tuple[CarrierSpec, CallDialer]:
        """Returns the carrier's dialer. Raises CarrierCannotDial (422), or PublicAddressMissing (409) where the
        carrier has to reach us and cannot."""
        spec = self._carriers.find(account.provider)
        if spec is None or spec.calls.dialer is None:
            raise CarrierCannotDial(f"{account.provider} cannot place calls.")
        if not spec.is_in_process and self._address.base is None:
            raise PublicAddressMissing
        return spec, spec.calls.dialer

    def _call_links(self, spec: CarrierSpec, run_id: int, media_token: str) -> CallLinks | None:
        """Returns the URLs that a carrier outside this process needs for the call."""
        return None if spec.is_in_process else self._address.call_links(spec.name, run_id, media_token)

    async def load_capacity(
        self, session: AsyncSession, organization_id: int, configuration_id: int | None
    ) -> tuple[int | None, float | None]:
        """Returns ``(numbers, calls per second)`` of the account that would place calls, each None where it does not
        limit. Raises ConfigurationNotFound (404)."""
        account = await self._accounts.account_for(session, organization_id, configuration_id=configuration_id)
        spec = self._carriers.find(account.provider)
        calls = spec.calls if spec is not None else CallCapabilities()
        return caller_id.call_capacity(calls, account), _calls_per_second(calls, account)

    async def prepare_calls(
        self, session: AsyncSession, route: CarrierRoute, campaign_id: int, calls: Sequence[BatchCall]
    ) -> list[PreparedCall]:
        """Creates the runs, in the order of ``calls``. The caller holds as many of the organization's call slots."""
        ours = await caller_id.choose_for_campaign(session, route.carrier.calls, route.account, len(calls))
        contexts = [
            call_context(route.account, call.context, call.platform_context, call.to_number, from_number)
            for call, from_number in zip(calls, ours, strict=True)
        ]
        made = await bulk.create_calls(
            session,
            route.version,
            mode=route.account.provider,
            campaign_id=campaign_id,
            calls=[
                bulk.NewCall(call.name, call.to_number, from_number, context, call.placement)
                for call, from_number, context in zip(calls, ours, contexts, strict=True)
            ],
        )
        return [
            PreparedCall(
                route.version.organization_id,
                run.id,
                route.account,
                DialRequest(
                    run.id,
                    call.to_number,
                    from_number,
                    run.media_token,
                    links=self._call_links(route.carrier, run.id, run.media_token),
                    has_machine_detection=route.account.config.get("amd_enabled") is True,
                ),
                route.dialer,
            )
            for run, call, from_number in zip(made, calls, ours, strict=True)
        ]

    async def hang_up(self, organization_id: int, run_id: int) -> None:
        """Ends a call that was placed here, in any state; a finished one stays unchanged. Raises RunNotFound (404)
        and NoTelephoneCall (409)."""
        async with self.db.transaction() as session:
            run = await runs.get_run(session, organization_id, run_id)
            spec = self._carriers.find(run.mode)
            if spec is None:
                raise NoTelephoneCall
            if run.status in FINAL_STATES or run.call_id is None:
                return
            account = await self._accounts.account_of_run(session, run)
        if spec.calls.dialer is not None:
            try:
                await spec.calls.dialer.hang_up(account, run.call_id)
            except CarrierFailed as failure:
                raise CarrierRefused(f"The carrier did not end the call: {failure.message}") from None

    async def _reserve_run(self, session: AsyncSession, order: CallOrder) -> _ReservedCall:
        waiting = None
        if order.run_id is not None:
            waiting = await runs.get_run(session, order.organization_id, order.run_id, workflow_id=order.workflow_id)
            is_dialed = waiting.status != INITIATED or waiting.call_id is not None
            if is_dialed or self._carriers.find(waiting.mode) is None:
                raise RunNotDialable
        to_number = order.to_number or (waiting.phone_number if waiting else None)
        if to_number is None and order.use_draft:
            to_number = (await orgs.get_organization(session, order.organization_id)).test_phone_number
        if to_number is None:
            raise NumberMissing
        if await do_not_call_list.listed_numbers(session, order.organization_id, [to_number]):
            raise NumberOnDoNotCallList
        account = await self._accounts.account_to_dial_from(
            session,
            order.organization_id,
            order.from_phone_number_id,
            configuration_id=order.configuration_id,
            provider=waiting.mode if waiting else None,
        )
        await destinations.require_allowed(session, order.organization_id, account.provider, to_number)
        spec, dialer = self._get_dialer(account)
        from_number = await caller_id.choose_for_call(session, spec.calls, account)
        context = call_context(account, order.context, order.platform_context, to_number, from_number)
        if waiting is None:
            run = await self._new_run(session, order, account, context)
        else:
            run = await self._take_waiting(session, waiting, context, _placement_of(order, self._clock.now()))
        phones = spec.calls.local_phones
        if phones is not None and phones.rings(account):
            # Set along with the run, so that a process which dies before the phone rings does not hold its slot for
            # minutes.
            until = self._clock.now() + timedelta(seconds=settings_of(session).run_lease_s)
            await lease_queries.lease_ringing_runs(session, [run.id], until=until)
        await self._lost.watch_dial(session, spec, run)
        token = await media_tokens.issue_token(session, run)
        request = DialRequest(
            run.id,
            to_number,
            from_number,
            token,
            links=self._call_links(spec, run.id, token),
            has_machine_detection=account.config.get("amd_enabled") is True,
        )
        return _ReservedCall(account, dialer, request, run.name)

    async def _take_waiting(
        self, session: AsyncSession, waiting: Run, context: JsonObject, placement: CallPlacement
    ) -> Run:
        """Claims a waiting run. Of two requests for one run only one dials, so that the phone does not ring twice."""
        run = await runs.take_for_dialing(
            session,
            waiting.organization_id,
            waiting.id,
            to_number=str(context["called_number"]),
            from_number=str(context["caller_number"]),
            context={**waiting.initial_context, **context},
            placement=placement,
        )
        if run is None:
            raise RunNotDialable
        return run

    async def _new_run(
        self, session: AsyncSession, order: CallOrder, account: CarrierAccount, context: JsonObject
    ) -> Run:
        return await runs.create_run(
            session,
            organization_id=order.organization_id,
            workflow_id=order.workflow_id,
            mode=account.provider,
            direction="outbound",
            use_draft=order.use_draft,
            phone_number=str(context["phone_number"]),
            caller_number=str(context["caller_number"]),
            called_number=str(context["called_number"]),
            initial_context=context,
            created_by=order.user_id,
            placement=_placement_of(order, self._clock.now()),
        )


def _placement_of(order: CallOrder, now: datetime) -> CallPlacement:
    """Describes a single call that was just checked; calling hours are a campaign's."""
    return CallPlacement(
        placed_by="request" if order.trigger is None else "trigger",
        user_id=order.user_id,
        api_key_id=order.api_key_id,
        impersonator_id=order.impersonator_id,
        trigger=order.trigger,
        checked_at=now,
    )


def call_context(
    account: CarrierAccount, wanted: JsonObject, platform: JsonObject, to_number: str, from_number: str
) -> JsonObject:
    """Returns the initial context of an outbound call. The platform's values win over the request's."""
    return {
        **{key: value for key, value in wanted.items() if key not in RESERVED_CONTEXT},
        **platform,
        "provider": account.provider,
        "telephony_configuration_id": account.id,
        "direction": "outbound",
        "phone_number": to_number,
        "called_number": to_number,
        "caller_number": from_number,
    }


def _calls_per_second(carrier: CallCapabilities, account: CarrierAccount) -> float | None:
    """Returns the rate in the account's configuration, else its carrier's default for new accounts."""
    configured = account.config.get("calls_per_second")
    if isinstance(configured, int | float) and not isinstance(configured, bool) and configured > 0:
        return float(configured)
    return carrier.calls_per_second
