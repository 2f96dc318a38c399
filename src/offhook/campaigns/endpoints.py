"""Campaigns over HTTP: create, look, change, start, pause, resume, call again."""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Response

from offhook.campaigns import repository, service
from offhook.campaigns.intake.creation import Creating, rules_of
from offhook.campaigns.reports.presenter import Views
from offhook.campaigns.schemas import (
    CampaignResponse,
    CreateCampaignRequest,
    RedialCampaignRequest,
    UpdateCampaignRequest,
)
from offhook.campaigns.service import CARRIER_ACCOUNT, Campaigns
from offhook.campaigns.tables import Campaign
from offhook.kit.database.database import Database, Session
from offhook.kit.http.pagination import SliceParams, set_total
from offhook.kit.http.path_ids import Id
from offhook.orgs import CurrentOrg, IdempotencyHeader, RequireMember, audit, once
from offhook.root import database_of, use

router = APIRouter(prefix="/campaign", tags=["campaigns"])

CampaignsOf = Annotated[Campaigns, Depends(use(Campaigns))]
ViewsOf = Annotated[Views, Depends(use(Views))]
_ERROR: Final = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorResponse"}}}}
_CONFLICT: Final[dict[int | str, dict[str, Any]]] = {409: {"description": "Its status does not allow it", **_ERROR}}


async def _answer(session: Session, views: Views, campaign: Campaign) -> dict[str, Any]:
    """Plain JSON, as an idempotent request keeps it."""
    shown = await views.one(session, campaign)
    return CampaignResponse.model_validate(shown).model_dump(mode="json")


@router.get("/", response_model=list[CampaignResponse], operation_id="list_campaigns")
async def list_campaigns(
    org: CurrentOrg, session: Session, views: ViewsOf, part: SliceParams, response: Response
) -> list[dict[str, Any]]:
    """Newest first; without `limit`, all of them. `X-Total-Count` is the length of the whole list."""
    rows, total = await repository.listing(session, org.organization_id, limit=part.limit, offset=part.offset)
    set_total(response, total)
    return await views.several(session, org.organization_id, rows)


@router.post("/create", response_model=CampaignResponse, operation_id="create_campaign", responses=_CONFLICT)
async def create_campaign(
    body: CreateCampaignRequest,
    org: RequireMember,
    creating: Annotated[Creating, Depends(use(Creating))],
    views: ViewsOf,
    db: Annotated[Database, Depends(database_of)],
    key: IdempotencyHeader = None,
) -> dict[str, Any]:
    """A draft with the contacts of an uploaded CSV, all of them or none; what is wrong with a file is listed with its
    rows. `Idempotency-Key` is honored."""

    async def create() -> dict[str, Any]:
        campaign_id = await creating.create(org, body)
        async with db.transaction() as session:
            return await _answer(session, views, await service.get(session, org.organization_id, campaign_id))

    return await once(
        db,
        organization_id=org.organization_id,
        scope="campaign-create",
        key=key,
        body=body.model_dump(mode="json"),
        action=create,
    )


@router.get("/{campaign_id}", response_model=CampaignResponse, operation_id="get_campaign")
async def get_campaign(campaign_id: Id, org: CurrentOrg, session: Session, views: ViewsOf) -> dict[str, Any]:
    """One campaign with its progress; the concurrency that was asked for and the one that it gets."""
    return await views.one(session, await service.get(session, org.organization_id, campaign_id))


@router.patch("/{campaign_id}", response_model=CampaignResponse, operation_id="update_campaign", responses=_CONFLICT)
async def update_campaign(
    campaign_id: Id,
    body: UpdateCampaignRequest,
    org: RequireMember,
    session: Session,
    views: ViewsOf,
    campaigns: CampaignsOf,
) -> dict[str, Any]:
    """Changes what is in the body; the next call goes by it. `null` takes a rule away."""
    campaign = await service.get(session, org.organization_id, campaign_id)
    values = _changes(body, campaign)
    if values:
        campaign = await campaigns.update(org.organization_id, campaign_id, values)
        await audit(session, org, "campaign.updated", _target(campaign_id), {"changed": sorted(values)})
    elif campaign.status in {"completed", "failed"}:
        campaign = await campaigns.update(org.organization_id, campaign_id, {"name": campaign.name})
    return await views.one(session, campaign)


def _changes(body: UpdateCampaignRequest, campaign: Campaign) -> dict[str, Any]:
    """The columns to change; parts of ``retry_config`` that are not named stay."""
    given = body.model_dump(mode="json", exclude_unset=True)
    if body.calling_hours is not None:
        given["calling_hours"] = body.calling_hours.model_dump(mode="json")
    values: dict[str, Any] = rules_of(given)
    values |= {name: given[name] for name in ("name", "max_concurrency") if given.get(name) is not None}
    if CARRIER_ACCOUNT in given:
        values[CARRIER_ACCOUNT] = given[CARRIER_ACCOUNT]
    if "retry_config" in given:
        values["retry_config"] = {**campaign.retry_config, **given["retry_config"]} if given["retry_config"] else {}
    return values


def _target(campaign_id: int) -> str:
    return f"campaign:{campaign_id}"


@router.post(
    "/{campaign_id}/start", response_model=CampaignResponse, operation_id="start_campaign", responses=_CONFLICT
)
async def start_campaign(
    campaign_id: Id,
    org: RequireMember,
    session: Session,
    views: ViewsOf,
    campaigns: CampaignsOf,
    db: Annotated[Database, Depends(database_of)],
    key: IdempotencyHeader = None,
) -> dict[str, Any]:
    """Starts to dial. Of two starts at once, one is refused; `Idempotency-Key` is honored."""

    async def start() -> dict[str, Any]:
        campaign = await campaigns.start(org.organization_id, campaign_id)
        await audit(session, org, "campaign.started", _target(campaign_id))
        return await _answer(session, views, campaign)

    return await once(
        db,
        organization_id=org.organization_id,
        scope=f"campaign-start:{campaign_id}",
        key=key,
        body={},
        action=start,
    )


@router.post(
    "/{campaign_id}/pause", response_model=CampaignResponse, operation_id="pause_campaign", responses=_CONFLICT
)
async def pause_campaign(
    campaign_id: Id, org: RequireMember, session: Session, views: ViewsOf, campaigns: CampaignsOf
) -> dict[str, Any]:
    """After the answer no new call begins; calls in flight go on to their end."""
    campaign = await campaigns.pause(org.organization_id, campaign_id)
    await audit(session, org, "campaign.paused", _target(campaign_id))
    return await views.one(session, campaign)


@router.post(
    "/{campaign_id}/resume", response_model=CampaignResponse, operation_id="resume_campaign", responses=_CONFLICT
)
async def resume_campaign(
    campaign_id: Id, org: RequireMember, session: Session, views: ViewsOf, campaigns: CampaignsOf
) -> dict[str, Any]:
    """Goes on with a paused campaign; its circuit breaker starts afresh."""
    campaign = await campaigns.resume(org.organization_id, campaign_id)
    await audit(session, org, "campaign.resumed", _target(campaign_id))
    return await views.one(session, campaign)


@router.post(
    "/{campaign_id}/redial", response_model=CampaignResponse, operation_id="redial_campaign", responses=_CONFLICT
)
async def redial_campaign(
    campaign_id: Id, body: RedialCampaignRequest, org: RequireMember, session: Session, views: ViewsOf,
    campaigns: CampaignsOf,
) -> dict[str, Any]:  # fmt: skip
    """A new draft for the contacts that ended in one of `redial_statuses` and were not reached."""
    old = await service.get(session, org.organization_id, campaign_id)
    new = await campaigns.redial(
        org.organization_id,
        campaign_id,
        name=body.name or _redial_name(old),
        outcomes=body.redial_statuses,
        created_by=org.user_id,
    )
    await audit(session, org, "campaign.redialled", _target(new.id), {"parent_campaign_id": campaign_id})
    return await views.one(session, new)


def _redial_name(old: Campaign) -> str:
    return f"{old.name[:190]} (Redial)"
