"""Users' actions on campaigns: start, pause, resume, change and redial them, and explain a waiting contact."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.campaigns import repository
from offhook.campaigns.engine.engine import CampaignEngine
from offhook.campaigns.engine.store import enqueue_dial_job, plan_from_row
from offhook.campaigns.errors import (
    CampaignNotFound,
    CampaignNotPausable,
    CampaignNotRedialable,
    CampaignNotResumable,
    CampaignNotSchedulable,
    CampaignNotStartable,
    CampaignNotUpdatable,
    CampaignRunsByAccount,
    CampaignRunsWithWorkflow,
    ContactNotFound,
    NothingToRedial,
)
from offhook.campaigns.events import CampaignStatusChanged
from offhook.campaigns.reports.dial_blockers import ContactFacts, WhyNotNow, why_not_now
from offhook.campaigns.reports.presenter import CampaignPresenter
from offhook.campaigns.rules.outcomes import REDIALABLE
from offhook.campaigns.schemas import CampaignResponse
from offhook.campaigns.start_time import NO_START, STARTS_AT
from offhook.campaigns.tables import Attempt, Campaign, Contact
from offhook.campaigns.webhook_events import publish_status_changed
from offhook.errors import DomainError
from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.kit.event_bus import EventBus
from offhook.orgs import Caller, answer_idempotent, write_audit_entry
from offhook.orgs.do_not_call import do_not_call_list
from offhook.runs.call_limits import call_capacity, has_free_place
from offhook.runs.queries import count_calls_of_account
from offhook.telephony import OutboundCalls, destinations
from offhook.usage import service as usage

CARRIER_ACCOUNT: Final = "telephony_configuration_id"


async def get_campaign(session: AsyncSession, organization_id: int, campaign_id: int) -> Campaign:
    """Returns a campaign of the organization. Raises CampaignNotFound (404)."""
    campaign = await repository.find_campaign(session, organization_id, campaign_id)
    if campaign is None:
        raise CampaignNotFound
    return campaign


async def get_any_campaign(session: AsyncSession, campaign_id: int) -> Campaign:
    """Returns a campaign of any organization, for commands. Raises CampaignNotFound (404)."""
    campaign = await repository.find_any_campaign(session, campaign_id)
    if campaign is None:
        raise CampaignNotFound
    return campaign


async def find_dial_of_run(
    session: AsyncSession, organization_id: int, run_id: int
) -> tuple[Campaign, Contact, Attempt] | None:
    """Returns the campaign, the contact and the dial behind a run; None for a run of no campaign."""
    return await repository.find_dial_of_run(session, organization_id, run_id)


async def refuse_while_running(session: AsyncSession, caller: Caller, workflow_id: int) -> None:
    """Prevents deleting a workflow that a running campaign uses. Raises CampaignRunsWithWorkflow (409)."""
    if await repository.has_running_campaign(session, caller.organization_id, workflow_id):
        raise CampaignRunsWithWorkflow


async def refuse_removing_account(session: AsyncSession, organization_id: int, configuration_id: int) -> None:
    """Prevents removing an account, or a number of it, in use by a running campaign. Raises CampaignRunsByAccount
    (409).
    """
    if await repository.has_running_with_account(session, organization_id, configuration_id):
        raise CampaignRunsByAccount


async def start_in_transaction(
    session: AsyncSession, organization_id: int, campaign_id: int, now: datetime
) -> tuple[Campaign, CampaignStatusChanged]:
    """Starts a draft, manually or as scheduled, and returns it with the event to publish after the commit. Raises
    CampaignNotStartable (409), CampaignNotFound (404).
    """
    values = {"status": "running", "started_at": now, "running_since": now, "failure_reason": None, **NO_START}
    return await _change_status(session, organization_id, campaign_id, "draft", values, CampaignNotStartable, now)


async def _change_status(
    session: AsyncSession,
    organization_id: int,
    campaign_id: int,
    source: str,
    values: Mapping[str, object],
    refusal: type[DomainError],
    now: datetime,
) -> tuple[Campaign, CampaignStatusChanged]:
    campaign = await repository.update_if_status(session, organization_id, campaign_id, [source], values)
    if campaign is None:
        current = await get_campaign(session, organization_id, campaign_id)
        raise refusal(f"{refusal.__doc__} This one is {current.status}.")
    if campaign.status == "running":
        await enqueue_dial_job(session, organization_id, None, now)
    event = CampaignStatusChanged(
        organization_id, campaign_id, campaign.name, source, campaign.status, campaign.failure_reason
    )
    await publish_status_changed(session, event)
    return campaign, event


class CampaignService:
    """Changes campaigns. Each method opens its own transactions, because a pause needs more than one."""

    def __init__(
        self,
        db: Database,
        events: EventBus,
        clock: Clock,
        outbound: OutboundCalls,
        engine: CampaignEngine,
        presenter: CampaignPresenter,
    ) -> None:
        self._db = db
        self._presenter = presenter
        self._engine = engine
        self._events = events
        self._clock = clock
        self._outbound = outbound

    async def start_once(self, caller: Caller, campaign_id: int, idempotency_key: str | None) -> CampaignResponse:
        """Starts the campaign once per key and returns it; raises the errors of :meth:`start`."""

        async def start_and_render() -> CampaignResponse:
            campaign = await self.start(caller.organization_id, campaign_id)
            async with self._db.transaction() as session:
                await write_audit_entry(session, caller, "campaign.started", f"campaign:{campaign_id}")
                return await self._presenter.present(session, campaign)

        return await answer_idempotent(
            self._db,
            CampaignResponse,
            organization_id=caller.organization_id,
            scope=f"campaign-start:{campaign_id}",
            key=idempotency_key,
            body=None,
            action=start_and_render,
        )

    async def start(self, organization_id: int, campaign_id: int) -> Campaign:
        """Starts a draft. Raises CampaignNotStartable (409), also for the second of two starts, and CampaignNotFound
        (404).
        """
        async with self._db.transaction() as session:
            campaign, event = await start_in_transaction(session, organization_id, campaign_id, self._clock.now())
        await self._events.publish(event)
        return campaign

    async def resume(self, organization_id: int, campaign_id: int) -> Campaign:
        """Resumes a paused campaign and resets its circuit breaker. Raises CampaignNotResumable (409)."""
        values = {"status": "running", "running_since": self._clock.now(), "failure_reason": None}
        return await self._change_status(organization_id, campaign_id, "paused", values, CampaignNotResumable)

    async def pause(self, organization_id: int, campaign_id: int, reason: str | None = None) -> Campaign:
        """Pauses a running campaign. After the return no new dial begins in any process; calls in progress continue.

        The status changes under the lock that every reserving transaction takes. Dials committed before may still be on
        their way to the carrier: the pause waits for them, at most until they may not begin any more. Raises
        CampaignNotPausable (409).
        """
        values = {"status": "paused", "failure_reason": reason}
        campaign = await self._change_status(organization_id, campaign_id, "running", values, CampaignNotPausable)
        await self._engine.wait_for_committed_dials(organization_id, campaign_id)
        return campaign

    async def _change_status(
        self,
        organization_id: int,
        campaign_id: int,
        source: str,
        values: Mapping[str, object],
        refusal: type[DomainError],
    ) -> Campaign:
        async with self._db.transaction() as session:
            campaign, event = await _change_status(
                session, organization_id, campaign_id, source, values, refusal, self._clock.now()
            )
        await self._events.publish(event)
        return campaign

    async def update(self, organization_id: int, campaign_id: int, values: Mapping[str, object]) -> Campaign:
        """Changes columns of a campaign that is not over; the next dial follows them. All but the carrier account are
        already validated. Raises ConfigurationNotFound (404), CampaignNotUpdatable (409), and CampaignNotSchedulable (409)
        for the start time of a campaign that was started.
        """
        sources = ["draft"] if STARTS_AT in values else ["draft", "running", "paused"]
        async with self._db.transaction() as session:
            if isinstance(account_id := values.get(CARRIER_ACCOUNT), int):
                await self._outbound.load_capacity(session, organization_id, account_id)
            campaign = (
                await repository.update_if_status(session, organization_id, campaign_id, sources, values)
                if values
                else await get_campaign(session, organization_id, campaign_id)
            )
            if campaign is None:
                current = await get_campaign(session, organization_id, campaign_id)
                if current.status in {"completed", "failed"}:
                    raise CampaignNotUpdatable
                raise CampaignNotSchedulable(f"{CampaignNotSchedulable.__doc__} This one is {current.status}.")
            if campaign.status == "running":
                await enqueue_dial_job(session, organization_id, None, self._clock.now())
            return campaign

    async def redial(
        self,
        organization_id: int,
        campaign_id: int,
        *,
        name: str,
        outcomes: Sequence[str],
        created_by: int | None = None,
    ) -> Campaign:
        """Creates a draft like the old campaign, for its unreached contacts that ended in one of ``outcomes``.

        Raises CampaignNotRedialable (409) for drafts and running campaigns, NothingToRedial (422).
        """
        async with self._db.transaction() as session:
            old = await get_campaign(session, organization_id, campaign_id)
            if old.status not in {"completed", "paused", "failed"}:
                raise CampaignNotRedialable(f"{CampaignNotRedialable.__doc__} This one is {old.status}.")
            kept = (
                "workflow_id", "max_concurrency", "telephony_configuration_id", "contacts_file_key", "columns",
                "calling_hours", "retry_config", "circuit_breaker", "destinations", "voicemail", "spend_cap_cents",
            )  # fmt: skip
            new = Campaign(
                organization_id=organization_id,
                name=name,
                parent_campaign_id=old.id,
                created_by=created_by,
                **{column: getattr(old, column) for column in kept},
            )
            session.add(new)
            await session.flush()
            redialed = set(outcomes) & REDIALABLE
            if not redialed or not await repository.copy_contacts(session, organization_id, old.id, new.id, redialed):
                raise NothingToRedial
            await session.refresh(new)
            return new

    async def why_not_now(self, organization_id: int, campaign_id: int, contact_id: int) -> WhyNotNow:
        """Returns the rule that blocks a contact. Raises CampaignNotFound, ContactNotFound (404)."""
        async with self._db.transaction() as session:
            campaign = await get_campaign(session, organization_id, campaign_id)
            contact = await repository.find_contact(session, organization_id, campaign_id, contact_id)
            if contact is None:
                raise ContactNotFound
            facts = await self._load_facts(session, campaign, contact)
        return why_not_now(facts, self._clock.now())

    async def _load_facts(self, session: AsyncSession, campaign: Campaign, contact: Contact) -> ContactFacts:
        room = await call_capacity(session, campaign.organization_id)
        numbers, no_route, account_calls, is_closed = None, None, 0, False
        try:
            route = await self._outbound.find_route(
                session, campaign.organization_id, campaign.workflow_id, campaign.telephony_configuration_id
            )
            numbers = route.numbers
            provider = route.account.provider
            is_closed = bool(
                await destinations.refused_destinations(
                    session, campaign.organization_id, provider, [contact.phone_number]
                )
            )
            account_calls = await count_calls_of_account(
                session, campaign.organization_id, route.account.provider, route.account.id
            )
        except DomainError as error:
            no_route = error.message
        listed = await do_not_call_list.listed_numbers(session, campaign.organization_id, [contact.phone_number])
        return ContactFacts(
            plan=plan_from_row(campaign),
            status=campaign.status,
            status_reason=campaign.failure_reason,
            phone_number=contact.phone_number,
            state=contact.state,
            outcome=contact.outcome,
            reason=contact.reason,
            due_at=contact.due_at,
            hold=contact.hold,
            is_on_do_not_call_list=bool(listed),
            has_credit=await usage.can_spend(session, campaign.organization_id),
            spent_cents=await usage.campaign_spend_cents(session, campaign.organization_id, campaign.id),
            organization_limit=room.limit,
            free_slots=room.free_slots,
            numbers=numbers,
            open_attempts=await repository.count_open_attempts(session, campaign.organization_id, campaign.id),
            no_route=no_route,
            account_calls=account_calls,
            is_closed_by_policy=is_closed,
            has_free_place=has_free_place(session, room),
        )
