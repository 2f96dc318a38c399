"""One call to the user's own number as a contact of the campaign would get it, before the campaign starts."""

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.campaigns import repository, service
from offhook.campaigns.errors import ContactNotFound
from offhook.campaigns.rules.voicemail import voicemail_overrides
from offhook.campaigns.schemas import CampaignTestCallRequest, CampaignTestCallResponse
from offhook.campaigns.tables import Contact
from offhook.kit.database.database import Database
from offhook.orgs import Caller, answer_idempotent
from offhook.telephony import CallOrder, OutboundCalls


class CampaignTestCalls:
    """Places test calls of campaigns. One per process."""

    def __init__(self, db: Database, outbound: OutboundCalls) -> None:
        self._db = db
        self._outbound = outbound

    async def place_test_call(
        self, caller: Caller, campaign_id: int, body: CampaignTestCallRequest, idempotency_key: str | None
    ) -> CampaignTestCallResponse:
        """Calls a number with the campaign's published agent, its carrier account and the variables of one contact, once
        per key. The call is no part of the campaign. Raises CampaignNotFound, ContactNotFound (404), and what
        ``OutboundCalls.place_call`` raises.
        """

        async def place_call() -> CampaignTestCallResponse:
            async with self._db.transaction() as session:
                order = await self._build_order(session, caller, campaign_id, body)
            placed = await self._outbound.place_call(order)
            return CampaignTestCallResponse(run_id=placed.run_id, workflow_id=order.workflow_id, status=placed.status)

        return await answer_idempotent(
            self._db,
            CampaignTestCallResponse,
            organization_id=caller.organization_id,
            scope=f"campaign-test-call:{campaign_id}",
            key=idempotency_key,
            body=body,
            action=place_call,
        )

    async def _build_order(
        self, session: AsyncSession, caller: Caller, campaign_id: int, body: CampaignTestCallRequest
    ) -> CallOrder:
        campaign = await service.get_campaign(session, caller.organization_id, campaign_id)
        contact = await self._find_contact(session, caller.organization_id, campaign_id, body.contact_id)
        overrides = voicemail_overrides(campaign.voicemail)
        return CallOrder(
            organization_id=caller.organization_id,
            workflow_id=campaign.workflow_id,
            to_number=body.phone_number,
            use_draft=False,
            configuration_id=campaign.telephony_configuration_id,
            context=dict(contact.variables),
            platform_context={"runtime_configuration": overrides} if overrides else {},
            user_id=caller.user_id,
            api_key_id=caller.key_id,
            impersonator_id=caller.impersonator_id,
        )

    async def _find_contact(
        self, session: AsyncSession, organization_id: int, campaign_id: int, contact_id: int | None
    ) -> Contact:
        if contact_id is not None:
            contact = await repository.find_contact(session, organization_id, campaign_id, contact_id)
        else:
            rows, _ = await repository.list_contacts(
                session, organization_id, campaign_id, states=(), outcomes=(), limit=1, offset=0
            )
            contact = rows[0] if rows else None
        if contact is None:
            raise ContactNotFound
        return contact
