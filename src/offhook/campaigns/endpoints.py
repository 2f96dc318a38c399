"""Campaigns over HTTP: create, look, change, start, pause, resume, call again."""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Response

from offhook.campaigns import repository, service
from offhook.campaigns.intake.creation import CampaignCreation, select_rules
from offhook.campaigns.reports.presenter import CampaignPresenter
from offhook.campaigns.schemas import (
    CampaignResponse,
    CreateCampaignRequest,
    RedialCampaignRequest,
    UpdateCampaignRequest,
)
from offhook.campaigns.service import CARRIER_ACCOUNT, CampaignService
from offhook.campaigns.tables import Campaign
from offhook.kit.database.database import Database, Session
from offhook.kit.http.pagination import SliceParams, set_total
from offhook.kit.http.path_ids import Id
from offhook.orgs import CurrentOrg, IdempotencyHeader, RequireMember, run_idempotent, write_audit_entry
from offhook.root import database_of, use_service

router = APIRouter(prefix="/campaign", tags=["campaigns"])

CampaignServiceDep = Annotated[CampaignService, Depends(use_service(CampaignService))]
PresenterDep = Annotated[CampaignPresenter, Depends(use_service(CampaignPresenter))]
_ERROR: Final = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorResponse"}}}}
_CONFLICT: Final[dict[int | str, dict[str, Any]]] = {409: {"description": "Its status does not allow it", **_ERROR}}


async def _render_campaign(session: Session, views: CampaignPresenter, campaign: Campaign) -> dict[str, Any]:
    """Plain JSON, as an idempotent request keeps it."""
    shown = await views.present(session, campaign)
    return CampaignResponse.model_validate(shown).model_dump(mode="json")


@router.get("/", response_model=list[CampaignResponse], operation_id="list_campaigns")
async def list_campaigns(
    org: CurrentOrg, session: Session, views: PresenterDep, part: SliceParams, response: Response
) -> list[dict[str, Any]]:
    """Newest first; without `limit`, all of them. `X-Total-Count` is the length of the whole list."""
    rows, total = await repository.list_campaigns(session, org.organization_id, limit=part.limit, offset=part.offset)
    set_total(response, total)
    return await views.present_many(session, org.organization_id, rows)


@router.post("/create", response_model=CampaignResponse, operation_id="create_campaign", responses=_CONFLICT)
async def create_campaign(
    body: CreateCampaignRequest,
    org: RequireMember,
    creating: Annotated[CampaignCreation, Depends(use_service(CampaignCreation))],
    views: PresenterDep,
    db: Annotated[Database, Depends(database_of)],
    key: IdempotencyHeader = None,
) -> dict[str, Any]:
    """A draft with the contacts of an uploaded CSV, all of them or none; what is wrong with a file is listed with its
    rows. `Idempotency-Key` is honored."""

    async def create_draft() -> dict[str, Any]:
        campaign_id = await creating.create_draft(org, body)
        async with db.transaction() as session:
            return await _render_campaign(
                session, views, await service.get_campaign(session, org.organization_id, campaign_id)
            )

    return await run_idempotent(
        db,
        organization_id=org.organization_id,
        scope="campaign-create",
        key=key,
        body=body.model_dump(mode="json"),
        action=create_draft,
    )


@router.get("/{campaign_id}", response_model=CampaignResponse, operation_id="get_campaign")
async def get_campaign(campaign_id: Id, org: CurrentOrg, session: Session, views: PresenterDep) -> dict[str, Any]:
    """One campaign with its progress; the concurrency that was asked for and the one that it gets."""
    return await views.present(session, await service.get_campaign(session, org.organization_id, campaign_id))


@router.patch("/{campaign_id}", response_model=CampaignResponse, operation_id="update_campaign", responses=_CONFLICT)
async def update_campaign(
    campaign_id: Id,
    body: UpdateCampaignRequest,
    org: RequireMember,
    session: Session,
    views: PresenterDep,
    campaigns: CampaignServiceDep,
) -> dict[str, Any]:
    """Changes what is in the body; the next call goes by it. `null` takes a rule away."""
    campaign = await service.get_campaign(session, org.organization_id, campaign_id)
    values = _changed_columns(body, campaign)
    if values:
        campaign = await campaigns.update(org.organization_id, campaign_id, values)
        await write_audit_entry(
            session, org, "campaign.updated", _audit_target(campaign_id), {"changed": sorted(values)}
        )
    elif campaign.status in {"completed", "failed"}:
        campaign = await campaigns.update(org.organization_id, campaign_id, {"name": campaign.name})
    return await views.present(session, campaign)


def _changed_columns(body: UpdateCampaignRequest, campaign: Campaign) -> dict[str, Any]:
    """The columns to change; parts of ``retry_config`` that are not named stay."""
    given = body.model_dump(mode="json", exclude_unset=True)
    if body.calling_hours is not None:
        given["calling_hours"] = body.calling_hours.model_dump(mode="json")
    values: dict[str, Any] = select_rules(given)
    values |= {name: given[name] for name in ("name", "max_concurrency") if given.get(name) is not None}
    if CARRIER_ACCOUNT in given:
        values[CARRIER_ACCOUNT] = given[CARRIER_ACCOUNT]
    if "retry_config" in given:
        values["retry_config"] = {**campaign.retry_config, **given["retry_config"]} if given["retry_config"] else {}
    return values


def _audit_target(campaign_id: int) -> str:
    return f"campaign:{campaign_id}"


@router.post(
    "/{campaign_id}/start", response_model=CampaignResponse, operation_id="start_campaign", responses=_CONFLICT
)
async def start_campaign(
    campaign_id: Id,
    org: RequireMember,
    session: Session,
    views: PresenterDep,
    campaigns: CampaignServiceDep,
    db: Annotated[Database, Depends(database_of)],
    key: IdempotencyHeader = None,
) -> dict[str, Any]:
    """Starts to dial. Of two starts at once, one is refused; `Idempotency-Key` is honored."""

    async def start_dialing() -> dict[str, Any]:
        campaign = await campaigns.start(org.organization_id, campaign_id)
        await write_audit_entry(session, org, "campaign.started", _audit_target(campaign_id))
        return await _render_campaign(session, views, campaign)

    return await run_idempotent(
        db,
        organization_id=org.organization_id,
        scope=f"campaign-start:{campaign_id}",
        key=key,
        body={},
        action=start_dialing,
    )


@router.post(
    "/{campaign_id}/pause", response_model=CampaignResponse, operation_id="pause_campaign", responses=_CONFLICT
)
async def pause_campaign(
    campaign_id: Id, org: RequireMember, session: Session, views: PresenterDep, campaigns: CampaignServiceDep
) -> dict[str, Any]:
    """After the answer no new call begins; calls in flight go on to their end."""
    campaign = await campaigns.pause(org.organization_id, campaign_id)
    await write_audit_entry(session, org, "campaign.paused", _audit_target(campaign_id))
    return await views.present(session, campaign)


@router.post(
    "/{campaign_id}/resume", response_model=CampaignResponse, operation_id="resume_campaign", responses=_CONFLICT
)
async def resume_campaign(
    campaign_id: Id, org: RequireMember, session: Session, views: PresenterDep, campaigns: CampaignServiceDep
) -> dict[str, Any]:
    """Goes on with a paused campaign; its circuit breaker starts afresh."""
    campaign = await campaigns.resume(org.organization_id, campaign_id)
    await write_audit_entry(session, org, "campaign.resumed", _audit_target(campaign_id))
    return await views.present(session, campaign)


@router.post(
    "/{campaign_id}/redial", response_model=CampaignResponse, operation_id="redial_campaign", responses=_CONFLICT
)
async def redial_campaign(
    campaign_id: Id, body: RedialCampaignRequest, org: RequireMember, session: Session, views: PresenterDep,
    campaigns: CampaignServiceDep,
) -> dict[str, Any]:  # fmt: skip
    """A new draft for the contacts that ended in one of `redial_statuses` and were not reached."""
    old = await service.get_campaign(session, org.organization_id, campaign_id)
    new = await campaigns.redial(
        org.organization_id,
        campaign_id,
        name=body.name or _redial_name(old),
        outcomes=body.redial_statuses,
        created_by=org.user_id,
    )
    await write_audit_entry(
        session, org, "campaign.redialled", _audit_target(new.id), {"parent_campaign_id": campaign_id}
    )
    return await views.present(session, new)


def _redial_name(old: Campaign) -> str:
    return f"{old.name[:190]} (Redial)"
