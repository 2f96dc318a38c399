"""The bodies and answers of webhooks, deliveries and events."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, StringConstraints

from offhook.kit.schema import Schema
from offhook.webhooks.service import EventType

Url = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)]
Description = Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)]
Events = Annotated[list[EventType], Field(max_length=50)]
DeliveryStatus = Literal["pending", "delivered", "dead"]


class WebhookCreate(Schema):
    """Without ``events``, or with an empty list, all events are sent, including those added in later versions."""

    url: Url
    events: Events = Field(default_factory=list)
    description: Description | None = None


class WebhookUpdate(Schema):
    """What is left out stays as it is."""

    url: Url = ""
    events: Events = Field(default_factory=list)
    description: Description | None = None
    is_enabled: bool = True


class WebhookResponse(Schema):
    """``status``: ``enabled``, ``disabled`` by a person, or ``failing``: disabled after three days in which every
    attempt failed. ``failing_since`` is null after a success."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    url: str
    events: list[str]
    description: str | None
    status: Literal["enabled", "disabled", "failing"]
    last_sequence: int
    failing_since: datetime | None
    last_success_at: datetime | None
    old_secret_until: datetime | None
    created_by: int | None
    created_at: datetime
    updated_at: datetime


class WebhookCreated(WebhookResponse):
    """``secret`` verifies the signatures; it is returned only once."""

    secret: str


class WebhookList(Schema):
    webhooks: list[WebhookResponse]
    event_types: list[str]


class WebhookDeleted(Schema):
    success: bool = True
    id: int


class WebhookTested(Schema):
    """The endpoint's response to an event of type ``webhook.test``."""

    delivered: bool
    status_code: int | None
    error: str | None
    answer: str | None
    duration_ms: int


class DeliveryResponse(Schema):
    """``sequence`` counts the events of this webhook from 1; ``next_attempt_at`` is null when there is none."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    event_id: int
    event_type: str
    sequence: int
    status: DeliveryStatus
    attempts: int
    next_attempt_at: datetime | None
    last_status_code: int | None
    last_error: str | None
    created_at: datetime
    delivered_at: datetime | None


class DeliveryList(Schema):
    deliveries: list[DeliveryResponse]
    total_count: int
    page: int
    limit: int
    total_pages: int


class AttemptResponse(Schema):
    """``answer`` is the beginning of the endpoint's response."""

    model_config = ConfigDict(from_attributes=True)

    attempt: int
    status_code: int | None
    error: str | None
    answer: str | None
    duration_ms: int
    created_at: datetime


class DeliveryDetail(DeliveryResponse):
    attempt_log: list[AttemptResponse]
    data: Mapping[str, object]


class ResentResponse(Schema):
    resent: int


class EventResponse(Schema):
    """An event as in a delivery; ``message_id`` is its ``webhook-id``."""

    id: int
    message_id: str
    type: str
    timestamp: datetime
    data: Mapping[str, object]


class EventList(Schema):
    """Send ``next_after`` as ``after`` in the next request, even later when ``has_more`` is false."""

    events: list[EventResponse]
    next_after: int
    has_more: bool
