"""Webhooks, their deliveries and the events to catch up with over HTTP."""

from typing import Annotated

from fastapi import Query

from offhook.errors import UnprocessableRequest
from offhook.kit.database.database import Session
from offhook.kit.egress import EgressClient, EgressError
from offhook.kit.http.pagination import PageParams
from offhook.kit.http.path_ids import Id, LongId
from offhook.kit.http.routing import Router
from offhook.orgs import CurrentOrg, Now, RequireAdmin
from offhook.orgs.data_keys.sealed_rows import open_row
from offhook.webhooks import repository, service
from offhook.webhooks.errors import WebhookUrlRefused
from offhook.webhooks.repository import DueDelivery
from offhook.webhooks.schemas import (
    AttemptResponse,
    DeliveryDetail,
    DeliveryList,
    DeliveryResponse,
    DeliveryStatus,
    EventList,
    EventResponse,
    ResentResponse,
    WebhookCreate,
    WebhookCreated,
    WebhookDeleted,
    WebhookList,
    WebhookResponse,
    WebhookTested,
    WebhookUpdate,
)
from offhook.webhooks.service import EVENT_TYPES, NewEndpoint
from offhook.webhooks.services import Services

router = Router(prefix="/organizations/webhooks", tags=["webhooks"])
events_router = Router(prefix="/events", tags=["webhooks"])


class EventTypeUnknown(UnprocessableRequest):
    """Unknown event type."""

    code = "event_type_unknown"


def _check_url(egress: EgressClient, url: str) -> None:
    """Raises WebhookUrlRefused for URLs that can never be called; names are resolved and checked before each attempt."""
    try:
        target = egress.parse_url(url)
    except EgressError as error:
        raise WebhookUrlRefused(error.message) from None
    if target.url.userinfo:
        raise WebhookUrlRefused(
            "The URL must not contain a password, because everyone who can view the webhook would see it."
        )


def _created_response(new: NewEndpoint) -> WebhookCreated:
    return WebhookCreated(**WebhookResponse.model_validate(new.record).model_dump(), secret=new.secret)


@router.get("", response_model=WebhookList, operation_id="list_webhooks")
async def list_webhooks(org: RequireAdmin, session: Session) -> WebhookList:
    found = await repository.list_endpoints(session, org.organization_id)
    webhooks = [WebhookResponse.model_validate(endpoint) for endpoint in found]
    return WebhookList(webhooks=webhooks, event_types=list(EVENT_TYPES))


@router.post("", response_model=WebhookCreated, operation_id="create_webhook")
async def create_webhook(
    body: WebhookCreate, org: RequireAdmin, session: Session, services: Services
) -> WebhookCreated:
    """Sends events to the URL from now on, signed with the secret in the response."""
    _check_url(services.egress, body.url)
    values = {"url": body.url, "events": sorted(set(body.events)), "description": body.description}
    return _created_response(await service.create_endpoint(session, services.keyring, org, values))


@router.get("/{webhook_id}", response_model=WebhookResponse, operation_id="get_webhook")
async def get_webhook(webhook_id: Id, org: RequireAdmin, session: Session) -> WebhookResponse:
    return WebhookResponse.model_validate(await service.get_endpoint(session, org.organization_id, webhook_id))


@router.patch("/{webhook_id}", response_model=WebhookResponse, operation_id="update_webhook")
async def update_webhook(
    webhook_id: Id, body: WebhookUpdate, org: RequireAdmin, session: Session, services: Services
) -> WebhookResponse:
    """Updates a webhook. Enabling it again clears its failures; `GET /events` has the events that it missed."""
    values = body.model_dump(exclude_unset=True)
    if "url" in values:
        _check_url(services.egress, values["url"])
    if "events" in values:
        values["events"] = sorted(set(values["events"]))
    return WebhookResponse.model_validate(await service.update_endpoint(session, org, webhook_id, values))


@router.delete("/{webhook_id}", response_model=WebhookDeleted, operation_id="delete_webhook")
async def delete_webhook(webhook_id: Id, org: RequireAdmin, session: Session) -> WebhookDeleted:
    """Deletes the webhook with its deliveries, pending ones included."""
    await service.delete_endpoint(session, org, webhook_id)
    return WebhookDeleted(id=webhook_id)


@router.post("/{webhook_id}/rotate-secret", response_model=WebhookCreated, operation_id="rotate_webhook_secret")
async def rotate_webhook_secret(
    webhook_id: Id, org: RequireAdmin, session: Session, services: Services, now: Now
) -> WebhookCreated:
    """Creates a new secret; deliveries are signed with both secrets until `old_secret_until`."""
    return _created_response(await service.rotate_secret(session, services.keyring, org, webhook_id, now))


@router.post("/{webhook_id}/test", response_model=WebhookTested, operation_id="test_webhook")
async def test_webhook(webhook_id: Id, org: RequireAdmin, services: Services) -> WebhookTested:
    """Sends a `webhook.test` event now and returns the endpoint's response; the event is neither stored nor retried."""
    outcome = await services.deliverer.send_test(org.organization_id, webhook_id)
    return WebhookTested(
        delivered=outcome.is_success,
        status_code=outcome.status_code,
        error=outcome.error,
        answer=outcome.answer,
        duration_ms=outcome.duration_ms,
    )


@router.get("/{webhook_id}/deliveries", response_model=DeliveryList, operation_id="list_webhook_deliveries")
async def list_webhook_deliveries(
    webhook_id: Id,
    org: RequireAdmin,
    session: Session,
    page: PageParams,
    status: Annotated[DeliveryStatus | None, Query(description="`dead` for the dead letters")] = None,
) -> DeliveryList:
    """Lists the deliveries of the last 30 days, newest first."""
    await service.get_endpoint(session, org.organization_id, webhook_id)
    rows, total = await repository.list_deliveries(session, org.organization_id, webhook_id, status=status, page=page)
    return DeliveryList(
        deliveries=[DeliveryResponse.model_validate(row) for row in rows],
        total_count=total,
        page=page.page,
        limit=page.limit,
        total_pages=page.total_pages(total),
    )


@router.get(
    "/{webhook_id}/deliveries/{delivery_id}", response_model=DeliveryDetail, operation_id="get_webhook_delivery"
)
async def get_webhook_delivery(
    webhook_id: Id, delivery_id: LongId, org: RequireAdmin, session: Session
) -> DeliveryDetail:
    """Returns a delivery with every attempt and its response."""
    found = await service.get_delivery(session, org.organization_id, webhook_id, delivery_id)
    log = await repository.list_attempts(session, org.organization_id, delivery_id)
    attempts = [
        AttemptResponse.model_validate(attempt).model_copy(update=await open_row(session, attempt, is_lenient=True))
        for attempt in log
    ]
    data = (await open_row(session, found.event))["data"]
    return DeliveryDetail(**_delivery_response(found).model_dump(), attempt_log=attempts, data=data)


@router.post(
    "/{webhook_id}/deliveries/{delivery_id}/resend",
    response_model=DeliveryResponse,
    operation_id="resend_webhook_delivery",
)
async def resend_webhook_delivery(
    webhook_id: Id, delivery_id: LongId, org: RequireAdmin, session: Session
) -> DeliveryResponse:
    """Sends the event again now, whatever its status, with the same `webhook-id` and sequence number."""
    return _delivery_response(await service.resend_delivery(session, org, webhook_id, delivery_id))


@router.post("/{webhook_id}/resend-dead", response_model=ResentResponse, operation_id="resend_dead_webhook_deliveries")
async def resend_dead_webhook_deliveries(webhook_id: Id, org: RequireAdmin, session: Session) -> ResentResponse:
    """Retries failed deliveries, oldest first, up to 1000."""
    return ResentResponse(resent=await service.resend_dead_deliveries(session, org, webhook_id))


@events_router.get("", response_model=EventList, operation_id="list_events")
async def list_events(
    org: CurrentOrg,
    session: Session,
    after: Annotated[int, Query(ge=0, le=2**63 - 1, description="`next_after` of the previous response")] = 0,
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
    types: Annotated[str | None, Query(max_length=1000, description="Event types, separated by commas")] = None,
) -> EventList:
    """Lists the events after a given event, oldest first, with or without a webhook. Events are kept for 30 days."""
    kinds = [kind.strip() for kind in (types or "").split(",") if kind.strip()]
    unknown = sorted(set(kinds) - set(EVENT_TYPES))
    if unknown:
        raise EventTypeUnknown(f"{unknown[0]!r} is not an event type. Use one of {', '.join(EVENT_TYPES)}.")
    found = await repository.events_after(session, org.organization_id, after=after, kinds=kinds, limit=limit + 1)
    shown = found[:limit]
    return EventList(
        events=[
            EventResponse(
                id=event.id,
                message_id=f"evt_{event.id}",
                type=event.type,
                timestamp=event.created_at,
                data=(await open_row(session, event, is_lenient=True))["data"],
            )
            for event in shown
        ],
        next_after=shown[-1].id if shown else after,
        has_more=len(found) > limit,
    )


def _delivery_response(due: DueDelivery) -> DeliveryResponse:
    values = {name: getattr(due.delivery, name) for name in DeliveryResponse.model_fields if name != "event_type"}
    return DeliveryResponse(**values, event_type=due.event.type)
