"""Campaigns over HTTP: create, list, change, start, pause, resume, redial and delete them."""

from typing import Annotated

from fastapi import Query, Response

from offhook.campaigns import repository, service
from offhook.campaigns.deletion import CampaignDeletion
from offhook.campaigns.intake.creation import describe_start, select_rules
from offhook.campaigns.schemas import (
    CampaignDeletionResponse,
    CampaignResponse,
    CampaignTestCallRequest,
    CampaignTestCallResponse,
    CreateCampaignRequest,
    RedialCampaignRequest,
    UpdateCampaignRequest,
)
from offhook.campaigns.service import CARRIER_ACCOUNT
from offhook.campaigns.services import Services
from offhook.campaigns.start_time import STARTS_AT, start_columns
from offhook.campaigns.tables import Campaign
from offhook.kit.database.database import Session
from offhook.kit.http.openapi import error_responses
from offhook.kit.http.pagination import SliceParams, set_total
from offhook.kit.http.path_ids import Id
from offhook.kit.http.routing import Router
from offhook.kit.json_values import JsonObject, as_json_object
from offhook.orgs import CurrentOrg, IdempotencyHeader, Now, RequireAdmin, RequireMember, write_audit_entry

router = Router(prefix="/campaign", tags=["campaigns"])


@router.get("/", response_model=list[CampaignResponse], operation_id="list_campaigns")
async def list_campaigns(
    org: CurrentOrg, session: Session, services: Services, part: SliceParams, response: Response
) -> list[CampaignResponse]:
    """Lists campaigns, newest first; without `limit`, all of them. `X-Total-Count` is the length of the full list."""
    rows, total = await repository.list_campaigns(session, org.organization_id, limit=part.limit, offset=part.offset)
    set_total(response, total)
    return await services.presenter.present_many(session, org.organization_id, rows)


@router.post("/create", response_model=CampaignResponse, operation_id="create_campaign")
async def create_campaign(
    body: CreateCampaignRequest, org: RequireMember, services: Services, key: IdempotencyHeader = None
) -> CampaignResponse:
    """Creates a draft with the contacts of an uploaded CSV, all of them or none. An invalid file is answered with its
    errors by row. `Idempotency-Key` is honored. With `starts_at`, the campaign starts automatically."""
    return await services.creation.create(org, body, key)


@router.get("/{campaign_id}", response_model=CampaignResponse, operation_id="get_campaign")
async def get_campaign(campaign_id: Id, org: CurrentOrg, session: Session, services: Services) -> CampaignResponse:
    """Returns a campaign with its progress, the concurrency that was requested and the one that applies."""
    campaign = await service.get_campaign(session, org.organization_id, campaign_id)
    return await services.presenter.present(session, campaign)


@router.patch("/{campaign_id}", response_model=CampaignResponse, operation_id="update_campaign")
async def update_campaign(
    campaign_id: Id, body: UpdateCampaignRequest, org: RequireMember, session: Session, services: Services, now: Now
) -> CampaignResponse:
    """Changes the fields in the body, starting with the next call. `null` removes a rule.

    Only drafts accept `starts_at`: 409 `campaign_not_schedulable` once the campaign has started, 422 `start_in_past` or
    `start_too_far_ahead` unless the time is within the next 60 days."""
    campaign = await service.get_campaign(session, org.organization_id, campaign_id)
    changed = _changed_columns(body, campaign)
    start = start_columns(org, body.starts_at, now) if STARTS_AT in body.model_fields_set else {}
    if changed or start:
        campaign = await services.campaigns.update(org.organization_id, campaign_id, {**changed, **start})
        data = {"changed": sorted([*changed, STARTS_AT] if start else changed)} | describe_start(body)
        await write_audit_entry(session, org, "campaign.updated", f"campaign:{campaign_id}", data)
    elif campaign.status in {"completed", "failed"}:
        campaign = await services.campaigns.update(org.organization_id, campaign_id, {"name": campaign.name})
    return await services.presenter.present(session, campaign)


def _changed_columns(body: UpdateCampaignRequest, campaign: Campaign) -> JsonObject:
    """Returns the columns to change; parts of ``retry_config`` that the body does not name are kept."""
    given: JsonObject = body.model_dump(mode="json", exclude_unset=True)
    if body.calling_hours is not None:
        given["calling_hours"] = body.calling_hours.model_dump(mode="json")
    values = select_rules(given)
    values |= {name: given[name] for name in ("name", "max_concurrency") if given.get(name) is not None}
    if CARRIER_ACCOUNT in given:
        values[CARRIER_ACCOUNT] = given[CARRIER_ACCOUNT]
    if "retry_config" in given:
        retry_config = as_json_object(given["retry_config"])
        values["retry_config"] = {**campaign.retry_config, **retry_config} if retry_config else {}
    return values


@router.delete("/{campaign_id}", response_model=CampaignDeletionResponse, operation_id="delete_campaign")
async def delete_campaign(
    campaign_id: Id, org: RequireAdmin, services: Services, delete_runs: Annotated[bool, Query()] = False
) -> CampaignDeletion:
    """Deletes a campaign with its contacts, dials and contact file, for admins. With `delete_runs`, its calls are
    deleted too, with recordings, transcripts and events; otherwise they stay in the list of runs. Usage, charges, the
    do-not-call list and the
    audit log stay.

    409 `campaign_running` for a running campaign (pause it first), `campaign_has_live_calls` while calls are in progress."""
    return await services.eraser.delete_campaign(org, campaign_id, deletes_runs=delete_runs)


@router.delete(
    "/{campaign_id}/contacts", response_model=CampaignDeletionResponse, operation_id="delete_campaign_contacts"
)
async def delete_campaign_contacts(campaign_id: Id, org: RequireAdmin, services: Services) -> CampaignDeletion:
    """Deletes the contact list of a completed or failed campaign, for admins: contacts, dials and file. The campaign
    and its calls stay, without progress and report. Other campaigns get 409 `campaign_not_over`."""
    return await services.eraser.delete_contacts(org, campaign_id)


@router.post("/{campaign_id}/start", response_model=CampaignResponse, operation_id="start_campaign")
async def start_campaign(
    campaign_id: Id, org: RequireMember, services: Services, key: IdempotencyHeader = None
) -> CampaignResponse:
    """Starts dialing. Of two simultaneous requests, one is refused. `Idempotency-Key` is honored."""
    return await services.campaigns.start_once(org, campaign_id, key)


@router.post(
    "/{campaign_id}/test-call",
    response_model=CampaignTestCallResponse,
    operation_id="place_campaign_test_call",
    responses=error_responses(402, 502),
)
async def place_campaign_test_call(
    campaign_id: Id,
    body: CampaignTestCallRequest,
    org: RequireMember,
    services: Services,
    key: IdempotencyHeader = None,
) -> CampaignTestCallResponse:
    """Calls your own number the way a contact would be called: with the published agent, the campaign's carrier
    account and a contact's variables. The call does not count toward the campaign. `Idempotency-Key` is honored."""
    return await services.test_calls.place_test_call(org, campaign_id, body, key)


@router.post("/{campaign_id}/pause", response_model=CampaignResponse, operation_id="pause_campaign")
async def pause_campaign(campaign_id: Id, org: RequireMember, session: Session, services: Services) -> CampaignResponse:
    """Pauses a campaign. No new calls start after the response; calls in progress continue."""
    campaign = await services.campaigns.pause(org.organization_id, campaign_id)
    await write_audit_entry(session, org, "campaign.paused", f"campaign:{campaign_id}")
    return await services.presenter.present(session, campaign)


@router.post("/{campaign_id}/resume", response_model=CampaignResponse, operation_id="resume_campaign")
async def resume_campaign(
    campaign_id: Id, org: RequireMember, session: Session, services: Services
) -> CampaignResponse:
    """Resumes a paused campaign and resets its circuit breaker."""
    campaign = await services.campaigns.resume(org.organization_id, campaign_id)
    await write_audit_entry(session, org, "campaign.resumed", f"campaign:{campaign_id}")
    return await services.presenter.present(session, campaign)


@router.post("/{campaign_id}/redial", response_model=CampaignResponse, operation_id="redial_campaign")
async def redial_campaign(
    campaign_id: Id, body: RedialCampaignRequest, org: RequireMember, session: Session, services: Services
) -> CampaignResponse:
    """Creates a draft for the contacts that ended in one of `redial_statuses` and were not reached."""
    old = await service.get_campaign(session, org.organization_id, campaign_id)
    new = await services.campaigns.redial(
        org.organization_id,
        campaign_id,
        name=body.name or f"{old.name[:190]} (Redial)",
        outcomes=body.redial_statuses,
        created_by=org.user_id,
    )
    await write_audit_entry(
        session, org, "campaign.redialed", f"campaign:{new.id}", {"parent_campaign_id": campaign_id}
    )
    return await services.presenter.present(session, new)
