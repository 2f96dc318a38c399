"""The results of a campaign in the words of its business: booked, declined, and so on, by the agent's definition."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.campaigns.reports import result_queries
from offhook.campaigns.reports.progress import load_progress
from offhook.campaigns.schemas import CampaignResultsResponse, ContactItem, ResultCount
from offhook.campaigns.tables import Campaign, Contact
from offhook.errors import DomainError
from offhook.runs.lists.result_queries import load_results
from offhook.workflows import service as workflows
from offhook.workflows.results.definitions import CallAnalysis, parse_call_analysis

_CONTACT_COLUMNS: Final = (
    "id", "row_number", "phone_number", "variables", "state", "outcome", "reason", "dials", "due_at", "hold", "done_at",
)  # fmt: skip
_CALL_FIELDS: Final = ("run_id", "result", "is_success")


async def load_campaign_results(session: AsyncSession, campaign: Campaign) -> CampaignResultsResponse:
    """Returns contacts by result: those of the published version first, in its order, also without contacts; then results
    of earlier versions, the most frequent first."""
    counts = await result_queries.count_results(session, campaign.organization_id, campaign.id)
    progress = await load_progress(session, campaign.organization_id, campaign.id)
    defined = (await _load_definition(session, campaign)).results
    known = {one.name for one in defined}
    others = sorted((name for name in counts if name not in known), key=lambda name: (-counts[name], name))
    return CampaignResultsResponse(
        campaign_id=campaign.id,
        is_defined=bool(defined),
        results=[
            *(
                ResultCount(name=one.name, contacts=counts.get(one.name, 0), is_success=one.is_success)
                for one in defined
            ),
            *(ResultCount(name=name, contacts=counts[name], is_success=None) for name in others),
        ],
        answered_without_result=max(0, progress.answered - sum(counts.values())),
    )


async def present_contacts(
    session: AsyncSession, organization_id: int, contacts: Sequence[Contact]
) -> list[ContactItem]:
    """Returns contacts with the latest call of each and its result."""
    run_ids = await result_queries.latest_runs(session, organization_id, [contact.id for contact in contacts])
    calls = await load_results(session, organization_id, list(run_ids.values()))
    items = []
    for contact in contacts:
        call = calls.get(run_ids.get(contact.id, 0))
        latest = (None, None, None) if call is None else (call.id, call.result, call.is_success)
        facts = {name: getattr(contact, name) for name in _CONTACT_COLUMNS}
        items.append(ContactItem.model_validate(facts | dict(zip(_CALL_FIELDS, latest, strict=True))))
    return items


async def _load_definition(session: AsyncSession, campaign: Campaign) -> CallAnalysis:
    try:
        version = await workflows.get_version_to_run(session, campaign.organization_id, campaign.workflow_id)
    except DomainError:  # archived, or not published any more: its campaigns keep their counts
        return CallAnalysis()
    return parse_call_analysis(version.configurations)
