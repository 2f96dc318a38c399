"""Creates a draft and its contacts from an uploaded file: checks everything, then stores all or nothing."""

from collections.abc import Mapping

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.campaigns import service
from offhook.campaigns.errors import WorkflowNotRunnable
from offhook.campaigns.intake.contact_files import ContactFiles
from offhook.campaigns.intake.contact_import import ContactReader
from offhook.campaigns.intake.repository import CheckedContacts, insert_checked_file
from offhook.campaigns.reports.presenter import CampaignPresenter
from offhook.campaigns.schemas import CampaignResponse, CreateCampaignRequest, UpdateCampaignRequest
from offhook.campaigns.start_time import start_columns
from offhook.campaigns.tables import Campaign
from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.kit.json_values import JsonObject, JsonValue
from offhook.orgs import Caller, answer_idempotent, write_audit_entry
from offhook.telephony import OutboundCalls
from offhook.workflows import service as workflows
from offhook.workflows.errors import WorkflowArchived
from offhook.workflows.service import VersionToRun
from offhook.workflows.validation.references import needed_variables

RULE_COLUMNS = ("calling_hours", "retry_config", "circuit_breaker", "destinations", "voicemail")


class CampaignCreation:
    """Creates campaigns with their contacts. One per process."""

    def __init__(
        self, db: Database, files: ContactFiles, outbound: OutboundCalls, presenter: CampaignPresenter, clock: Clock
    ) -> None:
        self._db = db
        self._files = files
        self._outbound = outbound
        self._presenter = presenter
        self._reader = ContactReader()
        self._clock = clock

    async def create(
        self, caller: Caller, body: CreateCampaignRequest, idempotency_key: str | None
    ) -> CampaignResponse:
        """Creates a draft once per key and returns it; raises the errors of :meth:`create_draft`."""

        async def create_and_render() -> CampaignResponse:
            campaign_id = await self.create_draft(caller, body)
            async with self._db.transaction() as session:
                campaign = await service.get_campaign(session, caller.organization_id, campaign_id)
                return await self._presenter.present(session, campaign)

        return await answer_idempotent(
            self._db,
            CampaignResponse,
            organization_id=caller.organization_id,
            scope="campaign-create",
            key=idempotency_key,
            body=body,
            action=create_and_render,
        )

    async def create_draft(self, caller: Caller, body: CreateCampaignRequest) -> int:
        """Creates a draft with the contacts of a file, all of them or none, and returns its id.

        Raises for an unknown workflow, configuration or file (404), an archived or unpublished workflow (409), and
        ContactsInvalid (422), TooManyRequests (429), and those of ``start_columns``.
        """
        organization_id = caller.organization_id
        start = start_columns(caller, body.starts_at, self._clock.now())
        async with self._db.transaction() as session:
            version = await get_runnable_version(session, organization_id, body.workflow_id)
            await self._outbound.load_capacity(session, organization_id, body.telephony_configuration_id)
        required = needed_variables(version.definition, version.template_context_variables)
        lines = self._files.scratch_path()
        try:
            async with self._files.open_file(organization_id, body.contacts_file_key) as source:
                checked = await self._reader.check_file(organization_id, source, lines, required)
            async with self._db.transaction() as session:
                # Checked again and locked until the campaign exists: reading the file took time.
                await get_runnable_version(session, organization_id, body.workflow_id)
                return await self._insert_campaign(session, caller, body, checked, start)
        finally:
            lines.unlink(missing_ok=True)

    async def _insert_campaign(
        self,
        session: AsyncSession,
        caller: Caller,
        body: CreateCampaignRequest,
        checked: CheckedContacts,
        start: Mapping[str, object],
    ) -> int:
        campaign = Campaign(
            organization_id=caller.organization_id,
            name=body.name,
            workflow_id=body.workflow_id,
            max_concurrency=body.max_concurrency,
            telephony_configuration_id=body.telephony_configuration_id,
            contacts_file_key=body.contacts_file_key,
            columns=list(checked.columns),
            created_by=caller.user_id,
            **start,
            **select_rules(body.model_dump(mode="json", exclude_none=True)),
        )
        session.add(campaign)
        await session.flush()
        await insert_checked_file(session, caller.organization_id, campaign.id, checked, self._clock.now())
        data = {"name": campaign.name, "contacts": checked.contacts} | describe_start(body)
        await write_audit_entry(session, caller, "campaign.created", f"campaign:{campaign.id}", data)
        return campaign.id


def select_rules(given: Mapping[str, JsonValue]) -> JsonObject:
    """Returns the columns of the rules that a body contains."""
    return {name: given[name] for name in (*RULE_COLUMNS, "spend_cap_cents") if name in given}


def describe_start(body: CreateCampaignRequest | UpdateCampaignRequest) -> dict[str, object]:
    """Returns the audit log's data about a start time."""
    return {} if body.starts_at is None else {"starts_at": body.starts_at.isoformat()}


async def get_runnable_version(session: AsyncSession, organization_id: int, workflow_id: int) -> VersionToRun:
    """Returns the production version. Raises workflow_not_found (404), WorkflowNotRunnable, workflow_not_published
    (409).
    """
    try:
        return await workflows.get_version_to_run(session, organization_id, workflow_id)
    except WorkflowArchived:
        raise WorkflowNotRunnable from None
